#pragma once

#include <carom/certificate_scales.hpp>
#include <carom/device/lanes.hpp>

/// Residuals of linear complementarity problems, recomputed from the problem data, every row in its
/// own unit: docs/algorithms/certificates.md.
namespace carom::certificate {

CAROM_HOST_DEVICE constexpr long lcp_judge_workspace(int n) { return 4L * n; }

/// Judges z of w = M z + q >= 0, z >= 0, z'w = 0. Row i misses by -w_i where that is positive, and
/// by w_i where z_i is; what exceeds the rounding of the row's sum counts over the row's datum, as
/// certificate_qp_scales.hpp has it. Where z_i is so small that no row feels it, that counts
/// instead.
template <class Lanes>
class LcpJudge {
 public:
  /// M: row-major [n, n]; q: [n]; memory: lcp_judge_workspace(n).
  CAROM_HOST_DEVICE LcpJudge(const Lanes& lanes, int n, const double* matrix, const double* vector,
                             double* memory)
      : lanes_(lanes),
        n_(n),
        rounding_(sum_rounding(n)),
        matrix_(matrix),
        vector_(vector),
        value_(memory),
        size_(value_ + n),
        datum_(size_ + n),
        known_(datum_ + n) {}

  /// NaN where z or a product is; infinity where z is negative.
  CAROM_HOST_DEVICE double residual(const double* z) const {
    lanes_.for_each(n_, [&](int i) { multiply(i, z); });
    MaxAbs<> worst;
    bool sure = true;
    for (int i = 0; i < n_; ++i) {
      const double own = kernels::magnitude(vector_[i]);
      const double share = share_of(i, z, own);
      if (!(share < kernels::kInfinity)) return share;
      const bool plain =
          share <= kClose && (size_[i] <= 0.0 || rounding_ * size_[i] <= kHidden * own);
      sure = sure && plain;
      if (plain) worst.add(share);
    }
    if (sure) return worst.value;
    explain(z);
    for (int i = 0; i < n_; ++i) {
      const double unit =
          unit_of_residual(kernels::larger(datum_[i], kernels::magnitude(vector_[i])),
                           kernels::magnitude(vector_[i]));
      double relative = share_of(i, z, unit);
      if (relative > kClose && z[i] > 0.0 && value_[i] > 0.0) {
        relative = kernels::smaller(relative, felt(i) * z[i]);
      }
      worst.add(relative);
      worst.add(beyond_reach(size_[i], datum_[i], rounding_));
    }
    return worst.value;
  }

 private:
  static constexpr double kClose = 1e-13;

  CAROM_INLINE const double* row(int i) const { return matrix_ + static_cast<long>(i) * n_; }

  /// w_i and the magnitudes of the products in it. Whole blocks of eight go to eight running sums,
  /// which a register holds.
  CAROM_INLINE void multiply(int i, const double* z) const {
    const double* from = row(i);
    double sum[8] = {};
    double size[8] = {};
    const int whole = n_ & ~7;
    for (int j = 0; j < whole; j += 8) {
      for (int k = 0; k < 8; ++k) {
        const double term = from[j + k] * z[j + k];
        sum[k] += term;
        size[k] += kernels::magnitude(term);
      }
    }
    for (int j = whole; j < n_; ++j) {
      const double term = from[j] * z[j];
      sum[j - whole] += term;
      size[j - whole] += kernels::magnitude(term);
    }
    value_[i] = vector_[i] +
                (((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7])));
    size_[i] =
        ((size[0] + size[4]) + (size[2] + size[6])) + ((size[1] + size[5]) + (size[3] + size[7]));
  }

  /// What row i misses in this unit; NaN stays.
  CAROM_INLINE double share_of(int i, const double* z, double unit) const {
    const double w = value_[i];
    if (z[i] < 0.0) return kernels::kInfinity;
    if (w > 0.0 && !(z[i] > 0.0)) return z[i] == z[i] ? 0.0 : z[i];
    return missed(w, size_[i] + kernels::magnitude(vector_[i]), unit, rounding_);
  }

