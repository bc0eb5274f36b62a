#pragma once

#include <cstdint>

#include <carom/certificate_lcp.hpp>
#include <carom/certificate_lp.hpp>

/// Residuals of boxed linear complementarity problems, recomputed from the problem data, every row
/// in its own unit: docs/explanation/certificates.md.
namespace carom::certificate {

/// One problem as it was given; sizes as of BoxedLcpBatchArrays, pointers to one problem's values.
struct BoxedLcpData {
  int order;
  const double* matrix;
  const double* vector;
  const double* lower;
  const double* upper;
  const std::int32_t* findex;  ///< null: no friction rows
  const double* friction;

  [[nodiscard]] CAROM_INLINE int index(int i) const { return findex == nullptr ? -1 : findex[i]; }
};

template <class Memory>
struct BoxedLcpJudgeLayout {
  Memory value;  ///< w
  Memory size;   ///< magnitudes of the products
  Memory datum;
  Memory known;  ///< 1 where z_j is explained; then how much the rows feel it
  Memory low;    ///< the box, that of friction rows included
  Memory high;

  BoxedLcpJudgeLayout() = default;
  CAROM_INLINE constexpr BoxedLcpJudgeLayout(kernels::Arena<Memory>& arena, long n)
      : value(arena.take(n)),
        size(arena.take(n)),
        datum(arena.take(n)),
        known(arena.take(n)),
        low(arena.take(n)),
        high(arena.take(n)) {}
};
CAROM_HOST_DEVICE constexpr long boxed_lcp_judge_workspace(int n) {
  return kernels::values_of<BoxedLcpJudgeLayout>(n);
}

/// The natural map z - mid(lo, hi, z - w), row by row: outside of the box infinity; at lo_i what
/// w_i is below zero, at hi_i above, |w_i| between; "at" means equal in bits. What exceeds the
/// rounding of the row's sum counts over the row's datum, as LcpJudge has it: q_i and the terms
/// that it, a given bound or another row explains. Where w_i is small compared with its
/// terms and z_i so close to a bound that no row feels the distance, that distance counts instead.
template <class Lanes>
class BoxedLcpJudgeOf {
 public:
  /// memory: boxed_lcp_judge_workspace(n).
  CAROM_HOST_DEVICE BoxedLcpJudgeOf(const BoxedLcpData& problem, double* memory,
                                    const Lanes& lanes = Lanes())
      : problem_(problem),
        n_(problem.order),
        rounding_(sum_rounding(n_)),
        at_(kernels::placed<BoxedLcpJudgeLayout>(memory, n_)),
        lanes_(lanes) {}

  /// z: [n].
  CAROM_HOST_DEVICE double residual(const double* z) {
    lanes_.for_each(n_, [&](int i) {
      set_box(i, z);
      double sum = problem_.vector[i], size = 0.0;
      for (int j = 0; j < n_; ++j) {
        const double term = entry(i, j) * z[j];
        sum += term;
        size += magnitude(term);
      }
      at_.value[i] = sum;
      at_.size[i] = size;
      const bool inside = z[i] >= at_.low[i] && z[i] <= at_.high[i] && kernels::is_finite(z[i]);
      at_.known[i] = inside ? simple_share(i, z) : kernels::kInfinity;
    });
    const double simple = largest();
    if (simple <= kLcpClose) return simple;
    if (!(simple < kernels::kInfinity)) return kernels::kInfinity;
    explain(z);
    lanes_.for_each(n_, [&](int i) { at_.known[i] = relative_share(i, z) + beyond(i); });
    const double strict = largest();
    if (strict <= kLcpClose || !(strict < kernels::kInfinity)) return strict;
    feel_columns();
    lanes_.for_each(n_, [&](int i) {
      double share = relative_share(i, z);
      if (share > kLcpClose) {
        const double room = at_.value[i] > 0.0 ? z[i] - at_.low[i] : at_.high[i] - z[i];
        // another end of its box is not near, whatever rows of rounding errors feel
        const bool far = problem_.index(i) < 0 && room > kOfBox * (at_.high[i] - at_.low[i]);
        const bool visible = magnitude(at_.value[i]) > kVisible * (at_.size[i] + own(i));
        if (room < kernels::kInfinity && at_.known[i] > 0.0 && !far && !visible) {
          share = kernels::smaller(share, at_.known[i] * room);
        }
      }
      at_.known[i] = share;
    });
    return largest();
  }

  /// w of the last z, [n].
  [[nodiscard]] CAROM_INLINE const double* slack() const { return at_.value; }

 private:
  static constexpr double kOfBox = 1e-9;
  static constexpr double kVisible = 1e-8;  // of the terms of w_i

