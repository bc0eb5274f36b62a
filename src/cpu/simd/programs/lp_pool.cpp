#include CAROM_ISA_HEADER

#include "cpu/simd/programs/lp_pool.hpp"

#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/packed_lane.hpp"
#include "cpu/simd/programs/qp_wide_linear.hpp"

namespace carom::cpu::simd {

namespace {

using kernels::kInfinity;
using kernels::larger;
using kernels::magnitude;

template <class Isa>
class LpPool {
  using Vector = Eight<Isa>;
  using Linear = Wide<Isa>;

 public:
  explicit LpPool(const LpPoolRange& range)
      : range_(range),
        arrays_(*range.arrays),
        m_(arrays_.rows),
        n_(arrays_.columns),
        width_(lp_pool_padded(m_)),
        judge_(lanes_, m_, n_, range.workspace),
        lower_(range.workspace + (judge_.lower() - range.workspace)),
        upper_(range.workspace + (judge_.upper() - range.workspace)) {
    double* at = range.workspace + lp_pool_padded(certificate::lp_certificate_workspace(m_, n_));
    for (double** part : {&value_, &entry_, &basic_}) {
      *part = at;
      at += width_;
    }
    x_ = at;
  }

  void run() {
    judge_.load(data(range_.begin));
    judge_.load_cost(arrays_.cost);
    for (std::int64_t p = range_.begin; p < range_.end; ++p) range_.taken[p] = try_all(p) ? 1 : 0;
  }

 private:
  static constexpr double kSharp = 1e-3;  // of the tolerance, as LpSolver asks it
  static constexpr double kMixed = 1e-9;
  static constexpr double kNear = 1e-9;  // of the values: what the certificate is asked about

  [[nodiscard]] certificate::LpData data(std::int64_t p) const {
    return {m_,
            n_,
            arrays_.cost,
            arrays_.matrix,
            arrays_.row_lower + p * m_,
            arrays_.row_upper + p * m_,
            arrays_.column_lower + p * n_,
            arrays_.column_upper + p * n_};
  }

  /// Other bounds for the certificate, which keeps the matrix. False where they are in disorder.
  bool take(const certificate::LpData& lp) {
    const int columns = static_cast<int>(lp_pool_padded(n_));
    kernels::copy_padded(lanes_, n_, lp.column_lower, lower_, columns);
    kernels::copy_padded(lanes_, n_, lp.column_upper, upper_, columns);
    kernels::copy_padded(lanes_, m_, lp.row_lower, lower_ + columns);
    kernels::copy_padded(lanes_, m_, lp.row_upper, upper_ + columns);
    using kernels::select;
    return !kernels::any_packed(
        lanes_, columns + static_cast<int>(width_), [&](auto number, int j) {
          using V = decltype(number);
          const V l = kernels::load<V>(lower_ + j);
          const V u = kernels::load<V>(upper_ + j);
          const V good =
              select((l <= u) & (l < V(kInfinity)) & (u > V(-kInfinity)), V(1.0), V(0.0));
          return good < V(1.0);
        });
  }
  /// Whether a bound is so small relative to the values that rounding of these could hide it.
  bool is_mixed() {
    using kernels::select;
    using kernels::smaller;
    const int count = static_cast<int>(lp_pool_padded(n_) + width_);
    const double smallest =
        kernels::argmin_packed(lanes_, count, [&](auto number, int j) {
          using V = decltype(number);
          const V l = magnitude(kernels::load<V>(lower_ + j));
          const V u = magnitude(kernels::load<V>(upper_ + j));
          return smaller(select(l > V(0.0), l, V(kInfinity)), select(u > V(0.0), u, V(kInfinity)));
        }).key;
    return smallest < kMixed * size_;
  }

  bool try_all(std::int64_t p) {
    int& first = range_.start[p];
    if (!take(data(p))) return false;
    double least = kInfinity;
    int best = -1;
    const int own = first;
    for (int c = own < 0 ? 0 : -1; c < range_.candidates; ++c) {
      const int basis = c < 0 ? own : range_.order[c];
      if (c >= 0 && basis == own) continue;
      const double violation = point_of(p, range_.bases[basis]);
      if (violation <= kNear * size_ && certify(p, range_.bases[basis])) {
        first = basis;
        return true;
      }
      if (violation < least) {
        least = violation;
        best = basis;
      }
    }
    if (best >= 0) first = best;
    return false;
  }

