#pragma once

#include <carom/certificate_boxed_lcp.hpp>
#include <carom/device/arena.hpp>
#include <carom/device/numeric.hpp>
#include <carom/types/boxed_lcp.hpp>

#include "programs/kernels/doubled.hpp"
#include "programs/lcp/kernels/box_lemke.hpp"
#include "programs/lcp/kernels/box_rule.hpp"
#include "programs/lcp/kernels/free_block.hpp"
#include "programs/lcp/kernels/lcp_finish.hpp"

/// One boxed LCP on any lanes: the plain path of carom::boxed::follow_paths with its bits, from the
/// problem as given to a certified answer. What that leaves is for the host.
namespace carom::kernels {

/// n: order as given, m: of the box without friction rows.
template <class Memory>
struct BoxSolverLayout {
  Memory matrix;  ///< [m, m] of the box where there is friction
  Memory scaled;  ///< [m, m] of the unknowns, as all below
  Memory vector, lower, upper, base;
  Memory sign, width, free, row_scale, column_scale;
  Memory constant, constant_low, x, x_low, rest;
  Memory point;
  Memory z;            ///< [n]
  Memory frozen_low;   ///< [n]
  Memory frozen_high;  ///< [n]
  Memory index;        ///< of unknowns
  Memory columns;      ///< of a free block
  Memory lemke;
  Memory judge;

  BoxSolverLayout() = default;
  CAROM_INLINE constexpr BoxSolverLayout(Arena<Memory>& arena, int n, int m)
      : matrix(arena.take(m > n ? static_cast<long>(m) * m : 0)),
        scaled(arena.take(static_cast<long>(m) * m)),
        vector(arena.take(m)),
        lower(arena.take(m)),
        upper(arena.take(m)),
        base(arena.take(m)),
        sign(arena.take(m)),
        width(arena.take(m)),
        free(arena.take(m)),
        row_scale(arena.take(m)),
        column_scale(arena.take(m)),
        constant(arena.take(m)),
        constant_low(arena.take(m)),
        x(arena.take(m)),
        x_low(arena.take(m)),
        rest(arena.take(m)),
        point(arena.take(m)),
        z(arena.take(n)),
        frozen_low(arena.take(n)),
        frozen_high(arena.take(n)),
        index(arena.take(m)),
        columns(arena.take(m)),
        lemke(arena.take(box_lemke_workspace(m, false))),
        judge(arena.take(certificate::boxed_lcp_judge_workspace(n))) {}
};
CAROM_HOST_DEVICE constexpr long box_solver_workspace(int n, int m) {
  return values_of<BoxSolverLayout>(n, m);
}

/// Where one problem's answer goes; limit and limit_error may be null.
struct BoxPlaces {
  double* solution;
  double* slack;
  double* limit;
};

struct BoxAnswer {
  bool found;  ///< certified with all digits
  int pivots;
  double residual;
  double limit_error;
};

template <class Lanes>
class BoxSolver {
 public:
  /// memory: box_solver_workspace(n, m) for the largest m of a batch.
  CAROM_HOST_DEVICE BoxSolver(const Lanes& lanes, int n, int most, double* memory)
      : lanes_(lanes), n_(n), at_(placed<BoxSolverLayout>(memory, n, most)) {}

  /// What the plain paths find of a problem; `to` is written only where that is an answer.
  CAROM_CALL BoxAnswer run(const certificate::BoxedLcpData& given, FrictionLaw law,
                           double tolerance, int max_pivots, const BoxPlaces& to) {
    BoxAnswer answer{false, 0, 0.0, 0.0};
    if (!usable(given)) return answer;
    const bool friction = given.findex != nullptr;
    if (!friction || law != FrictionLaw::ode) {
      answer = solve(given, tolerance, max_pivots);
      if (answer.found) put(given, law, to, answer);
      return answer;
    }
    certificate::BoxedLcpData frozen = given;
    frozen.findex = nullptr;
    frozen.lower = at_.frozen_low;
    frozen.upper = at_.frozen_high;
    freeze(given, [](int) { return 0.0; });
    answer = solve(frozen, tolerance, max_pivots);
    if (!answer.found) return answer;
    freeze(given, [&](int i) { return given.friction[i] * magnitude(at_.z[given.index(i)]); });
    const int pivots = answer.pivots;
    answer = solve(frozen, tolerance, max_pivots);
    answer.pivots += pivots;
    if (answer.found) put(given, law, to, answer);
    return answer;
  }

