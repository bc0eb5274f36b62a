#pragma once

#include <carom/certificate_scales.hpp>
#include <carom/device/arena.hpp>
#include <carom/device/lanes.hpp>
#include <carom/device/packed.hpp>

/// Residuals of linear complementarity problems, recomputed from the problem data, every row in its
/// own unit: docs/explanation/certificates.md.
namespace carom::certificate {

// Numbers find these by name; packs of numbers bring their own.
using kernels::larger;
using kernels::magnitude;
using kernels::select;
using kernels::smaller;

/// Share of its row's terms below which a datum is what rounding left of a zero, and counts as one.
CAROM_INLINE constexpr double noise_floor(long terms) {
  return 0x1p-50 * static_cast<double>(terms + 4);
}

/// np: n padded.
template <class Memory>
struct LcpJudgeLayout {
  Memory z;
  Memory vector;  ///< q
  Memory value;   ///< w
  Memory size;    ///< magnitudes of the products
  Memory datum;
  Memory known;  ///< positive where z_j is explained; then how much the rows feel it

  LcpJudgeLayout() = default;
  CAROM_INLINE constexpr LcpJudgeLayout(kernels::Arena<Memory>& arena, long np)
      : z(arena.take(np)),
        vector(arena.take(np)),
        value(arena.take(np)),
        size(arena.take(np)),
        datum(arena.take(np)),
        known(arena.take(np)) {}
};
CAROM_HOST_DEVICE constexpr long lcp_judge_workspace(int n) {
  return kernels::values_of<LcpJudgeLayout>(kernels::padded(n, kernels::kPackPadding));
}

/// Farkas' margin is more than this share of its largest term, so that a sum of few digits shows
/// it.
inline constexpr double kClearMargin = 2e-8;

// From here on a residual is not close to zero, and its rows want units of their own; what they
// want that is close otherwise.
inline constexpr double kLcpClose = 1e-13;
inline constexpr double kLcpBeyondClose = 2e-13;

/// Row i of an LCP: w_i, the magnitudes of the products in it, and |q_i|.
/// A q_i below noise_floor of them counts as zero.
template <class V>
struct LcpRow {
  V z;
  V w;
  V size;
  V own;

  CAROM_INLINE LcpRow(V z_i, V w_i, V terms, V datum, double noise)
      : z(z_i), w(w_i), size(terms), own(select(datum <= V(noise) * terms, V(0.0), datum)) {}

  /// What the row misses in this unit; NaN stays.
  [[nodiscard]] CAROM_INLINE V share(V unit, double rounding) const {
    const V missing =
        select((w > V(0.0)) & (z <= V(0.0)), V(0.0) * w, missed(w, size + own, unit, rounding));
    return select(z < V(0.0), V(kernels::kInfinity), missing + V(0.0) * z);
  }
  /// share(|q_i|) where that can be what counts, otherwise more than kLcpClose.
  [[nodiscard]] CAROM_INLINE V simple_share(double rounding) const {
    const V by_own = share(own, rounding);
    const auto plain = (size <= V(0.0)) | (V(rounding) * size <= V(kHidden) * own);
    // NaN is neither below nor above.
    return select(plain, by_own, select(by_own <= V(kLcpClose), V(kLcpBeyondClose), by_own));
  }
  /// share of the row's datum.
  [[nodiscard]] CAROM_INLINE V relative_share(V datum, double rounding) const {
    return share(unit_of_residual(larger(datum, own), own), rounding);
  }
  /// What q_i says of the row's datum.
  [[nodiscard]] CAROM_INLINE V seed() const { return select(own <= V(2.0) * size, own, V(0.0)); }
};

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
        np_(kernels::padded(n, kernels::kPackPadding)),
        rounding_(sum_rounding(n)),
        matrix_(matrix),
        at_(kernels::placed<LcpJudgeLayout>(memory, np_)) {
    kernels::copy_padded(lanes_, n_, vector, at_.vector);
  }

