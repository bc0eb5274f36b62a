#pragma once

#include <cstdint>

#include <carom/certificate_boxed_lcp.hpp>

namespace carom::cpu::simd {

/// certificate::BoxedLcpJudge with one problem per lane, the part that most answers need: the same
/// bits for residuals up to kLcpClose. Lanes with a larger residual need BoxedLcpJudge itself.
template <class Isa>
class BoxPackJudge {
  using Pack = typename Isa::Pack;
  using Mask = typename Isa::Mask;
  static constexpr int kWidth = Isa::kWidth;

 public:
  /// All [n, lane]: M [n, n, lane], whose place the terms |M_ij z_j| take; q; the box, that of
  /// friction rows included; z; out: w and the magnitudes of its terms; datum, known: scratch.
  struct Numbers {
    double* terms;
    const double* vector;
    const double* low;
    const double* high;
    const double* z;
    double* value;
    double* size;
    double* datum;
    double* known;
  };

  /// source(lane, j): BoxedLcpData::index.
  template <class Source>
  static Pack judge(int n, const Numbers& numbers, bool with_friction, Source&& source) {
    return BoxPackJudge(n, numbers).residual(with_friction, source);
  }

 private:
  BoxPackJudge(int n, const Numbers& numbers)
      : n_(n), rounding_(certificate::sum_rounding(n)), at_(numbers) {}

  static CAROM_INLINE Pack at(const double* array, long i) {
    return Pack::load(array + i * kWidth);
  }
  static CAROM_INLINE void put(double* array, long i, Pack value) {
    value.store(array + i * kWidth);
  }
  [[nodiscard]] CAROM_INLINE double* terms(int i) const {
    return at_.terms + static_cast<long>(i) * n_ * kWidth;
  }
  static CAROM_INLINE Mask equal(Pack a, Pack b) { return (a <= b) & (a >= b); }

  template <class Source>
  Pack residual(bool with_friction, Source&& source) const {
    certificate::MaxAbs<Pack> simple;
    Mask outside = Mask::from_bits(0);
    int first = 0;
    for (; first + 4 <= n_; first += 4) multiply<4>(first);
    for (; first < n_; ++first) multiply<1>(first);
    for (int i = 0; i < n_; ++i) {
      const Pack z = at(at_.z, i);
      outside = outside | !((z >= at(at_.low, i)) & (z <= at(at_.high, i)));
      simple.add(simple_share(i));
    }
    const Pack infinity(kernels::kInfinity);
    Pack result = select(outside, infinity, simple.value);
    const Mask close = result <= Pack(certificate::kLcpClose);
    if (all_of(close | outside)) return result;
    explain(with_friction, source);
    certificate::MaxAbs<Pack> strict;
    for (int i = 0; i < n_; ++i) {
      const Pack datum = at(at_.datum, i);
      strict.add(share(i, certificate::unit_of_residual(larger(datum, own(i)), own(i))) +
                 certificate::beyond_reach(at(at_.size, i), datum, rounding_));
    }
    return select(close | !(result < infinity), result, strict.value);
  }

  /// w of kRows rows and the magnitudes of their products, which replace M's.
  template <int kRows>
  CAROM_INLINE void multiply(int first) const {
    Pack sum[kRows];
    Pack size[kRows];
    for (int r = 0; r < kRows; ++r) {
      sum[r] = at(at_.vector, first + r);
      size[r] = Pack(0.0);
    }
    for (int j = 0; j < n_; ++j) {
      const Pack z = at(at_.z, j);
      for (int r = 0; r < kRows; ++r) {
        double* const row = terms(first + r);
        const Pack term = at(row, j) * z;
        const Pack long_as = magnitude(term);
        sum[r] = sum[r] + term;
        size[r] = size[r] + long_as;
        put(row, j, long_as);
      }
    }
    for (int r = 0; r < kRows; ++r) {
      put(at_.value, first + r, sum[r]);
      put(at_.size, first + r, size[r]);
    }
  }
  [[nodiscard]] CAROM_INLINE Pack own(int i) const {
    const Pack q = magnitude(at(at_.vector, i));
    return select(q <= Pack(certificate::noise_floor(n_)) * at(at_.size, i), Pack(0.0), q);
  }
  [[nodiscard]] CAROM_INLINE Pack share(int i, Pack unit) const {
    const Pack zero(0.0);
    const Pack w = at(at_.value, i);
    const Pack z = at(at_.z, i);
    const Mask at_low = equal(z, at(at_.low, i));
    const Mask at_high = equal(z, at(at_.high, i));
    const Mask right = (at_low & (w >= zero)) | (at_high & (w <= zero)) | (at_low & at_high);
    return select(right, zero * w,
                  certificate::missed(w, at(at_.size, i) + own(i), unit, rounding_));
  }
  [[nodiscard]] CAROM_INLINE Pack simple_share(int i) const {
    const Pack size = at(at_.size, i);
    const Pack by_own = share(i, own(i));
    const Mask plain =
        (size <= Pack(0.0)) | (Pack(rounding_) * size <= Pack(certificate::kHidden) * own(i));
    const Pack more(certificate::kLcpBeyondClose);
    return select(plain, by_own, select(by_own <= Pack(certificate::kLcpClose), more, by_own));
  }

