#pragma once

#include <carom/types/status.hpp>

#include "programs/kernels/doubled_lemke.hpp"
#include "programs/kernels/median_scaling.hpp"
#include "programs/lp/kernels/simplex_scaling.hpp"

/// Convex quadratic and linear programs by Lemke's method on their optimality conditions, in twice
/// the precision: every end is an optimum, a Farkas vector, or a feasible point with a ray.
///
/// A free variable is a difference u - v, an equation two inequalities: fewer pairs would do, but
/// they would mix the units of parts that have nothing to do with each other. The conditions are
/// then an LCP whose matrix is positive semidefinite, for which a ray proves that nothing solves it
/// (Cottle, Pang, Stone 2009, theorem 4.4.13), and the ray's parts are the proofs: its x-part a
/// direction with P d = 0 and q'd < 0, its multipliers a Farkas vector, or both.
namespace carom::kernels {

/// Most complementary pairs that are tried: doubled numbers make every pivot dear.
inline constexpr long kLargestConvexLemke = 192;

/// Complementary pairs where all variables are free.
CAROM_INLINE constexpr long convex_lemke_order(long variables, long sides) {
  return 2 * variables + sides;
}
template <class Memory>
struct ConvexLemkeLayout {
  Memory column_scale;
  Memory base;
  Memory kind;
  Memory direction;
  Memory direction_low;
  Memory free;      ///< place of v, or -1
  Memory variable;  ///< after the places of v
  Memory row_scale;
  Memory side_row;
  Memory side_sign;
  Memory side_scale;
  Memory shift_high;  ///< what is added to an unknown's constant: less than its noise
  Memory shift_low;
  Memory lemke;

  ConvexLemkeLayout() = default;
  CAROM_INLINE constexpr ConvexLemkeLayout(Arena<Memory>& arena, long n, long rows, long sides)
      : column_scale(arena.take(n)),
        base(arena.take(n)),
        kind(arena.take(n)),
        direction(arena.take(n)),
        direction_low(arena.take(n)),
        free(arena.take(n)),
        variable(arena.take(n)),
        row_scale(arena.take(rows)),
        side_row(arena.take(sides)),
        side_sign(arena.take(sides)),
        side_scale(arena.take(sides)),
        shift_high(arena.take(pairs(n, sides))),
        shift_low(arena.take(pairs(n, sides))),
        lemke(arena.take(doubled_lemke_workspace(pairs(n, sides)))) {}

 private:
  static CAROM_INLINE constexpr long pairs(long n, long sides) {
    const long order = convex_lemke_order(n, sides);
    return order < kLargestConvexLemke ? order : kLargestConvexLemke;
  }
};
CAROM_INLINE constexpr long convex_lemke_workspace(long n, long rows, long sides) {
  return values_of<ConvexLemkeLayout>(n, rows, sides);
}

/// Entries of the covering vector: each in the unit of its own constant, so that a huge number
/// elsewhere does not blur it, or all alike, so that none is lost next to the others.
enum class LemkeCover : std::uint8_t { own, even };

/// Source: variables(), rows(), hessian(i, j), gradient(j), matrix(i, j), lower(i), upper(i),
/// column_lower(j), column_upper(j).
template <class Lanes, class Memory, class Source>
class ConvexLemke {
 public:
  /// sides: of rows and columns that may be there, at most. memory: convex_lemke_workspace.
  CAROM_HOST_DEVICE ConvexLemke(const Lanes& lanes, const Source& source, long sides,
                                const Memory& memory)
      : lanes_(lanes),
        source_(source),
        n_(source.variables()),
        m_(source.rows()),
        at_(placed<ConvexLemkeLayout>(memory, n_, m_, sides)),
        lemke_(lanes, at_.lemke) {}