  /// Infinity where z is negative, or a product is not finite.
  CAROM_HOST_DEVICE double residual(const double* z) {
    conceded_ = false;
    kernels::copy_padded(lanes_, n_, z, at_.z);
    lanes_.for_each(np_, [&](int i) { multiply(i); });
    const double simple = kernels::largest_packed(lanes_, np_, [&](auto number, int i) {
      return row_of<decltype(number)>(i).simple_share(rounding_);
    });
    if (simple <= kLcpClose) return simple;
    explain();
    if (!(simple < kernels::kInfinity)) return simple;
    const auto relative = [&](auto number, int i) {
      using V = decltype(number);
      return row_of<V>(i).relative_share(kernels::load<V>(at_.datum + i), rounding_);
    };
    const auto beyond = [&](auto number, int i) {
      using V = decltype(number);
      return beyond_reach(kernels::load<V>(at_.size + i), kernels::load<V>(at_.datum + i),
                          rounding_);
    };
    const double strict = kernels::largest_packed(
        lanes_, np_, [&](auto number, int i) { return relative(number, i) + beyond(number, i); });
    if (strict <= kLcpClose || !(strict < kernels::kInfinity)) return strict;
    feel_columns(true);
    MaxAbs<> worst;
    for (int i = 0; i < n_; ++i) {
      double share = relative(0.0, i);
      // A z_i that is in no row has no size that could be small.
      if (share > kLcpClose && at_.z[i] > 0.0 && at_.value[i] > 0.0 && at_.known[i] > 0.0) {
        share = kernels::smaller(share, at_.known[i] * at_.z[i]);
        conceded_ = true;
      }
      worst.add(share);
    }
    return worst.value;
  }

  /// Whether y proves that no z >= 0 has w >= 0: y >= 0, M'y <= 0 and q'y < 0, for y'w = q'y +
  /// (M'y)'z would be negative. The residual is the largest (M'y)_j > 0 over its datum; the margin
  /// -q'y is the datum that explains y. Infinity where y is no proof.
  CAROM_HOST_DEVICE double farkas_residual(const double* y) {
    kernels::copy_padded(lanes_, n_, y, at_.z);
    double margin = 0.0, most = 0.0;
    for (int i = 0; i < n_; ++i) {
      if (!(at_.z[i] >= 0.0) || !kernels::is_finite(at_.z[i])) return kernels::kInfinity;
      const double term = -at_.vector[i] * at_.z[i];
      margin += term;
      most = kernels::larger(most, magnitude(term));
    }
    if (!(margin > kClearMargin * most)) return kernels::kInfinity;
    const auto term = [&](int i, int j) { return row(i)[j] * at_.z[i]; };
    lanes_.for_each(n_, [&](int j) {
      double sum = 0.0, size = 0.0;
      for (int i = 0; i < n_; ++i) {
        sum += term(i, j);
        size += magnitude(term(i, j));
      }
      at_.value[j] = sum;
      at_.size[j] = size;
    });
    lanes_.for_each(n_, [&](int i) {
      at_.known[i] = at_.z[i] == 0.0 ? 1.0 : reached(magnitude(at_.vector[i] * at_.z[i]), margin);
    });
    for (double before = -1.0;;) {
      lanes_.for_each(n_, [&](int j) {
        double datum = 0.0;
        for (int i = 0; i < n_; ++i) datum += at_.known[i] * magnitude(term(i, j));
        at_.datum[j] = datum;
      });
      double count = 0.0;
      for (int i = 0; i < n_; ++i) count += at_.known[i];
      if (!(count > before) || count >= n_) break;
      before = count;
      lanes_.for_each(n_, [&](int i) {
        double known = at_.known[i];
        for (int j = 0; j < n_; ++j) {
          known = kernels::larger(known, reached(magnitude(term(i, j)), at_.datum[j]));
        }
        at_.known[i] = known;
      });
    }
    MaxAbs<> worst;
    for (int j = 0; j < n_; ++j) {
      const double sum = at_.value[j], size = at_.size[j], datum = at_.datum[j];
      if (sum < -rounding_ * size) continue;
      worst.add(missed(positive_part(sum), size, datum, rounding_) +
                beyond_reach(size, datum, rounding_));
    }
    return worst.value;
  }

  /// Whether the latest residual takes a z_i with w_i > 0 for zero.
  [[nodiscard]] CAROM_INLINE bool conceded() const { return conceded_; }

  /// z without what rounding left in place of zeros: z_j that no row with a q feels. Of the z that
  /// `residual` has just found wanting; cleaned: [n]. False where there is nothing of the kind.
  CAROM_HOST_DEVICE bool clean(double* cleaned) const {
    feel_columns(false);
    const auto is_noise = [&](int j) {
      return at_.known[j] > 0.0 && kernels::magnitude(at_.known[j] * at_.z[j]) <= kNoise;
    };
    bool any = false;
    for (int j = 0; j < n_; ++j) any = any || (at_.z[j] > 0.0 && is_noise(j));
    if (any) {
      lanes_.for_each(n_, [&](int j) { cleaned[j] = is_noise(j) ? 0.0 : at_.z[j]; });
    }
    return any;
  }

