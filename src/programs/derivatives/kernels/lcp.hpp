#pragma once

#include <carom/certificate_derivative.hpp>
#include <carom/device/arena.hpp>
#include <carom/types/derivative_lcp.hpp>

#include "programs/derivatives/kernels/dense.hpp"
#include "programs/derivatives/kernels/doubtful.hpp"
#include "programs/derivatives/kernels/long_sum.hpp"
#include "programs/derivatives/kernels/report.hpp"

/// Derivatives of the answer of w = M z + q, 0 <= z perp w >= 0: docs/explanation/derivatives.md.
namespace carom::derivatives {

using certificate::RowMode;

template <class Memory>
struct LcpModesLayout {
  Memory z;    ///< polished
  Memory low;  ///< what rounding leaves of it where the condition is large
  Memory w;
  Memory unit;   ///< of row i
  Memory share;  ///< 1 / unit, or zero
  Memory feel;   ///< of z_j: the largest share of a row's unit that z_j = 1 has
  Memory factors;
  Memory schur;  ///< S, [b, b]
  Memory size;   ///< magnitudes in S_ii, [b]
  Memory work;   ///< doubtful_workspace
  Memory g;      ///< right-hand side
  Memory y[2];   ///< adjoints: free, held
  Memory r;
  Memory dz;
  Memory dw;
  Memory column[3];

  LcpModesLayout() = default;
  CAROM_INLINE constexpr LcpModesLayout(kernels::Arena<Memory>& arena, long n)
      : z(arena.take(n)),
        low(arena.take(n)),
        w(arena.take(n)),
        unit(arena.take(n)),
        share(arena.take(n)),
        feel(arena.take(n)),
        factors(arena.take(kernels::values_of<FactorsLayout>(n))),
        schur(arena.take(n * n)),
        size(arena.take(n)),
        work(arena.take(doubtful_workspace(n))),
        g(arena.take(n)),
        y{arena.take(n), arena.take(n)},
        r(arena.take(n)),
        dz(arena.take(n)),
        dw(arena.take(n)),
        column{arena.take(n), arena.take(n), arena.take(n)} {}
};
CAROM_HOST_DEVICE constexpr long lcp_derivative_reals(int n) {
  return kernels::values_of<LcpModesLayout>(static_cast<long>(n));
}
CAROM_HOST_DEVICE constexpr long lcp_derivative_ints(int n) { return 5L * n; }

/// One problem with its answer; modes() comes first.
class LcpDerivative {
 public:
  CAROM_INLINE LcpDerivative(int n, const double* matrix, const double* vector,
                             const DerivativeRules& rules, double* reals, int* ints)
      : n_(n),
        matrix_(matrix),
        vector_(vector),
        rules_(rules),
        at_(kernels::placed<LcpModesLayout>(reals, static_cast<long>(n))),
        factors_(at_.factors, n),
        mode_(ints + n),
        held_(ints + 2L * n),
        doubtful_(ints + 3L * n),
        basic_(ints + 4L * n) {}