 private:
  template <class Limit>
  CAROM_INLINE void freeze(const certificate::BoxedLcpData& given, Limit&& limit) const {
    lanes_.for_each(n_, [&](int i) {
      const bool rubs = given.index(i) >= 0;
      const double most = rubs ? limit(i) : 0.0;
      at_.frozen_low[i] = rubs ? -most : given.lower[i];
      at_.frozen_high[i] = rubs ? most : given.upper[i];
    });
  }

  CAROM_CALL void put(const certificate::BoxedLcpData& given, FrictionLaw law, const BoxPlaces& to,
                      BoxAnswer& answer) const {
    const double* w = judge_slack_;
    lanes_.for_each(n_, [&](int i) {
      to.solution[i] = at_.z[i];
      to.slack[i] = w[i];
    });
    if (given.findex == nullptr) return;
    double most = 0.0, error = 0.0;
    for (int i = 0; i < n_; ++i) {
      if (given.index(i) < 0) continue;
      const double own = given.friction[i] * magnitude(at_.z[given.index(i)]);
      const double limit = law == FrictionLaw::ode ? at_.frozen_high[i] : own;
      most = larger(larger(own, limit), most);
      error = larger(magnitude(own - limit), error);
    }
    lanes_.for_each(n_, [&](int i) {
      if (given.index(i) < 0) return;
      to.limit[i] = law == FrictionLaw::ode ? at_.frozen_high[i]
                                            : given.friction[i] * magnitude(at_.z[given.index(i)]);
    });
    answer.limit_error = most > 0.0 ? error / most : 0.0;
  }

  CAROM_CALL bool usable(const certificate::BoxedLcpData& given) const {
    const int n = n_;
    const auto none = [&](int count, auto&& bad) {
      return lanes_.argmin(count, kInfinity, [&](int i) { return bad(i) ? 0.0 : kInfinity; })
                 .index < 0;
    };
    return none(n * n, [&](int e) { return !is_finite(given.matrix[e]); }) && none(n, [&](int i) {
             const double low = given.lower[i], high = given.upper[i];
             return !is_finite(given.vector[i]) || !(low < kInfinity) || !(high > -kInfinity) ||
                    (given.index(i) < 0 && low > high);
           });
  }

  CAROM_CALL BoxAnswer solve(const certificate::BoxedLcpData& given, double tolerance,
                             int max_pivots) {
    BoxAnswer answer{false, 0, 0.0, 0.0};
    expand(given);
    start();
    if (!free_block_is_regular()) return answer;
    scale();
    take_constants();
    const auto width = [&](int a) { return at_.width[a]; };
    const auto free = [&](int a) { return at_.free[a] != 0.0; };
    BoxLemke<Lanes, double> lemke(lanes_, m_, at_.lemke);
    const BoxEnd end =
        lemke.run([&](int a, int b) { return entry(a, b); }, [&](int a) { return at_.constant[a]; },
                  width, free, [&](int a) { return free(a) ? 0.0 : at_.row_scale[a]; },
                  max_pivots > 0 ? max_pivots : 50 * (order_ + 1));
    answer.pivots = lemke.pivots();
    if (end != BoxEnd::solution) return answer;
    lanes_.for_each(m_, [&](int a) { put_clamped(a, Doubled(lemke.solution(a, width))); });
    refine(lemke);
    take_point(given);
    certificate::BoxedLcpJudgeOf<Lanes> judge(given, at_.judge, lanes_);
    answer.residual = judge.residual(at_.z);
    judge_slack_ = judge.slack();
    answer.found = answer.residual <= smaller(tolerance, kLcpDigits);
    return answer;
  }