 private:
  static constexpr double kNoise = 1e-11;  // share of a row's datum
  static constexpr double kFresh = 2.0;    // known_j of a z_j that the current round explains
  static constexpr int kFew = 4;

  CAROM_INLINE const double* row(int i) const { return matrix_ + static_cast<long>(i) * n_; }

  /// f(entry, j) along row i, a register at a time; after the row zeros.
  template <class F>
  CAROM_INLINE void each_entry(int i, F&& f) const {
    const double* from = row(i);
    if constexpr (kernels::HasPack<Lanes>) {
      int j = 0;
      for (; j + Lanes::kWidth <= n_; j += Lanes::kWidth) f(Lanes::Pack::load(from + j), j);
      if (j < n_) f(lanes_.first_of(from + j, n_ - j), j);
    } else {
      lanes_.for_each(n_, [&](int j) { f(from[j], j); });
    }
  }
  /// Sum of term(entry, j) along row i in one lane, in the order of kernels::accumulate_packed.
  template <class F>
  CAROM_INLINE double sum_row(int i, F&& term) const {
    const double* from = row(i);
    const int whole = n_ & ~(kernels::kPackPadding - 1);
    return kernels::accumulate_packed(lanes_, np_, [&](auto sum, int j) {
      using V = decltype(sum);
      if (j < whole) return sum + term(kernels::load<V>(from + j), j);
      if (j >= n_) return sum;
      if constexpr (kernels::HasPack<Lanes>) {
        if (j + Lanes::kWidth > n_) return sum + term(lanes_.first_of(from + j, n_ - j), j);
      }
      return sum + term(kernels::load<V>(from + j), j);
    });
  }

  /// w_i and the magnitudes of the products in it; zero after the last row.
  CAROM_INLINE void multiply(int i) const {
    at_.value[i] = 0.0;
    at_.size[i] = 0.0;
    if (i >= n_) return;
    const double* from = row(i);
    if constexpr (kernels::HasPack<Lanes>) {
      using Pack = typename Lanes::Pack;
      constexpr int kParts = kernels::kPackPadding / Lanes::kWidth;
      Pack sum[kParts];
      Pack size[kParts];
      for (int s = 0; s < kParts; ++s) sum[s] = size[s] = Pack(0.0);
      int part = 0;
      each_entry(i, [&](Pack entry, int j) {
        const Pack term = entry * Pack::load(at_.z + j);
        sum[part] = sum[part] + term;
        size[part] = size[part] + magnitude(term);
        part = kParts > 1 ? (part + 1) % kParts : 0;
      });
      at_.value[i] = at_.vector[i] + lanes_.sum(sum);
      at_.size[i] = lanes_.sum(size);
    } else {
      double sum[kernels::kPackPadding] = {};
      double size[kernels::kPackPadding] = {};
      for (int j = 0; j < n_; ++j) {
        const double term = from[j] * at_.z[j];
        sum[j % kernels::kPackPadding] += term;
        size[j % kernels::kPackPadding] += magnitude(term);
      }
      at_.value[i] = at_.vector[i] + (((sum[0] + sum[4]) + (sum[2] + sum[6])) +
                                      ((sum[1] + sum[5]) + (sum[3] + sum[7])));
      at_.size[i] =
          ((size[0] + size[4]) + (size[2] + size[6])) + ((size[1] + size[5]) + (size[3] + size[7]));
    }
  }

  template <class V>
  CAROM_INLINE LcpRow<V> row_of(int i) const {
    return {kernels::load<V>(at_.z + i), kernels::load<V>(at_.value + i),
            kernels::load<V>(at_.size + i), magnitude(kernels::load<V>(at_.vector + i)),
            noise_floor(n_)};
  }
  template <class V>
  CAROM_INLINE V seed(int i) const {
    return row_of<V>(i).seed();
  }