  /// Polishes `answer` in its own modes and finds those of every row. False where no equations can
  /// be had; the report says why.
  CAROM_HOST_DEVICE bool modes(const double* answer, Report& report) {
    for (int i = 0; i < n_; ++i) {
      at_.z[i] = answer[i];
      if (!(answer[i] >= 0.0) || !kernels::is_finite(answer[i])) return false;
    }
    measure();
    for (int i = 0; i < n_; ++i) {  // the answer of another problem, or of one changed since
      if (at_.w[i] < -kLargestShift * at_.unit[i] ||
          kernels::smaller(at_.feel[i] * at_.z[i], per_unit(i) * at_.w[i]) > kLargestShift) {
        return false;
      }
    }
    double tolerance = rules_.margin_tolerance;
    split(tolerance);
    report.shift = 0.0;
    bool regular = true;
    for (int round = 0; round < 4; ++round) {
      regular = factor();
      if (!regular) break;
      report.condition = factors_.condition();
      for (int k = 0; k < count_; ++k) at_.g[k] = -vector_[held_[k]];
      factors_.solve(at_.g);
      double moved = 0.0;
      for (int i = 0; i < n_; ++i) at_.r[i] = at_.z[i];
      for (int i = 0; i < n_; ++i) at_.z[i] = at_.low[i] = 0.0;
      for (int k = 0; k < count_; ++k) at_.z[held_[k]] = at_.g[k];
      correct(report, at_.z, at_.low, at_.feel, false, [&](int i, LongSum<double>& sum) {
        sum.add(-vector_[i]);
        for (int j = 0; j < n_; ++j) subtract_long(entry(i, j), at_.z[j], at_.low[j], sum);
      });
      for (int i = 0; i < n_; ++i) {
        moved = kernels::larger(moved, at_.feel[i] * magnitude(at_.z[i] - at_.r[i]));
      }
      report.shift = kernels::larger(report.shift, moved);
      slacks();
      tolerance = kernels::larger(rules_.margin_tolerance, 10.0 * moved);
      // Modes that do not settle have gaps about as large as what polishing moved.
      if (round > 0) tolerance = kernels::larger(tolerance, 10.0 * report.shift);
      if (!split(tolerance)) break;
    }
    report.margin = margin_;
    report.doubtful = doubtfuls_;
    if (!regular) {
      report.status = Smoothness::set_valued;
      return false;
    }
    report.status = Smoothness::undefined;
    if (!(report.shift <= kLargestShift)) return false;
    for (int i = 0; i < n_; ++i) {  // polished out of its own signs
      if (at_.feel[i] * at_.z[i] < -tolerance || at_.w[i] < -tolerance * at_.unit[i]) return false;
      at_.z[i] = at_.z[i] > 0.0 ? at_.z[i] : 0.0;
    }
    unique_ = true;
    if (doubtfuls_ > 0) {
      reduce();
      unique_ = shown_unique(doubtfuls_, at_.schur, at_.size, at_.work);
    }
    report.status = unique_ ? Smoothness::smooth : Smoothness::set_valued;
    return true;
  }

  [[nodiscard]] CAROM_INLINE const double* polished() const { return at_.z; }

  /// Adjoint y of dL/dz and dL/dw (null: zero), [n]; `wanted` says what `reach` is measured along.
  /// False where there is none, and y is NaN.
  CAROM_HOST_DEVICE bool adjoint(const double* solution, const double* slack,
                                 const LcpWanted& wanted, double* y, Report& report) {
    const int b = doubtfuls_;
    for (int j = 0; j < n_; ++j) {
      double sum = solution != nullptr ? solution[j] : 0.0;
      if (slack != nullptr) {
        for (int i = 0; i < n_; ++i) sum += entry(i, j) * slack[i];
      }
      at_.g[j] = sum;
    }
    double* open = at_.y[0];
    double* closed = at_.y[1];
    solve_adjoint(open);
    double* low = at_.dw;
    const double moved =
        correct(report, open, low, at_.unit, true, [&](int j, LongSum<double>& sum) {
          if (solution != nullptr) sum.add(solution[j]);
          for (int i = 0; i < n_ && slack != nullptr; ++i) sum.add_product(entry(i, j), slack[i]);
          for (int i = 0; i < n_; ++i) subtract_long(entry(i, j), open[i], low[i], sum);
        });
    bool seen = false;
    double* touch = at_.column[0];
    for (int k = 0; k < b; ++k) {
      const int j = doubtful_[k];
      double sum = at_.g[j], size = magnitude(at_.g[j]);
      for (int i = 0; i < n_; ++i) {
        const double term = entry(i, j) * open[i];
        sum -= term;
        size += magnitude(term);
      }
      touch[k] = sum;
      seen = seen || magnitude(sum) > (kUnseen + 4e-16 * report.condition) * size;
    }
    if (report.status == Smoothness::smooth && seen) report.status = Smoothness::kink;
    AtKink element = AtKink::free;
    if (report.status == Smoothness::kink) element = rules_.at_kink;
    if (element == AtKink::nan) {
      for (int i = 0; i < n_; ++i) y[i] = kNone;
      return false;
    }
    const auto all_held = [&](int j) { return mode_[j] != static_cast<int>(RowMode::free); };
    const auto own_held = [&](int j) { return mode_[j] == static_cast<int>(RowMode::held); };
    report.residual = 0.0;
    if (element != AtKink::held) {
      report.residual = certificate::lcp_adjoint_residual(n_, matrix_, own_held, at_.g, open);
    }
    if (element == AtKink::held || element == AtKink::mean) {
      hold(touch, open, closed);
      report.residual = kernels::larger(
          report.residual, certificate::lcp_adjoint_residual(n_, matrix_, all_held, at_.g, closed));
    }
    for (int i = 0; i < n_; ++i) {
      y[i] = element == AtKink::free   ? open[i]
             : element == AtKink::held ? closed[i]
                                       : 0.5 * (open[i] + closed[i]);
    }
    if (!certified(report, rules_, element == AtKink::free ? moved : kernels::kInfinity)) {
      for (int i = 0; i < n_; ++i) y[i] = kNone;
      return false;
    }
    if (rules_.reach) report.reach = b > 0 ? 0.0 : reach_down(slack, wanted, y);
    return true;
  }