  CAROM_INLINE double entry(int i, int j) const {
    return problem_.matrix[static_cast<long>(i) * n_ + j];
  }
  /// The largest of what stands in `known`, NaN where one is.
  CAROM_INLINE double largest() const {
    MaxAbs<> most;
    for (int i = 0; i < n_; ++i) most.add(at_.known[i]);
    return most.value;
  }
  CAROM_INLINE void set_box(int i, const double* z) const {
    const int j = problem_.index(i);
    if (j < 0) {
      at_.low[i] = problem_.lower[i];
      at_.high[i] = problem_.upper[i];
      return;
    }
    const double limit = problem_.friction[i] * z[j];
    at_.low[i] = -limit;
    at_.high[i] = limit;
  }
  /// q_i, unless it is what rounding left of a zero.
  CAROM_INLINE double own(int i) const {
    const double q = magnitude(problem_.vector[i]);
    return q <= noise_floor(n_) * at_.size[i] ? 0.0 : q;
  }
  CAROM_INLINE bool right_sign(int i, const double* z) const {
    const double w = at_.value[i];
    return (z[i] == at_.low[i] && w >= 0.0) || (z[i] == at_.high[i] && w <= 0.0) ||
           (z[i] == at_.low[i] && z[i] == at_.high[i]);
  }
  /// What row i misses in this unit; NaN stays.
  CAROM_INLINE double share(int i, const double* z, double unit) const {
    const double w = at_.value[i];
    if (right_sign(i, z)) return 0.0 * w;
    return missed(w, at_.size[i] + own(i), unit, rounding_);
  }
  CAROM_INLINE double simple_share(int i, const double* z) const {
    const double by_own = share(i, z, own(i));
    if (at_.size[i] <= 0.0 || rounding_ * at_.size[i] <= kHidden * own(i)) return by_own;
    return by_own <= kLcpClose ? kLcpBeyondClose : by_own;
  }
  CAROM_INLINE double relative_share(int i, const double* z) const {
    return share(i, z, unit_of_residual(kernels::larger(at_.datum[i], own(i)), own(i)));
  }
  CAROM_INLINE double beyond(int i) const {
    return beyond_reach(at_.size[i], at_.datum[i], rounding_);
  }
  CAROM_INLINE double seed(int i) const { return own(i) <= 2.0 * at_.size[i] ? own(i) : 0.0; }

  /// The rows' data.
  CAROM_HOST_DEVICE void explain(const double* z) const {
    const auto at_bound = [&](int j) { return z[j] == at_.low[j] || z[j] == at_.high[j]; };
    lanes_.for_each(n_, [&](int j) {
      at_.known[j] = z[j] == 0.0 || (problem_.index(j) < 0 && at_bound(j)) ? 1.0 : 0.0;
    });
    double before = -1.0;
    for (int round = 0; round <= n_ + 1; ++round) {
      lanes_.for_each(n_, [&](int j) {
        const int source = problem_.index(j);
        if (source >= 0 && at_bound(j)) {
          at_.known[j] = kernels::larger(at_.known[j], at_.known[source]);
        }
      });
      explain_sources(at_bound);
      double count = 0.0;
      for (int i = 0; i < n_; ++i) count += at_.known[i];
      lanes_.for_each(n_, [&](int i) {
        double datum = seed(i);
        for (int j = 0; j < n_; ++j) datum += at_.known[j] * magnitude(entry(i, j) * z[j]);
        at_.datum[i] = datum;
      });
      if (!(count > before)) return;
      before = count;
      lanes_.for_each(n_, [&](int j) {
        double known = at_.known[j];
        for (int i = 0; i < n_; ++i) {
          if (!(at_.datum[i] > 0.0)) continue;
          known = kernels::larger(known, reached(magnitude(entry(i, j) * z[j]), at_.datum[i]));
        }
        at_.known[j] = known;
      });
    }
  }

  /// z_i = mu_i z_j at a friction row's limit explains z_j, as it does z_i.
  template <class AtBound>
  CAROM_HOST_DEVICE void explain_sources(const AtBound& at_bound) const {
    if (problem_.findex == nullptr) return;
    lanes_.for_each(n_, [&](int j) {
      if (problem_.index(j) >= 0) return;
      for (int i = 0; i < n_; ++i) {
        if (problem_.index(i) != j || !(at_.high[i] > 0.0) || !at_bound(i)) continue;
        at_.known[j] = kernels::larger(at_.known[j], at_.known[i]);
      }
    });
  }