  /// The verdict: solved, infeasible or unbounded; numerical_error where there is none, or more
  /// than kLargestConvexLemke pairs. A contradiction or a fall of no more than `noise` of its terms
  /// is none: the data that take part in it are shifted by as much, and the next problem is solved.
  CAROM_CALL Status solve(double noise = 0.0, LemkeCover cover = LemkeCover::own) {
    cover_ = cover;
    list_unknowns();
    if (order() > kLargestConvexLemke) return Status::numerical_error;
    scale();
    lanes_.for_each(order(), [&](int i) {
      at_.shift_high[i] = 0.0;
      at_.shift_low[i] = 0.0;
    });
    for (int round = 0; round <= kShifts; ++round) {
      LemkeEnd end = run(1.0);
      if (end == LemkeEnd::solution) return Status::solved;
      if (end != LemkeEnd::ray) return Status::numerical_error;
      const Earned by_sides = earned(first_side(), order(), 1.0);
      if (by_sides.exceeds(noise)) return Status::infeasible;
      const Earned by_slope = earned(0, first_side(), 1.0);
      if (!by_slope.exceeds(noise)) {
        // A ray that earns nothing is where rounding kept the artificial variable from leaving.
        if (!by_sides.exceeds(0.0) && !by_slope.exceeds(0.0)) return Status::solved;
        shift(first_side(), order(), 1.0, by_sides);
        shift(0, first_side(), 1.0, by_slope);
        continue;
      }
      // The x-part is a direction without end; it remains to be seen whether there is a point.
      lanes_.for_each(n_, [&](int j) {
        const Doubled d = x_part(j, [&](int i) { return lemke_.direction(i); });
        at_.direction[j] = d.hi;
        at_.direction_low[j] = d.lo;
      });
      end = run(0.0);
      if (end == LemkeEnd::solution) return Status::unbounded;
      if (end != LemkeEnd::ray) return Status::numerical_error;
      const Earned excluded = earned(first_side(), order(), 0.0);
      if (excluded.exceeds(noise)) return Status::infeasible;
      if (!excluded.exceeds(0.0)) return Status::unbounded;
      shift(first_side(), order(), 0.0, excluded);
    }
    return Status::numerical_error;
  }

  [[nodiscard]] CAROM_INLINE int pivots() const { return pivots_; }

  /// x of a solved or unbounded problem.
  [[nodiscard]] CAROM_CALL double point(int j) const {
    const Doubled x = x_part(j, [&](int i) { return lemke_.solution(i); });
    return cancelled_sum(Doubled(at_.base[j]), x).hi;
  }
  /// Of an unbounded problem.
  [[nodiscard]] CAROM_INLINE double ray(int j) const { return at_.direction[j]; }
  [[nodiscard]] CAROM_INLINE Doubled fine_ray(int j) const {
    return {at_.direction[j], at_.direction_low[j]};
  }
  /// Multiplier of row i, positive where it presses at its lower bound: of a solved problem, or
  /// Farkas' vector.
  [[nodiscard]] CAROM_INLINE double multiplier(int i, Status status) const {
    return fine_multiplier(i, status).hi;
  }
  [[nodiscard]] CAROM_CALL Doubled fine_multiplier(int i, Status status) const {
    Doubled sum(0.0);
    for (int k = 0; k < sides_; ++k) {
      if (static_cast<int>(at_.side_row[k]) != i) continue;
      sum += side_multiplier(k, status) * (at_.side_sign[k] * at_.side_scale[k]);
    }
    return times_power(sum, inverse_power_of_two(cost_));
  }

 private:
  // What holds a variable: nothing, its lower bound or its upper one.
  static constexpr double kFree = 0.0;
  static constexpr double kFromLower = 1.0;
  static constexpr double kFromUpper = -1.0;
  static constexpr int kSweeps = 6;
  static constexpr int kShifts = 8;

  /// The unknowns are u, v of the free variables, and the sides' multipliers.
  [[nodiscard]] CAROM_INLINE int first_side() const { return n_ + frees_; }
  [[nodiscard]] CAROM_INLINE int order() const { return first_side() + sides_; }

  template <class Part>
  CAROM_INLINE Doubled x_part(int j, Part&& part) const {
    const Doubled u = part(j);
    const int v = static_cast<int>(at_.free[j]);
    const Doubled x = v >= 0 ? cancelled_sum(u, -part(v)) : u * at_.kind[j];
    return x * at_.column_scale[j];
  }
  CAROM_INLINE Doubled side_multiplier(int k, Status status) const {
    const int i = first_side() + k;
    return status == Status::infeasible ? lemke_.direction(i) : lemke_.solution(i);
  }

  /// Side k: side_scale (sign a x - sign bound) >= 0; rows above m are columns' bounds.
  CAROM_INLINE double side_entry(int k, int j) const {
    const int i = static_cast<int>(at_.side_row[k]);
    const double a = i < m_ ? source_.matrix(i, j) : (i - m_ == j ? 1.0 : 0.0);
    return at_.side_sign[k] * at_.side_scale[k] * at_.column_scale[j] * a;
  }
  CAROM_INLINE double side_bound(int k) const {
    const int i = static_cast<int>(at_.side_row[k]);
    const bool lower = at_.side_sign[k] > 0.0;
    const double bound =
        i < m_ ? (lower ? source_.lower(i) : source_.upper(i))
               : (lower ? source_.column_lower(i - m_) : source_.column_upper(i - m_));
    return at_.side_sign[k] * at_.side_scale[k] * bound;
  }
  CAROM_INLINE double hessian(int i, int j) const {
    return source_.hessian(i, j) * (at_.column_scale[i] * at_.column_scale[j]) * cost_;
  }