  /// dz and dw along dM and dq (null: zero).
  CAROM_HOST_DEVICE bool tangent(const double* matrix, const double* vector, double* dz, double* dw,
                                 Report& report) {
    const int b = doubtfuls_;
    for (int i = 0; i < n_; ++i) {
      double sum = vector != nullptr ? vector[i] : 0.0;
      if (matrix != nullptr) {
        for (int j = 0; j < n_; ++j) sum += matrix[static_cast<long>(i) * n_ + j] * at_.z[j];
      }
      at_.r[i] = sum;
    }
    solve_tangent(at_.r, at_.dz);
    double* low = at_.dw;
    const double corrected =
        correct(report, at_.dz, low, at_.feel, false, [&](int i, LongSum<double>& sum) {
          if (vector != nullptr) sum.add(-vector[i]);
          for (int j = 0; j < n_ && matrix != nullptr; ++j) {
            subtract_long(matrix[static_cast<long>(i) * n_ + j], at_.z[j], at_.low[j], sum);
          }
          for (int j = 0; j < n_; ++j) subtract_long(entry(i, j), at_.dz[j], low[j], sum);
        });
    bool moved = false;
    double* s = at_.column[0];
    for (int k = 0; k < b; ++k) {
      const int i = doubtful_[k];
      double sum = at_.r[i], size = magnitude(at_.r[i]);
      for (int j = 0; j < n_; ++j) {
        const double term = entry(i, j) * at_.dz[j];
        sum += term;
        size += magnitude(term);
      }
      s[k] = magnitude(sum) > kUnseen * size ? sum : 0.0;
      moved = moved || s[k] != 0.0;
    }
    if (report.status == Smoothness::smooth && moved) report.status = Smoothness::kink;
    if (report.status == Smoothness::kink) {
      double* t = at_.column[1];
      if (!solve_doubtful(b, at_.schur, s, t, basic_, at_.work)) {
        report.status = Smoothness::undefined;
      } else {
        // The rows that close join the held ones' equations.
        double* column = at_.column[2];
        for (int k = 0; k < b; ++k) {
          if (!(t[k] > 0.0)) continue;
          for (int i = 0; i < n_; ++i) at_.dw[i] = entry(i, doubtful_[k]);
          solve_tangent(at_.dw, column);
          for (int i = 0; i < n_; ++i) at_.dz[i] += t[k] * column[i];
          at_.dz[doubtful_[k]] = t[k];
        }
      }
    }
    if (report.status != Smoothness::undefined) {
      report.residual = report.status == Smoothness::set_valued
                            ? branch_residual()
                            : certificate::lcp_tangent_residual(n_, matrix_, mode_, at_.r, at_.dz);
    }
    const bool fine = report.status != Smoothness::undefined &&
                      certified(report, rules_,
                                report.status == Smoothness::kink ? kernels::kInfinity : corrected);
    for (int i = 0; i < n_; ++i) {
      double sum = at_.r[i];
      for (int j = 0; j < n_; ++j) sum += entry(i, j) * at_.dz[j];
      at_.dw[i] = mode_[i] == static_cast<int>(RowMode::held) || at_.dz[i] > 0.0 ? 0.0 : sum;
      dz[i] = fine ? at_.dz[i] : kNone;
      dw[i] = fine ? at_.dw[i] : kNone;
    }
    if (fine && rules_.reach) report.reach = reach_along(at_.dz, at_.dw);
    return fine;
  }