  CAROM_INLINE double seed(int i) const {
    const double q = kernels::magnitude(vector_[i]);
    return q <= 2.0 * size_[i] ? q : 0.0;
  }

  /// The rows' data, from their q and the z that those explain.
  CAROM_HOST_DEVICE void explain(const double* z) const {
    lanes_.for_each(n_, [&](int i) {
      datum_[i] = seed(i);
      known_[i] = z[i] != 0.0 ? 0.0 : 1.0;
    });
    double before = -1.0;
    for (int round = 0; round <= n_; ++round) {
      double count = 0.0;
      for (int i = 0; i < n_ && count < n_; ++i) {
        if (!(datum_[i] > 0.0)) continue;
        lanes_.for_each(n_, [&](int j) {
          known_[j] =
              kernels::larger(reached(kernels::magnitude(row(i)[j] * z[j]), datum_[i]), known_[j]);
        });
        count = 0.0;
        for (int j = 0; j < n_; ++j) count += known_[j];
      }
      const bool all = count >= n_;
      lanes_.for_each(n_, [&](int i) {
        double datum = all ? size_[i] : 0.0;
        for (int j = 0; !all && j < n_; ++j) {
          datum += known_[j] * kernels::magnitude(row(i)[j] * z[j]);
        }
        datum_[i] = datum + seed(i);
      });
      if (all || !(count > before)) return;
      before = count;
    }
  }

  /// The largest share of a row's datum that z_j of one has.
  CAROM_HOST_DEVICE double felt(int j) const {
    double most = 0.0;
    for (int i = 0; i < n_; ++i) {
      const double datum = kernels::larger(datum_[i], kernels::magnitude(vector_[i]));
      most = kernels::larger(kernels::magnitude(row(i)[j]) / kernels::larger(datum, kTiny), most);
    }
    return most;
  }

  const Lanes& lanes_;
  int n_;
  double rounding_;
  const double* matrix_;
  const double* vector_;
  double* value_;  // [n] w
  double* size_;   // [n] magnitudes of the products
  double* datum_;  // [n]
  double* known_;  // [n] 1 where z_j is explained
};

/// The residual of z or, where that is not close to zero, of z without what rounding left in place
/// of zeros (products below 1e-14 of the largest q), if that is less; z then loses it. memory:
/// lcp_judge_workspace(n) + n.
template <class Lanes>
CAROM_HOST_DEVICE double clean_lcp_residual(const Lanes& lanes, int n, const double* matrix,
                                            const double* vector, double* z, double* memory) {
  const LcpJudge<Lanes> judge(lanes, n, matrix, vector, memory);
  const double as_is = judge.residual(z);
  if (as_is <= 1e-13) return as_is;
  double largest = 0.0;
  for (int i = 0; i < n; ++i) largest = kernels::larger(kernels::magnitude(vector[i]), largest);
  double* cleaned = memory + lcp_judge_workspace(n);
  lanes.for_each(n, [&](int j) {
    double size = 0.0;
    for (int i = 0; i < n; ++i) {
      size = kernels::larger(kernels::magnitude(matrix[static_cast<long>(i) * n + j]), size);
    }
    cleaned[j] = size * z[j] <= 1e-14 * largest ? 0.0 : z[j];
  });
  const double without = judge.residual(cleaned);
  if (!(without < as_is)) return as_is;
  lanes.for_each(n, [&](int j) { z[j] = cleaned[j]; });
  return without;
}

/// LcpJudge in one lane. n: at most 128.
CAROM_INLINE double lcp_residual(int n, const double* matrix, const double* vector,
                                 const double* z) {
  double memory[lcp_judge_workspace(128)];
  const kernels::SingleLane lane;
  return LcpJudge<kernels::SingleLane>(lane, n, matrix, vector, memory).residual(z);
}

}  // namespace carom::certificate