  /// carom::boxed::Expansion.
  CAROM_CALL void expand(const certificate::BoxedLcpData& given) {
    const int n = n_;
    frictions_ = 0;
    for (int i = 0; i < n; ++i) {
      if (given.index(i) < 0) continue;
      const int k = frictions_++;
      lanes_.for_each(1, [&](int) { at_.columns[k] = i; });  // the rows of friction
    }
    const int f = frictions_, m = n + 2 * f;
    order_ = m;
    matrix_ = f > 0 ? at_.matrix : given.matrix;
    lanes_.for_each(m, [&](int i) {
      const bool own = i < n && given.index(i) < 0;
      at_.lower[i] = own ? given.lower[i] : 0.0;
      at_.upper[i] = own ? given.upper[i] : kInfinity;
      at_.vector[i] = i < n ? given.vector[i] : (i < n + f ? -given.vector[row_of(i - n)] : 0.0);
    });
    if (f == 0) return;
    // Rows and columns of b- are those of b+, of the other sign.
    lanes_.for_each_2d(m, m, [&](int i, int j) {
      const int row = i < n ? i : (i < n + f ? row_of(i - n) : -1);
      const int column = j < n ? j : (j < n + f ? row_of(j - n) : -1);
      double value = 0.0;
      if (row >= 0 && column >= 0) {
        value = given.matrix[static_cast<long>(row) * n + column];
        if (j >= n) value = -value;
        if (i >= n) value = -value;
      } else if (row >= 0) {
        value = row_of(j - n - f) == row && (i >= n || given.index(i) >= 0) ? 1.0 : 0.0;
      } else if (column >= 0) {
        const int own = row_of(i - n - f);
        if (column == own) value = -1.0;
        if (j < n && j == given.index(own)) value = given.friction[own];
      }
      at_.matrix[static_cast<long>(i) * m + j] = value;
    });
  }
  CAROM_INLINE int row_of(int k) const { return static_cast<int>(at_.columns[k]); }

  /// Where the unknowns start: at the bound nearest to zero.
  CAROM_CALL void start() {
    m_ = 0;
    for (int i = 0; i < order_; ++i) {
      const double low = at_.lower[i], high = at_.upper[i];
      const bool has_low = low > -kInfinity, has_high = high < kInfinity;
      const bool free = !has_low && !has_high;
      const bool from_low = has_low && (!has_high || magnitude(low) <= magnitude(high));
      const bool fixed = !free && low == high;
      const int a = m_;
      lanes_.for_each(1, [&](int) {
        at_.base[i] = free ? 0.0 : (from_low ? low : high);
        if (fixed) return;
        at_.index[a] = i;
        at_.sign[a] = free || from_low ? 1.0 : -1.0;
        at_.width[a] = has_low && has_high ? high - low : kInfinity;
        at_.free[a] = free ? 1.0 : 0.0;
      });
      if (!fixed) ++m_;
    }
  }
  CAROM_INLINE int index(int a) const { return static_cast<int>(at_.index[a]); }
  CAROM_INLINE double given_entry(int a, int b) const {
    return matrix_[static_cast<long>(index(a)) * order_ + index(b)];
  }

  CAROM_CALL bool free_block_is_regular() const {
    int count = 0;
    for (int a = 0; a < m_; ++a) {
      if (at_.free[a] == 0.0) continue;
      const int k = count++;
      lanes_.for_each(1, [&](int) { at_.rest[k] = a; });
    }
    if (count == 0) return true;
    const auto unknown = [&](int k) { return static_cast<int>(at_.rest[k]); };
    lanes_.for_each_2d(count, count, [&](int a, int b) {
      at_.scaled[static_cast<long>(a) * count + b] = given_entry(unknown(a), unknown(b));
    });
    scale_rows_of_block(lanes_, count, at_.scaled);
    return rank_of_block(lanes_, count, at_.scaled, at_.x) == count;
  }

  CAROM_CALL void scale() const {
    const int m = m_;
    lanes_.for_each_2d(m, m, [&](int a, int b) {
      at_.scaled[static_cast<long>(a) * m + b] = at_.sign[a] * at_.sign[b] * given_entry(a, b);
    });
    scale_lcp(lanes_, m, at_.scaled, at_.row_scale, at_.column_scale);
    lanes_.for_each_2d(m, m, [&](int a, int b) {
      at_.scaled[static_cast<long>(a) * m + b] *= at_.row_scale[a] * at_.column_scale[b];
    });
    lanes_.for_each(m, [&](int a) { at_.width[a] /= at_.column_scale[a]; });
  }
  CAROM_INLINE double entry(int a, int b) const {
    return at_.scaled[static_cast<long>(a) * m_ + b];
  }