  /// The largest t that the bounds below allow: with X = |M_aa^-1|, sigma = |M|, s = |q|, |dz_a| <=
  /// t kappa' z_a / (1 - t kappa) for kappa = max (X sigma z)_i / z_i, kappa' = max (X (sigma z +
  /// s))_i / z_i, so that z stays positive while t (kappa + kappa') <= 1; and w_c loses at most
  /// t [sigma z + s + N (sigma_aa z + s_a)] + t^2 kappa' / (1 - t kappa) [sigma + N sigma_aa] z,
  /// N = |M_ca M_aa^-1|. Of problems without doubtful rows.
  CAROM_HOST_DEVICE double radius() {
    if (doubtfuls_ > 0) return 0.0;
    const int n = count_;
    double* x = at_.schur;  // M_aa^-1, column after column
    for (int l = 0; l < n; ++l) {
      double* column = x + static_cast<long>(l) * n;
      for (int k = 0; k < n; ++k) column[k] = k == l ? 1.0 : 0.0;
      factors_.solve(column);
    }
    double* moved = at_.column[0];  // sigma_aa z, then with s_a
    double* all = at_.column[1];
    for (int k = 0; k < n; ++k) {
      moved[k] = 0.0;
      for (int l = 0; l < n; ++l) {
        moved[k] += magnitude(entry(held_[k], held_[l])) * at_.z[held_[l]];
      }
      all[k] = moved[k] + magnitude(vector_[held_[k]]);
    }
    double by_matrix = 0.0, by_all = 0.0;
    for (int k = 0; k < n; ++k) {
      double first = 0.0, second = 0.0;
      for (int l = 0; l < n; ++l) {
        const double share = magnitude(x[static_cast<long>(l) * n + k]);
        first += share * moved[l];
        second += share * all[l];
      }
      by_matrix = kernels::larger(by_matrix, first / at_.z[held_[k]]);
      by_all = kernels::larger(by_all, second / at_.z[held_[k]]);
    }
    double t = n > 0 ? 1.0 / (by_matrix + by_all) : kernels::kInfinity;
    for (int i = 0; i < n_; ++i) {
      if (mode_[i] != static_cast<int>(RowMode::free)) continue;
      double straight = magnitude(vector_[i]), curved = 0.0;
      for (int k = 0; k < n; ++k) {
        straight += magnitude(entry(i, held_[k])) * at_.z[held_[k]];
        curved += magnitude(entry(i, held_[k])) * at_.z[held_[k]];
      }
      for (int l = 0; l < n; ++l) {
        double share = 0.0;
        for (int k = 0; k < n; ++k) {
          share += entry(i, held_[k]) * x[static_cast<long>(l) * n + k];
        }
        straight += magnitude(share) * all[l];
        curved += magnitude(share) * moved[l];
      }
      // w (1 - t kappa) >= a t (1 - t kappa) + b kappa' t^2.
      const double w = at_.w[i];
      const double one = w * by_matrix + straight;
      const double two = straight * by_matrix - curved * by_all;
      const double inside = one * one - 4.0 * two * w;
      if (inside < 0.0) continue;
      t = kernels::smaller(t, 2.0 * w / (one + kernels::square_root(inside)));
    }
    return t;
  }

 private:
  CAROM_INLINE double entry(int i, int j) const { return matrix_[static_cast<long>(i) * n_ + j]; }
  CAROM_INLINE double per_unit(int i) const { return at_.unit[i] > 0.0 ? at_.share[i] : 1.0; }

  /// w of the polished answer; units stay those of the answer as it was given.
  CAROM_HOST_DEVICE void slacks() {
    for (int i = 0; i < n_; ++i) {
      double sum = vector_[i];
      for (int j = 0; j < n_; ++j) sum += entry(i, j) * at_.z[j];
      at_.w[i] = sum;
    }
  }
  /// w, and in which units rows and unknowns are measured. A row's unit is the sum of its terms or,
  /// if that is more, what the largest row has of it: |q_i| / sqrt(M_ii) has one unit, that of the
  /// root of an energy, in all rows, so that a row of noise is not measured by itself.
  CAROM_HOST_DEVICE void measure() {
    double energy = 0.0;
    for (int i = 0; i < n_; ++i) {
      double sum = vector_[i], size = magnitude(vector_[i]), largest = 0.0;
      for (int j = 0; j < n_; ++j) {
        const double term = entry(i, j) * at_.z[j];
        sum += term;
        size += magnitude(term);
        largest = kernels::larger(largest, magnitude(entry(i, j)));
      }
      at_.w[i] = sum;
      at_.unit[i] = size;
      const double diagonal = entry(i, i);
      if (diagonal > 1e-8 * largest) {
        energy = kernels::larger(energy, size / kernels::square_root(diagonal));
      }
    }
    for (int i = 0; i < n_; ++i) {
      if (entry(i, i) > 0.0) {
        at_.unit[i] = kernels::larger(at_.unit[i], kernels::square_root(entry(i, i)) * energy);
      }
      at_.feel[i] = 0.0;
    }
    for (int i = 0; i < n_; ++i) {
      at_.share[i] = at_.unit[i] > 0.0 ? 1.0 / at_.unit[i] : 0.0;
      if (!(at_.unit[i] > 0.0)) continue;
      for (int j = 0; j < n_; ++j) {
        at_.feel[j] = kernels::larger(at_.feel[j], magnitude(entry(i, j)) * at_.share[i]);
      }
    }
  }