  /// Powers of two that bring most entries of P, q and A to one: exponents of columns in
  /// column_scale, of rows in row_scale, of the objective in cost_, then their powers.
  CAROM_CALL void scale() {
    lanes_.for_each(n_, [&](int j) { at_.column_scale[j] = 0.0; });
    lanes_.for_each(m_, [&](int i) { at_.row_scale[i] = 0.0; });
    cost_ = 0.0;
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      lanes_.for_each(m_, [&](int i) {
        at_.row_scale[i] = -median_exponent([&](auto&& visit) {
          for (int j = 0; j < n_; ++j) {
            const double a = source_.matrix(i, j);
            if (a != 0.0) visit(exponent_of(a) + at_.column_scale[j]);
          }
        });
      });
      cost_ = -median_exponent([&](auto&& visit) {
        for (int j = 0; j < n_; ++j) {
          const double q = source_.gradient(j);
          if (q != 0.0) visit(exponent_of(q) + at_.column_scale[j]);
          for (int k = 0; k <= j; ++k) {
            const double p = source_.hessian(j, k);
            if (p != 0.0) visit(exponent_of(p) + at_.column_scale[j] + at_.column_scale[k]);
          }
        }
      });
      for (int j = 0; j < n_; ++j) {
        const double e = -median_exponent([&](auto&& visit) {
          for (int i = 0; i < m_; ++i) {
            const double a = source_.matrix(i, j);
            if (a != 0.0) visit(exponent_of(a) + at_.row_scale[i]);
          }
          const double q = source_.gradient(j);
          if (q != 0.0) visit(exponent_of(q) + cost_);
          for (int k = 0; k < n_; ++k) {
            const double p = source_.hessian(j, k);
            if (p == 0.0) continue;
            visit(k == j ? 0.5 * (exponent_of(p) + cost_)
                         : exponent_of(p) + cost_ + at_.column_scale[k]);
          }
        });
        lanes_.for_each(1, [&](int) { at_.column_scale[j] = e; });
      }
    }
    lanes_.for_each(n_, [&](int j) {
      at_.column_scale[j] = power_of_two(static_cast<int>(at_.column_scale[j]));
    });
    lanes_.for_each(
        m_, [&](int i) { at_.row_scale[i] = power_of_two(static_cast<int>(at_.row_scale[i])); });
    cost_ = power_of_two(static_cast<int>(cost_));
    lanes_.for_each(sides_, [&](int k) {
      const int row = static_cast<int>(at_.side_row[k]);
      at_.side_scale[k] =
          row < m_ ? at_.row_scale[row] : inverse_power_of_two(at_.column_scale[row - m_]);
    });
  }

  CAROM_CALL void list_unknowns() {
    lanes_.for_each(n_, [&](int j) {
      const double l = source_.column_lower(j);
      const double u = source_.column_upper(j);
      at_.kind[j] = l > -kInfinity ? kFromLower : (u < kInfinity ? kFromUpper : kFree);
      at_.base[j] = l > -kInfinity ? l : (u < kInfinity ? u : 0.0);
    });
    int count = 0;
    const auto add = [&](int row, double sign) {
      const int k = count;
      lanes_.for_each(1, [&](int) {
        at_.side_row[k] = row;
        at_.side_sign[k] = sign;
      });
      ++count;
    };
    for (int i = 0; i < m_; ++i) {
      if (source_.lower(i) > -kInfinity) add(i, 1.0);
      if (source_.upper(i) < kInfinity) add(i, -1.0);
    }
    for (int j = 0; j < n_; ++j) {
      // The other bound holds by u >= 0.
      if (at_.kind[j] == kFromLower && source_.column_upper(j) < kInfinity) add(m_ + j, -1.0);
    }
    sides_ = count;
    frees_ = 0;
    for (int j = 0; j < n_; ++j) {
      const double place = at_.kind[j] == kFree ? n_ + frees_ : -1.0;
      frees_ += at_.kind[j] == kFree ? 1 : 0;
      lanes_.for_each(1, [&](int) {
        at_.free[j] = place;
        if (place >= 0.0) at_.variable[static_cast<int>(place) - n_] = j;
      });
    }
  }

