#pragma once

#include <carom/certificate_lcp.hpp>

#include "cpu/simd/padding.hpp"
#include "cpu/simd/spread.hpp"

namespace carom::cpu::simd {

/// Largest order whose answers are judged a problem a lane: rows of larger ones fill registers.
inline constexpr int kMostJudgedInPacks = 16;

/// Scratch of LcpPackJudge, of the widest instruction set.
constexpr long lcp_pack_judge_reals(int n) {
  return n <= kMostJudgedInPacks ? (n + 7L) * n * kLargestPadding : 0;
}

/// certificate::LcpJudge with one problem a lane, as far as most answers need it: the same bits up
/// to kLcpClose. A lane whose residual is not that close wants LcpJudge itself.
template <class Isa>
class LcpPackJudge {
  using Pack = typename Isa::Pack;
  using Mask = typename Isa::Mask;
  static constexpr int kWidth = Isa::kWidth;
  static constexpr int kParts = kernels::kPackPadding;

 public:
  LcpPackJudge(int n, double* memory)
      : n_(n),
        rounding_(certificate::sum_rounding(n)),
        terms_(memory),
        vector_(terms_ + static_cast<long>(n) * n * kWidth),
        z_(vector_ + static_cast<long>(n) * kWidth),
        value_(z_ + static_cast<long>(n) * kWidth),
        size_(value_ + static_cast<long>(n) * kWidth),
        datum_(size_ + static_cast<long>(n) * kWidth),
        known_(datum_ + static_cast<long>(n) * kWidth),
        reach_(known_ + static_cast<long>(n) * kWidth) {}

  /// M and q of the lanes.
  void load(const double* const* matrix, const double* const* vector) {
    spread<kWidth>(matrix, n_ * n_, terms_);
    spread<kWidth>(vector, n_, vector_);
  }
  [[nodiscard]] const double* matrix() const { return terms_; }
  [[nodiscard]] const double* vector() const { return vector_; }
  /// Where an answer belongs, [n, lane]; what stands after it, [n + 1, lane], is free until then.
  [[nodiscard]] double* z() const { return z_; }

  /// What was loaded with the answer in `z`, once; residual: [lanes], of those whose numbers are
  /// all finite.
  void judge(double* residual) const {
    const LcpPackJudge self = *this;  // which stores of packs might change
    self.judge_loaded(residual);
  }

 private:
  CAROM_INLINE void judge_loaded(double* residual) const {
    Pack simple(0.0);
    for (int i = 0; i < n_; ++i) {
      multiply(i);
      simple = largest(row_of(i).simple_share(rounding_), simple);
    }
    const Mask close = simple <= Pack(certificate::kLcpClose);
    if (!all_of(close)) {
      explain();
      Pack strict(0.0);
      for (int i = 0; i < n_; ++i) {
        const Pack datum = at(datum_, i);
        strict = largest(row_of(i).relative_share(datum, rounding_) +
                             certificate::beyond_reach(at(size_, i), datum, rounding_),
                         strict);
      }
      const Pack more = select(simple < Pack(kernels::kInfinity), strict, simple);
      simple = select(close, simple, more);
    }
    simple.store(residual);
  }

  static CAROM_INLINE Pack at(const double* array, int i) {
    return Pack::load(array + static_cast<long>(i) * kWidth);
  }
  static CAROM_INLINE void put(double* array, int i, Pack value) {
    value.store(array + static_cast<long>(i) * kWidth);
  }
  /// As kernels::largest_packed.
  static CAROM_INLINE Pack largest(Pack x, Pack most) {
    return select(x <= most, most, select(x != x, Pack(kernels::kInfinity), x));
  }
  /// Eight partial sums as kernels::accumulate_packed joins them.
  static CAROM_INLINE Pack joined(const Pack* s) {
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
  }
  [[nodiscard]] CAROM_INLINE double* terms(int i) const {
    return terms_ + static_cast<long>(i) * n_ * kWidth;
  }
  [[nodiscard]] CAROM_INLINE certificate::LcpRow<Pack> row_of(int i) const {
    return {at(z_, i), at(value_, i), at(size_, i), magnitude(at(vector_, i)),
            certificate::noise_floor(n_)};
  }
  /// f(part, j) along a row; `part` is known where this is unrolled.
  template <class F>
  CAROM_INLINE void each_entry(F&& f) const {
    for (int first = 0; first < n_; first += kParts) {
      for (int part = 0; part < kParts; ++part) {
        if (first + part < n_) f(part, first + part);
      }
    }
  }

  /// w_i and the magnitudes of its products, which replace row i of M.
  CAROM_INLINE void multiply(int i) const {
    double* row = terms(i);
    Pack sum[kParts];
    Pack size[kParts];
    for (int s = 0; s < kParts; ++s) sum[s] = size[s] = Pack(0.0);
    each_entry([&](int part, int j) {
      const Pack term = at(row, j) * at(z_, j);
      const Pack long_as = magnitude(term);
      sum[part] = sum[part] + term;
      size[part] = size[part] + long_as;
      put(row, j, long_as);
    });
    put(value_, i, at(vector_, i) + joined(sum));
    put(size_, i, joined(size));
  }

  /// LcpJudge::explain. Rows that a lane no longer needs change nothing in it.
  CAROM_INLINE void explain() const {
    const Pack zero(0.0);
    const Pack one(1.0);
    Mask open = Mask::from_bits(0);
    for (int i = 0; i < n_; ++i) {
      put(datum_, i, row_of(i).seed());
      const Mask there = at(z_, i) != zero;
      put(known_, i, select(there, zero, one));
      open = open | there;
    }
    const Pack explained(certificate::kExplained);
    Mask ended = Mask::from_bits(0);  // open, and nothing more to be had
    Pack before(-1.0);
    for (int round = 0; any_of(open) && round <= n_; ++round) {
      for (int i = 0; i < n_; ++i) put(reach_, i, explained * at(datum_, i));
      open = Mask::from_bits(0);
      for (int j = 0; j < n_; ++j) {
        Mask now = at(known_, j) > zero;
        for (int i = 0; i < n_; ++i) {  // certificate::reached
          const Pack term = at(terms(i), j);
          now = now | ((term > zero) & (term <= at(reach_, i)));
        }
        put(known_, j, select(now, one, zero));
        open = open | !now;
      }
      if (!any_of(open & !ended)) break;
      Pack count = zero;
      for (int j = 0; j < n_; ++j) count = count + at(known_, j);
      for (int i = 0; i < n_; ++i) {
        const double* row = terms(i);
        Pack sum[kParts];
        for (Pack& part : sum) part = zero;
        each_entry([&](int part, int j) { sum[part] = sum[part] + at(known_, j) * at(row, j); });
        put(datum_, i, select(ended, at(datum_, i), row_of(i).seed() + joined(sum)));
      }
      ended = ended | (open & (count <= before));
      before = count;
      if (all_of(ended | !open)) break;
    }
    for (int i = 0; i < n_; ++i) {
      put(datum_, i, select(open | ended, at(datum_, i), at(size_, i) + row_of(i).seed()));
    }
  }

  int n_;
  double rounding_;
  double* terms_;   // [n, n, lane] M, then |M_ij z_j|
  double* vector_;  // [n, lane], as all below
  double* z_;
  double* value_;
  double* size_;
  double* datum_;
  double* known_;
  double* reach_;
};

}  // namespace carom::cpu::simd