  /// Modes from z and w; true where one is another than before.
  CAROM_HOST_DEVICE bool split(double tolerance) {
    bool changed = false;
    count_ = doubtfuls_ = 0;
    margin_ = kernels::kInfinity;
    for (int i = 0; i < n_; ++i) {
      const double closed = at_.feel[i] * at_.z[i];
      const double open = at_.share[i] * at_.w[i];
      const double gap = kernels::larger(closed, open);
      margin_ = kernels::smaller(margin_, gap > 0.0 ? gap : 0.0);
      const RowMode mode = !(gap > tolerance) ? RowMode::doubtful
                           : closed >= open   ? RowMode::held
                                              : RowMode::free;
      changed = changed || mode_[i] != static_cast<int>(mode);
      mode_[i] = static_cast<int>(mode);
      if (mode == RowMode::held) held_[count_++] = i;
      if (mode == RowMode::doubtful) doubtful_[doubtfuls_++] = i;
    }
    return changed;
  }

  static CAROM_INLINE void subtract_long(double by, double value, double low,
                                         LongSum<double>& sum) {
    sum.add_product(-by, value);
    sum.add_rest(-(by * low));
  }
  /// Where the condition is large, adds to x of the held rows the solution of what their equations
  /// miss, which missing(i, sum) adds up; low: what rounding leaves of x, out. How far the last
  /// correction moved x, relative to it, by the units' products; infinite where there was none.
  template <class Missing>
  CAROM_INLINE double correct(const Report& report, double* x, double* low, const double* unit,
                              bool transposed, Missing&& missing) {
    if (!(report.condition > kSteep)) return kernels::kInfinity;
    for (int i = 0; i < n_; ++i) low[i] = 0.0;
    double* part = at_.column[1];
    double moved = 0.0, size = 0.0;
    for (int round = 0; round < kSteepCorrections; ++round) {
      for (int k = 0; k < count_; ++k) {
        LongSum<double> sum;
        missing(held_[k], sum);
        part[k] = sum.value();
      }
      if (transposed) {
        factors_.solve_transposed_once(part);
      } else {
        factors_.solve_once(part);
      }
      moved = size = 0.0;
      for (int k = 0; k < count_; ++k) {
        const int i = held_[k];
        const double before = x[i], by = low[i] + part[k];
        x[i] = before + by;
        low[i] = by - (x[i] - before);
        moved = kernels::larger(moved, unit[i] * magnitude(part[k]));
        size = kernels::larger(size, unit[i] * magnitude(x[i]));
      }
    }
    return size > 0.0 ? moved / size : 0.0;
  }

  CAROM_HOST_DEVICE bool factor() {
    double* a = factors_.matrix();
    for (int k = 0; k < count_; ++k) {
      for (int l = 0; l < count_; ++l) a[k * count_ + l] = entry(held_[k], held_[l]);
    }
    return factors_.factor(count_);
  }

  /// S = M_bb - M_ba M_aa^-1 M_ab and the magnitudes that its diagonal is a sum of.
  CAROM_HOST_DEVICE void reduce() {
    const int b = doubtfuls_;
    double* column = at_.column[0];
    for (int l = 0; l < b; ++l) {
      for (int k = 0; k < count_; ++k) column[k] = entry(held_[k], doubtful_[l]);
      factors_.solve(column);
      for (int k = 0; k < b; ++k) {
        double sum = entry(doubtful_[k], doubtful_[l]), size = magnitude(sum);
        for (int m = 0; m < count_; ++m) {
          const double term = entry(doubtful_[k], held_[m]) * column[m];
          sum -= term;
          size += magnitude(term);
        }
        at_.schur[k * b + l] = sum;
        if (k == l) at_.size[k] = size;
      }
    }
  }

  /// y_a = M_aa^-T g_a, zero elsewhere.
  CAROM_HOST_DEVICE void solve_adjoint(double* y) {
    double* part = at_.column[1];
    for (int k = 0; k < count_; ++k) part[k] = at_.g[held_[k]];
    factors_.solve_transposed(part);
    for (int i = 0; i < n_; ++i) y[i] = 0.0;
    for (int k = 0; k < count_; ++k) y[held_[k]] = part[k];
  }