  /// The variable behind unknown i < first_side() and its sign in it.
  CAROM_INLINE int variable_of(int i) const {
    return i < n_ ? i : static_cast<int>(at_.variable[i - n_]);
  }
  CAROM_INLINE double sign_of(int i) const {
    return i >= n_ ? -1.0 : (at_.kind[i] == kFree ? 1.0 : at_.kind[i]);
  }

  CAROM_CALL Doubled entry(int i, int j, double objective) const {
    const int first = first_side();
    if (i < first && j < first) {
      if (objective == 0.0) return Doubled(0.0);
      return Doubled(sign_of(i) * sign_of(j) * hessian(variable_of(i), variable_of(j)));
    }
    if (i >= first && j >= first) return Doubled(0.0);
    return Doubled(i < first ? -sign_of(i) * side_entry(j - first, variable_of(i))
                             : sign_of(j) * side_entry(i - first, variable_of(j)));
  }

  CAROM_CALL Doubled vector(int i, double objective) const {
    if (i < first_side() && objective == 0.0) return Doubled(0.0);
    const Doubled given =
        i >= first_side() ? side_offset(i - first_side()) : slope(variable_of(i)) * sign_of(i);
    return at_.shift_high[i] == 0.0 ? given : given + Doubled(at_.shift_high[i], at_.shift_low[i]);
  }

  /// A ray's constants times its direction, and the magnitudes of these terms.
  struct Earned {
    Doubled sum;
    double terms = 0.0;
    [[nodiscard]] CAROM_INLINE bool exceeds(double noise) const {
      return sum < Doubled(0.0) && -sum.hi > noise * terms;
    }
  };
  CAROM_CALL Earned earned(int first, int last, double objective) const {
    Earned result;
    for (int i = first; i < last; ++i) {
      const Doubled term = vector(i, objective) * lemke_.direction(i);
      result.sum = cancelled_sum(result.sum, term);
      result.terms += magnitude(term.hi);
    }
    return result;
  }
  /// Raises the constants so that the ray earns nothing, each by the same share of its term.
  CAROM_CALL void shift(int first, int last, double objective, const Earned& found) {
    if (!(found.sum < Doubled(0.0))) return;
    const Doubled share = -found.sum / found.terms;
    for (int i = first; i < last; ++i) {
      if (!(lemke_.direction(i) > Doubled(0.0))) continue;
      const Doubled by =
          share * magnitude(vector(i, objective).hi) + Doubled(at_.shift_high[i], at_.shift_low[i]);
      lanes_.for_each(1, [&](int) {
        at_.shift_high[i] = by.hi;
        at_.shift_low[i] = by.lo;
      });
    }
  }
  /// (q + P base)_j, scaled.
  CAROM_HOST_DEVICE Doubled slope(int j) const {
    Doubled sum(source_.gradient(j) * at_.column_scale[j] * cost_);
    for (int k = 0; k < n_; ++k) {
      const double p = source_.hessian(j, k) * at_.column_scale[j] * cost_;
      if (p != 0.0 && at_.base[k] != 0.0) sum = cancelled_sum(sum, product_of(p, at_.base[k]));
    }
    return sum;
  }
  /// (G base - g)_k.
  CAROM_HOST_DEVICE Doubled side_offset(int k) const {
    Doubled sum(-side_bound(k));
    const int i = static_cast<int>(at_.side_row[k]);
    for (int j = 0; j < n_; ++j) {
      const double a = i < m_ ? source_.matrix(i, j) : (i - m_ == j ? 1.0 : 0.0);
      const double factor = at_.side_sign[k] * at_.side_scale[k] * a;
      if (factor != 0.0 && at_.base[j] != 0.0)
        sum = cancelled_sum(sum, product_of(factor, at_.base[j]));
    }
    return sum;
  }

  CAROM_CALL LemkeEnd run(double objective) {
    const int size = order();
    const LemkeEnd end = lemke_.run(
        size, [&](int i, int j) { return entry(i, j, objective); },
        [&](int i) { return vector(i, objective); },
        [&](int i) {
          if (cover_ == LemkeCover::even) return 1.0;
          const double own = magnitude(vector(i, objective).hi);
          return own > 0.0 ? power_of_two_below(own) : 1.0;
        },
        50 * (size + 1));
    pivots_ += lemke_.pivots();
    return end;
  }

  const Lanes& lanes_;
  const Source& source_;
  int n_, m_;
  int sides_ = 0;
  int frees_ = 0;
  int pivots_ = 0;
  LemkeCover cover_ = LemkeCover::own;
  double cost_ = 1.0;
  ConvexLemkeLayout<Memory> at_;
  DoubledLemke<Lanes, Memory> lemke_;
};

}  // namespace carom::kernels