  /// The rows' data, from their q and the z that those explain.
  CAROM_HOST_DEVICE void explain() const {
    kernels::each_packed(lanes_, np_, [&](auto number, int i) {
      using V = decltype(number);
      kernels::store(at_.datum + i, seed<V>(i));
      kernels::store(at_.known + i, select(kernels::load<V>(at_.z + i) != V(0.0), V(0.0), V(1.0)));
    });
    const auto unknown = [&](auto number, int j) {
      return kernels::load<decltype(number)>(at_.known + j) < decltype(number)(1.0);
    };
    bool open = kernels::any_packed(lanes_, np_, unknown);
    int fresh = kFew + 1;  // z_j that the last round explained: their rows have another datum
    int few[kFew] = {};
    const auto met = [&](int i) {
      if (fresh > kFew) return true;
      for (int k = 0; k < fresh; ++k) {
        if (row(i)[few[k]] != 0.0) return true;
      }
      return false;
    };
    while (open) {
      for (int i = 0; i < n_ && open; ++i) {
        const double datum = at_.datum[i];
        if (!(datum > 0.0) || !met(i)) continue;
        each_entry(i, [&](auto entry, int j) {
          using V = decltype(entry);
          const V term = magnitude(entry * kernels::load<V>(at_.z + j));
          const V known = kernels::load<V>(at_.known + j);
          kernels::store(at_.known + j,
                         select(known > V(0.0), known, V(kFresh) * reached(term, V(datum))));
        });
        open = kernels::any_packed(lanes_, np_, unknown);
      }
      if (!open) break;
      fresh = static_cast<int>(kernels::sum_packed(lanes_, np_, [&](auto number, int j) {
        using V = decltype(number);
        return select(kernels::load<V>(at_.known + j) > V(1.0), V(1.0), V(0.0));
      }));
      if (fresh == 0) return;
      for (int k = 0; k < fresh && fresh <= kFew; ++k) {
        few[k] = static_cast<int>(kernels::argmin_packed(lanes_, np_, [&](auto number, int j) {
                                    using V = decltype(number);
                                    return select(kernels::load<V>(at_.known + j) > V(1.0), V(0.0),
                                                  V(kernels::kInfinity));
                                  }).index);
        lanes_.for_each(1, [&](int) { at_.known[few[k]] = 1.0; });
      }
      kernels::each_packed(lanes_, np_, [&](auto number, int j) {
        using V = decltype(number);
        kernels::store(at_.known + j, smaller(kernels::load<V>(at_.known + j), V(1.0)));
      });
      lanes_.for_each(n_, [&](int i) {
        if (!met(i)) return;
        at_.datum[i] = seed<double>(i) + sum_row(i, [&](auto entry, int j) {
                         using V = decltype(entry);
                         return kernels::load<V>(at_.known + j) *
                                magnitude(entry * kernels::load<V>(at_.z + j));
                       });
      });
    }
    if (open) return;
    kernels::each_packed(lanes_, np_, [&](auto number, int i) {
      using V = decltype(number);
      kernels::store(at_.datum + i, kernels::load<V>(at_.size + i) + seed<V>(i));
    });
  }

  /// known_j = the largest share of a row's datum that z_j of one has.
  /// all: of rows with q_i = 0 as well, which hold for any small enough z.
  CAROM_HOST_DEVICE void feel_columns(bool all) const {
    kernels::each_packed(lanes_, np_, [&](auto number, int j) {
      kernels::store(at_.known + j, decltype(number)(0.0));
    });
    for (int i = 0; i < n_; ++i) {
      const double own = row_of<double>(i).own;
      if (!all && own == 0.0) continue;
      const double datum = kernels::larger(at_.datum[i], own);
      const double share = 1.0 / kernels::larger(datum, kTiny);
      each_entry(i, [&](auto entry, int j) {
        using V = decltype(entry);
        kernels::store(at_.known + j,
                       larger(magnitude(entry) * V(share), kernels::load<V>(at_.known + j)));
      });
    }
  }

  const Lanes& lanes_;
  int n_, np_;
  double rounding_;
  bool conceded_ = false;
  const double* matrix_;
  LcpJudgeLayout<double*> at_;
};

/// The residual of z or, where that is not close to zero or concedes something, of z without what
/// rounding left in place of zeros, if that is less; z then loses it. memory:
/// lcp_judge_workspace(n) + n.
template <class Lanes>
CAROM_HOST_DEVICE double clean_lcp_residual(const Lanes& lanes, int n, const double* matrix,
                                            const double* vector, double* z, double* memory) {
  LcpJudge<Lanes> judge(lanes, n, matrix, vector, memory);
  const double as_is = judge.residual(z);
  const bool conceded = judge.conceded();
  double* cleaned = memory + lcp_judge_workspace(n);
  if ((as_is <= kLcpClose && !conceded) || !judge.clean(cleaned)) return as_is;
  const double without = judge.residual(cleaned);
  if (!(without < as_is || (conceded && without <= kLcpClose))) return as_is;
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