  /// known_j = the largest share of a row's datum that z_j of one has, by its friction rows' limits
  /// too; 0 where it is in no row.
  CAROM_HOST_DEVICE void feel_columns() const {
    lanes_.for_each(n_, [&](int j) {
      double most = 0.0;
      for (int i = 0; i < n_; ++i) {
        const double datum = kernels::larger(kernels::larger(at_.datum[i], own(i)), kTiny);
        most = kernels::larger(most, magnitude(entry(i, j)) / datum);
      }
      at_.known[j] = most;
    });
    if (problem_.findex == nullptr) return;
    lanes_.for_each(n_, [&](int j) {
      for (int i = 0; i < n_; ++i) {
        if (problem_.index(i) != j) continue;
        at_.known[j] = kernels::larger(at_.known[j], problem_.friction[i] * at_.known[i]);
      }
    });
  }

  BoxedLcpData problem_;
  int n_;
  double rounding_;
  BoxedLcpJudgeLayout<double*> at_;
  Lanes lanes_;
};
using BoxedLcpJudge = BoxedLcpJudgeOf<kernels::SingleLane>;

/// What every answer satisfies, as a linear program in z, friction rows as z+ - z- in columns i and
/// n + i: the box; in row i w_i >= 0 where hi_i is absent, w_i <= 0 where lo_i is; in row n + i of
/// friction mu_i z_j - z+_i - z-_i >= 0. Rows and columns without a meaning are empty.
template <class Memory>
struct BoxedLcpLinearLayout {
  Memory cost, matrix, row_lower, row_upper, column_lower, column_upper, multiplier, judge;

  BoxedLcpLinearLayout() = default;
  CAROM_INLINE constexpr BoxedLcpLinearLayout(kernels::Arena<Memory>& arena, int m)
      : cost(arena.take(m)),
        matrix(arena.take(static_cast<long>(m) * m)),
        row_lower(arena.take(m)),
        row_upper(arena.take(m)),
        column_lower(arena.take(m)),
        column_upper(arena.take(m)),
        multiplier(arena.take(m)),
        judge(arena.take(lp_certificate_workspace(m, m))) {}
};
CAROM_HOST_DEVICE constexpr long boxed_lcp_farkas_workspace(int n) {
  return kernels::values_of<BoxedLcpLinearLayout>(2 * n);
}

/// Whether y, [n], proves that no z in the box has w of those signs: LpCertificate::farkas_residual
/// of that program, whose rows of friction have the multipliers |M'y|_i. memory:
/// boxed_lcp_farkas_workspace(n).
CAROM_CALL inline double boxed_lcp_farkas_residual(const BoxedLcpData& problem, const double* y,
                                                   double* memory) {
  const int n = problem.order;
  const int m = problem.findex == nullptr ? n : 2 * n;
  const auto at = kernels::placed<BoxedLcpLinearLayout>(memory, m);
  for (long e = 0; e < static_cast<long>(m) * m; ++e) at.matrix[e] = 0.0;
  const auto entry = [&](int i, int j) -> double& {
    return at.matrix[static_cast<long>(i) * m + j];
  };
  for (int i = 0; i < m; ++i) {
    at.cost[i] = at.column_lower[i] = at.column_upper[i] = at.multiplier[i] = 0.0;
    at.row_lower[i] = -kernels::kInfinity;
    at.row_upper[i] = kernels::kInfinity;
  }
  for (int i = 0; i < n; ++i) {
    if (problem.index(i) < 0 && problem.lower[i] > problem.upper[i]) return 0.0;  // any y
    if (problem.index(i) >= 0 && y[i] != 0.0) return kernels::kInfinity;
  }
  for (int i = 0; i < n; ++i) {
    at.multiplier[i] = y[i];
    double pull = 0.0;
    for (int j = 0; j < n; ++j) {
      const double value = problem.matrix[static_cast<long>(i) * n + j];
      entry(i, j) = value;
      if (problem.index(j) >= 0) entry(i, n + j) = -value;
      pull += problem.matrix[static_cast<long>(j) * n + i] * y[j];
    }
    const int source = problem.index(i);
    if (source < 0) {
      if (problem.upper[i] == kernels::kInfinity) at.row_lower[i] = -problem.vector[i];
      if (problem.lower[i] == -kernels::kInfinity) at.row_upper[i] = -problem.vector[i];
      at.column_lower[i] = problem.lower[i];
      at.column_upper[i] = problem.upper[i];
      continue;
    }
    at.multiplier[n + i] = magnitude(pull);
    entry(n + i, source) = problem.friction[i];
    entry(n + i, i) = entry(n + i, n + i) = -1.0;
    at.row_lower[n + i] = 0.0;
    at.column_upper[i] = at.column_upper[n + i] = kernels::kInfinity;
  }
  const kernels::SingleLane lane;
  const LpData data{
      m, m, at.cost, at.matrix, at.row_lower, at.row_upper, at.column_lower, at.column_upper};
  LpCertificate<kernels::SingleLane> judge(lane, m, m, at.judge);
  return judge.load(data) ? judge.farkas_residual(at.multiplier) : kernels::kInfinity;
}

}  // namespace carom::certificate