  /// What v is where the unknowns start.
  CAROM_CALL void take_constants() const {
    lanes_.for_each(m_, [&](int a) {
      const int i = index(a);
      Doubled sum(at_.vector[i]);
      for (int j = 0; j < order_; ++j) {
        if (at_.base[j] == 0.0) continue;
        sum = sum + product_of(matrix_[static_cast<long>(i) * order_ + j], at_.base[j]);
      }
      const Doubled own = times_power(sum, at_.sign[a] * at_.row_scale[a]);
      at_.constant[a] = own.hi;
      at_.constant_low[a] = own.lo;
    });
  }

  CAROM_INLINE Doubled x(int a) const { return {at_.x[a], at_.x_low[a]}; }
  CAROM_INLINE void put_clamped(int a, Doubled own) const {
    if (at_.free[a] == 0.0) {
      if (!(own > Doubled(0.0))) {
        own = Doubled(0.0);
      } else if (!(own < Doubled(at_.width[a]))) {
        own = Doubled(at_.width[a]);
      }
    }
    at_.x[a] = own.hi;
    at_.x_low[a] = own.lo;
  }

  /// Removes from x what rounding left in the v that ought to vanish.
  CAROM_CALL void refine(const BoxLemke<Lanes, double>& lemke) const {
    const int m = m_;
    double size = 0.0;
    for (int a = 0; a < m; ++a) size = larger(magnitude(at_.constant[a]), size);
    for (int round = 0; round < kBoxRefinements; ++round) {
      lanes_.for_each(m, [&](int k) {
        Doubled sum(0.0);
        if (lemke.holds(k)) {
          sum = Doubled(at_.constant[k], at_.constant_low[k]);
          for (int b = 0; b < m; ++b) {
            if (at_.x[b] != 0.0) sum = sum + x(b) * entry(k, b);
          }
        }
        at_.rest[k] = sum.hi;
      });
      double most = 0.0;
      for (int k = 0; k < m; ++k) most = larger(magnitude(at_.rest[k]), most);
      if (most <= kBoxRefined * size) return;
      lanes_.for_each(m, [&](int a) {
        if (!lemke.has_x(a)) return;
        Doubled own = x(a);
        for (int k = 0; k < m; ++k) {
          if (at_.rest[k] == 0.0) continue;
          own = own - Doubled(lemke.response(a, k)) * at_.rest[k];
        }
        put_clamped(a, own);
      });
    }
  }

  /// z of the path's end.
  CAROM_CALL void take_point(const certificate::BoxedLcpData& given) const {
    lanes_.for_each(order_, [&](int i) { at_.point[i] = at_.base[i]; });
    lanes_.for_each(m_, [&](int a) {
      const int i = index(a);
      const double own = at_.x[a];
      const double step = own * at_.column_scale[a];
      double z = at_.base[i];
      if (at_.free[a] == 0.0 && at_.width[a] < kInfinity && own == at_.width[a]) {
        z = at_.sign[a] > 0.0 ? at_.upper[i] : at_.lower[i];
      } else if (step != 0.0) {
        z += at_.sign[a] * step;
      }
      at_.point[i] = z;
    });
    lanes_.for_each(order_, [&](int i) {
      at_.point[i] = smaller(at_.upper[i], larger(at_.lower[i], at_.point[i]));
    });
    const int n = n_, f = frictions_;
    lanes_.for_each(n, [&](int i) { at_.z[i] = at_.point[i]; });
    lanes_.for_each(f, [&](int k) {
      const int i = row_of(k);
      at_.z[i] = friction_of(at_.point[i], at_.point[n + k], at_.point[n + f + k],
                             given.friction[i] * at_.point[given.index(i)]);
    });
  }

  const Lanes& lanes_;
  int n_;
  BoxSolverLayout<double*> at_;
  int order_ = 0;      // of the box without friction rows
  int frictions_ = 0;  // rows
  int m_ = 0;          // unknowns: what is not fixed
  const double* matrix_ = nullptr;
  const double* judge_slack_ = nullptr;
};

}  // namespace carom::kernels