  /// The adjoint where the doubtful rows are held too: y_b = S^-T t, y_a = M_aa^-T (g_a - M_ba'
  /// y_b).
  CAROM_HOST_DEVICE void hold(const double* touch, const double* open, double* closed) {
    const int b = doubtfuls_;
    double* t = at_.column[2];
    double* transposed = at_.work;
    for (int k = 0; k < b; ++k) {
      t[k] = touch[k];
      for (int l = 0; l < b; ++l) transposed[k * b + l] = at_.schur[l * b + k];
    }
    if (!eliminate(b, transposed, t)) {
      for (int i = 0; i < n_; ++i) closed[i] = kNone;
      return;
    }
    double* part = at_.column[1];
    for (int k = 0; k < count_; ++k) {
      double sum = 0.0;
      for (int l = 0; l < b; ++l) sum += entry(doubtful_[l], held_[k]) * t[l];
      part[k] = sum;
    }
    factors_.solve_transposed(part);
    for (int i = 0; i < n_; ++i) closed[i] = open[i];
    for (int k = 0; k < count_; ++k) closed[held_[k]] -= part[k];
    for (int l = 0; l < b; ++l) closed[doubtful_[l]] = t[l];
  }

  /// x_a = -M_aa^-1 r_a, zero elsewhere.
  CAROM_HOST_DEVICE void solve_tangent(const double* r, double* x, bool refined = true) {
    double* part = at_.g;
    for (int k = 0; k < count_; ++k) part[k] = -r[held_[k]];
    if (refined) {
      factors_.solve(part);
    } else {
      factors_.solve_once(part);
    }
    for (int i = 0; i < n_; ++i) x[i] = 0.0;
    for (int k = 0; k < count_; ++k) x[held_[k]] = part[k];
  }

  CAROM_HOST_DEVICE double branch_residual() const {
    certificate::MaxAbs<> worst;
    for (int k = 0; k < count_; ++k) {
      const int i = held_[k];
      double sum = at_.r[i], size = magnitude(at_.r[i]);
      for (int j = 0; j < n_; ++j) {
        sum += entry(i, j) * at_.dz[j];
        size += magnitude(entry(i, j) * at_.dz[j]);
      }
      worst.add(certificate::share_of(sum, size));
    }
    return worst.value;
  }

  /// The largest step that keeps signs, to first order.
  CAROM_HOST_DEVICE double reach_along(const double* dz, const double* dw) const {
    double reach = kernels::kInfinity;
    for (int i = 0; i < n_; ++i) {
      if (mode_[i] == static_cast<int>(RowMode::held) && dz[i] < 0.0) {
        reach = kernels::smaller(reach, at_.z[i] / -dz[i]);
      }
      if (mode_[i] == static_cast<int>(RowMode::free) && dw[i] < 0.0) {
        reach = kernels::smaller(reach, at_.w[i] / -dw[i]);
      }
    }
    return reach;
  }

  /// Along minus the gradient: r = -(M̄ z) - q̄ with M̄ = (h - y) z', q̄ = h - y.
  CAROM_HOST_DEVICE double reach_down(const double* slack, const LcpWanted& wanted,
                                      const double* y) {
    double weight = wanted.vector ? 1.0 : 0.0;
    if (wanted.matrix) {
      for (int i = 0; i < n_; ++i) weight += at_.z[i] * at_.z[i];
    }
    for (int i = 0; i < n_; ++i) {
      at_.r[i] = weight * (y[i] - (slack != nullptr ? slack[i] : 0.0));
    }
    solve_tangent(at_.r, at_.dz, false);
    for (int i = 0; i < n_; ++i) {
      double sum = at_.r[i];
      for (int k = 0; k < count_; ++k) sum += entry(i, held_[k]) * at_.dz[held_[k]];
      at_.dw[i] = sum;
    }
    return reach_along(at_.dz, at_.dw);
  }

  int n_;
  const double* matrix_;
  const double* vector_;
  const DerivativeRules& rules_;
  LcpModesLayout<double*> at_;
  Factors factors_;
  int* mode_;
  int* held_;
  int* doubtful_;
  int* basic_;
  int count_ = 0;
  int doubtfuls_ = 0;
  double margin_ = 0.0;
  bool unique_ = false;
};

}  // namespace carom::derivatives