  /// x of a basis, and how far it misses the bounds.
  double point_of(std::int64_t p, const LpPoolBasis& basis) {
    const certificate::LpData lp = data(p);
    size_ = 0.0;
    for (int j = 0; j < n_; ++j) {
      x_[j] = standing(basis.status[j], lp.column_lower[j], lp.column_upper[j]);
      size_ = larger(magnitude(x_[j]), size_);
    }
    if (!(size_ < kInfinity)) return kInfinity;
    Linear::combine(static_cast<int>(width_ / 8), n_, x_, range_.transposed, width_, nullptr,
                    value_);
    solve(lp, basis);
    double missed = 0.0;
    for (int k = 0; k < basis.count; ++k) {
      const int j = basis.column[k];
      size_ = larger(magnitude(x_[j]), size_);
      missed = larger(larger(lp.column_lower[j] - x_[j], x_[j] - lp.column_upper[j]), missed);
    }
    for (int i = 0; i < m_; ++i) {
      size_ = larger(magnitude(value_[i]), size_);
      missed = larger(larger(lp.row_lower[i] - value_[i], value_[i] - lp.row_upper[i]), missed);
    }
    return missed;
  }
  static double standing(BasisStatus status, double lower, double upper) {
    switch (status) {
      case BasisStatus::at_lower:
        return lower;
      case BasisStatus::at_upper:
        return upper;
      default:
        return 0.0;
    }
  }
  /// Moves the basic columns so that the rows that are not basic are where they stand.
  void solve(const certificate::LpData& lp, const LpPoolBasis& basis) {
    const int k = basis.count;
    const long padded = lp_pool_padded(k);
    for (int r = 0; r < k; ++r) {
      const int i = basis.row[r];
      entry_[r] = standing(basis.status[n_ + i], lp.row_lower[i], lp.row_upper[i]) - value_[i];
    }
    Linear::combine(static_cast<int>(padded / 8), k, entry_, basis.inverse, padded, nullptr,
                    basic_);
    for (int c = 0; c < k; ++c) {
      const int j = basis.column[c];
      x_[j] += basic_[c];
      const double* column = range_.transposed + j * width_;
      const Vector by(basic_[c]);
      for (long v = 0; v < width_; v += 8) {
        fused(by, Vector::load(column + v), Vector::load(value_ + v)).store(value_ + v);
      }
    }
  }

  bool certify(std::int64_t p, const LpPoolBasis& basis) {
    double residual = judge_.residual(x_, basis.dual);
    if (!is_sharp(residual)) {  // once more, by what is left
      solve(data(p), basis);
      residual = judge_.residual(x_, basis.dual);
    }
    if (!is_sharp(residual) || is_mixed()) return false;
    kernels::write_lp(lanes_, arrays_, p, {Status::solved, 0, residual}, x_, basis.dual, nullptr,
                      nullptr, judge_.objective());
    for (int j = 0; j < n_ + m_; ++j) arrays_.basis[p * (n_ + m_) + j] = basis.status[j];
    return true;
  }
  bool is_sharp(double residual) {
    return certificate::within(residual, kSharp * arrays_.tolerance) && !judge_.widened();
  }

  const LpPoolRange& range_;
  const kernels::LpArrays& arrays_;
  int m_, n_;
  long width_;
  PackedLane<Isa> lanes_{};
  certificate::LpCertificate<PackedLane<Isa>> judge_;
  double *lower_, *upper_;  // the certificate's
  double size_ = 0.0;
  double *value_, *entry_, *basic_, *x_;
};

}  // namespace

template <class Isa>
void pool_lps(const LpPoolRange& range) {
  LpPool<Isa>(range).run();
}
template void pool_lps<CAROM_ISA>(const LpPoolRange&);

}  // namespace carom::cpu::simd