  /// BoxedLcpJudge::explain. A lane that has ended keeps its numbers.
  template <class Source>
  void explain(bool with_friction, Source&& source) const {
    const Pack zero(0.0);
    const Pack one(1.0);
    const auto at_bound = [&](int j) {
      const Pack z = at(at_.z, j);
      return equal(z, at(at_.low, j)) | equal(z, at(at_.high, j));
    };
    const auto of_friction = [&](int j) {
      unsigned bits = 0;
      if (!with_friction) return Mask::from_bits(bits);
      for (int lane = 0; lane < kWidth; ++lane) {
        bits |= source(lane, j) >= 0 ? 1U << lane : 0U;
      }
      return Mask::from_bits(bits);
    };
    for (int j = 0; j < n_; ++j) {
      const Mask known = equal(at(at_.z, j), zero) | (at_bound(j) & !of_friction(j));
      put(at_.known, j, select(known, one, zero));
    }
    Mask ended = Mask::from_bits(0);
    Pack before(-1.0);
    for (int round = 0; round <= n_ + 1; ++round) {
      if (with_friction) {
        for (int j = 0; j < n_; ++j) {
          const Mask bound = at_bound(j) & of_friction(j);
          if (!any_of(bound)) continue;
          double known[kWidth];
          for (int lane = 0; lane < kWidth; ++lane) {
            const int from = source(lane, j);
            known[lane] = from < 0 ? 0.0 : at_.known[static_cast<long>(from) * kWidth + lane];
          }
          const Pack own = at(at_.known, j);
          put(at_.known, j, select(bound & !ended, larger(own, Pack::load(known)), own));
        }
        explain_sources(at_bound, of_friction, ended, source);
      }
      Pack count = zero;
      for (int i = 0; i < n_; ++i) {
        const double* row = terms(i);
        const Pack size = at(at_.size, i);
        Pack datum = select(own(i) <= Pack(2.0) * size, own(i), zero);
        for (int j = 0; j < n_; ++j) datum = datum + at(at_.known, j) * at(row, j);
        put(at_.datum, i, select(ended, at(at_.datum, i), datum));
        count = count + at(at_.known, i);
      }
      ended = ended | !(count > before);
      if (all_of(ended)) return;
      before = count;
      for (int i = 0; i < n_; ++i) {
        const double* row = terms(i);
        const Pack datum = at(at_.datum, i);
        const Mask explains = (datum > zero) & !ended;
        for (int j = 0; j < n_; ++j) {
          const Pack own = at(at_.known, j);
          const Pack found = larger(own, certificate::reached(at(row, j), datum));
          put(at_.known, j, select(explains, found, own));
        }
      }
    }
  }

  template <class AtBound, class OfFriction, class Source>
  void explain_sources(const AtBound& at_bound, const OfFriction& of_friction, Mask ended,
                       Source&& source) const {
    for (int i = 0; i < n_; ++i) {
      const Mask limit = at_bound(i) & of_friction(i) & (at(at_.high, i) > Pack(0.0)) & !ended;
      if (!any_of(limit)) continue;
      for (int lane = 0; lane < kWidth; ++lane) {
        if (((limit.bits() >> lane) & 1U) == 0) continue;
        double& known = at_.known[static_cast<long>(source(lane, i)) * kWidth + lane];
        known = kernels::larger(known, at_.known[static_cast<long>(i) * kWidth + lane]);
      }
    }
  }

  int n_;
  double rounding_;
  Numbers at_;
};

}  // namespace carom::cpu::simd
