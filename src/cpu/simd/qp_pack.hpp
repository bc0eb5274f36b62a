#pragma once

#include <type_traits>

#include <carom/certificate_qp.hpp>
#include <carom/device/qp_problem.hpp>

#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/pack_memory.hpp"
#include "cpu/simd/qp.hpp"
#include "programs/qp/body/admm_qp_body.hpp"
#include "programs/qp/body/projected_qp_body.hpp"
#include "programs/qp/body/qp_dual_pivot_body.hpp"
#include "programs/qp/body/qp_interior_point_body.hpp"

/// The bodies on packs of problems. Each instruction set's translation unit instantiates it
/// with types of its own, so that none shares code with another.
namespace carom::cpu::simd {

template <class Isa>
struct IsaQpLane {
  template <class F>
  CAROM_INLINE void for_each(int count, F&& f) const {
    for (int i = 0; i < count; ++i) f(i);
  }
  template <class F>
  CAROM_INLINE void for_each_2d(int rows, int columns, F&& f) const {
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) f(i, j);
    }
  }
};

/// to[e * Width + lane] = from[lane * stride + e] for e < count; `refused` collects zeros, or NaN
/// in the lanes of numbers that are not finite. Instruction sets that can transpose in registers
/// specialise it.
template <class Isa, class V, int Width>
struct QpSpread {
  static CAROM_INLINE void run(const double* from, long stride, long count, double* to,
                               V& refused) {
    for (long e = 0; e < count; ++e) {
      for (int lane = 0; lane < Width; ++lane) to[e * Width + lane] = from[lane * stride + e];
      refused = refused + reinterpret_cast<const V*>(to)[e] * V(0.0);
    }
  }
};

/// An entry of its own for each lane of a table of packs.
template <class Isa, class V, int Width>
struct QpEntry {
  template <class Memory>
  static CAROM_INLINE V take(const Memory& table, V index) {
    alignas(64) double at[Width];
    alignas(64) double entry[Width];
    index.store(at);
    const auto* values = reinterpret_cast<const double*>(table.data);
    for (int lane = 0; lane < Width; ++lane) {
      entry[lane] = values[static_cast<long>(at[lane]) * Width + lane];
    }
    return V::load(entry);
  }
  /// Only where `on`.
  template <class Memory, class Mask>
  static CAROM_INLINE void put(const Memory& table, Mask on, V index, V value) {
    alignas(64) double at[Width];
    alignas(64) double entry[Width];
    index.store(at);
    value.store(entry);
    auto* values = reinterpret_cast<double*>(table.data);
    for (unsigned bits = on.bits(); bits != 0; bits &= bits - 1) {
      const int lane = kernels::lowest_bit(bits);
      values[static_cast<long>(at[lane]) * Width + lane] = entry[lane];
    }
  }
};
template <class Isa>
struct QpEntry<Isa, double, 1> : kernels::QpOneEntry {};

/// V: a pack of Width doubles, or double with Width 1.
template <class Isa, class V, int Width, class Lanes = IsaQpLane<Isa>>
class QpPackRun {
 public:
  __attribute__((always_inline)) explicit QpPackRun(const QpRange& range, const Lanes& lanes = {})
      : range_(range),
        task_(*range.task),
        lanes_(lanes),
        shape_(task_.shape),
        n_(shape_.variables),
        rows_(shape_.rows),
        max_iterations_(task_.settings.limit(task_.settings.method, n_, rows_)),
        parts_(qp_parts(n_, rows_)),
        contacts_(is_contacts()) {}

  void run() {
    const bool pivots = task_.settings.method == QpMethod::automatic &&
                        kernels::takes_dual_pivots(n_, rows_, shape_.cones);
    for (std::int64_t p = range_.begin; p < range_.end; p += Width) {
      const int count = range_.end - p < Width ? static_cast<int>(range_.end - p) : Width;
      for (int lane = 0; lane < count; ++lane) problem_[lane] = p + lane;
      if (count == Width) {
        load_all(p);
        idle_invalid();
      } else {
        load_each(count);
      }
      solve(pivots ? QpMethod::active_set : task_.settings.method, count);
    }
    if (pivots) run_pending();
  }

 private:
  using Memory = IsaMemory<Isa, V>;
  using ConstMemory = IsaMemory<Isa, const V>;

  /// What the active set left, packed anew.
  void run_pending() {
    int count = 0;
    for (std::int64_t p = range_.begin; p < range_.end; ++p) {
      if (task_.end[p] == kPendingEnd) problem_[count++] = p;
      if (count == Width || (count > 0 && p + 1 == range_.end)) {
        load_each(count);
        solve(QpMethod::interior_point, count);
        count = 0;
      }
    }
  }

  void load_each(int count) {
    for (int lane = 0; lane < Width; ++lane) {
      valid_[lane] = lane < count && load(problem_[lane], lane);
    }
    idle_invalid();
  }
  void idle_invalid() {
    for (int lane = 0; lane < Width; ++lane) {
      if (!valid_[lane]) idle(lane);
    }
  }

  double* lane_of(long part, int lane) const { return range_.workspace + part * Width + lane; }

  /// Spreads a full pack of problems over the lanes.
  void load_all(std::int64_t first) {
    const long n = n_;
    const long m = task_.interval_rows;
    const long k = rows_ - m;
    V refused(0.0);
    V bounds(0.0);  // which may be infinite
    const auto take = [&](const double* from, long count, long to, V& sum) {
      if (count == 0) return;
      QpSpread<Isa, V, Width>::run(from + first * count, count, count, lane_of(to, 0), sum);
    };
    take(task_.hessian, n * n, parts_.hessian, refused);
    take(task_.vector, n, parts_.gradient, refused);
    take(task_.matrix, m * n, parts_.matrix, refused);
    take(task_.cone_matrix, k * n, parts_.matrix + m * n, refused);
    take(task_.lower, m, parts_.lower, bounds);
    take(task_.upper, m, parts_.upper, bounds);
    take(task_.cone_vector, k, parts_.upper + m, refused);
    using kernels::select;
    const V infinity(kernels::kInfinity);
    const Memory lower = part(parts_.lower);
    const Memory upper = part(parts_.upper);
    for (long i = 0; i < m; ++i) {
      refused = select(lower[i] < infinity, refused, infinity);
      refused = select(upper[i] > -infinity, refused, infinity);
    }
    for (long i = m; i < rows_; ++i) {
      const bool equation = task_.equation[i] != 0;
      lower[i] = equation ? upper[i] : -infinity;
    }
    alignas(64) double sums[Width];
    store_lanes<Width>(refused, sums);
    for (int lane = 0; lane < Width; ++lane) valid_[lane] = sums[lane] == 0.0;
  }

  /// Spreads one problem over a lane. False where a number is refused.
  bool load(std::int64_t p, int lane) {
    const long n = n_;
    const long m = task_.interval_rows;
    const long k = rows_ - m;
    double refused = 0.0;  // NaN once something was
    const auto copy = [&](double* to, const double* from, long count) {
      for (long e = 0; e < count; ++e) to[e * Width] = from[e];
    };
    const auto check = [&](const double* from, long count) {
      double sum = 0.0;
      for (long e = 0; e < count; ++e) sum += from[e] * 0.0;
      refused += sum;
    };
    const double* hessian = task_.hessian + p * n * n;
    check(hessian, n * n);
    for (long i = 0; i < n; ++i) {
      copy(lane_of(parts_.hessian + i * n, lane), hessian + i * n, i + 1);
    }
    const double* vector = task_.vector + p * n;
    check(vector, n);
    copy(lane_of(parts_.gradient, lane), vector, n);
    const double* matrix = task_.matrix + p * m * n;
    const double* cone_matrix = task_.cone_matrix + p * k * n;
    check(matrix, m * n);
    check(cone_matrix, k * n);
    for (long i = 0; i < rows_; ++i) {
      const double* row = i < m ? matrix + i * n : cone_matrix + (i - m) * n;
      double* to = lane_of(parts_.matrix + i * n, lane);
      for (int t = shape_.row_first[i]; t < shape_.row_first[i + 1]; ++t) {
        const long j = shape_.column[t];
        to[j * Width] = row[j];
      }
    }
    double* lower = lane_of(parts_.lower, lane);
    double* upper = lane_of(parts_.upper, lane);
    for (long i = 0; i < m; ++i) {
      const double l = task_.lower[p * m + i];
      const double u = task_.upper[p * m + i];
      lower[i * Width] = l;
      upper[i * Width] = u;
      if (!(l < kernels::kInfinity) || !(u > -kernels::kInfinity)) refused += kernels::kInfinity;
    }
    const double* b = task_.cone_vector + p * k;
    check(b, k);
    for (long i = m; i < rows_; ++i) {
      const bool equation = task_.equation[i] != 0;
      lower[i * Width] = equation ? b[i - m] : -kernels::kInfinity;
      upper[i * Width] = b[i - m];
    }
    return refused == 0.0;
  }

  /// A problem that ends at once.
  void idle(int lane) {
    const long n = n_;
    for (long e = 0; e < n * n; ++e) lane_of(parts_.hessian, lane)[e * Width] = 0.0;
    for (long j = 0; j < n; ++j) {
      lane_of(parts_.hessian + j * n + j, lane)[0] = 1.0;
      lane_of(parts_.gradient + j, lane)[0] = 0.0;
    }
    for (long e = 0; e < rows_ * n; ++e) lane_of(parts_.matrix, lane)[e * Width] = 0.0;
    for (long i = 0; i < rows_; ++i) {
      lane_of(parts_.lower + i, lane)[0] = -kernels::kInfinity;
      lane_of(parts_.upper + i, lane)[0] = kernels::kInfinity;
    }
    for (int c = 0; c < shape_.cones; ++c) {
      const kernels::QpConeSpan& cone = shape_.cone[c];
      for (int i = cone.first; i < cone.first + cone.size; ++i) {
        lane_of(parts_.upper + i, lane)[0] = i == cone.first ? 1.0 : 0.0;
      }
    }
  }

  Memory part(long offset) const { return {reinterpret_cast<V*>(range_.workspace) + offset}; }
  ConstMemory input(long offset) const {
    return {reinterpret_cast<const V*>(range_.workspace) + offset};
  }

  template <class Body>
  void read(const Body& body) const {
    const Memory x = part(parts_.x);
    const Memory y = part(parts_.y);
    for (int j = 0; j < n_; ++j) x[j] = body.solution(j);
    for (int i = 0; i < rows_; ++i) y[i] = body.dual(i);
  }

  template <class Body>
  kernels::QpOutcome<V> first_order(const kernels::QpView<ConstMemory>& view, int count) {
    for (int lane = 0; lane < Width; ++lane) {
      const bool given = lane < count && valid_[lane];
      const auto fill = [&](long to, const double* from, long size) {
        double* values = lane_of(to, lane);
        for (long e = 0; e < size; ++e) {
          values[e * Width] = given && from != nullptr ? from[problem_[lane] * size + e] : 0.0;
        }
      };
      const long m = task_.interval_rows;
      fill(parts_.x, task_.start.solution, n_);
      fill(parts_.y, task_.start.dual, m);
      fill(parts_.y + m, task_.start.cone_dual, rows_ - m);
    }
    Body body(lanes_, shape_, part(parts_.body));
    const kernels::QpOutcome<V> outcome =
        body.solve(view, task_.settings.first_order(task_.settings.method, n_, rows_),
                   part(parts_.x), part(parts_.y));
    read(body);
    return outcome;
  }

  /// Four spatial contacts, for which the interior point is compiled of its own.
  [[nodiscard]] bool is_contacts() const {
    bool result = n_ == 12 && std::is_same_v<Lanes, IsaQpLane<Isa>>;
    for (int c = 0; c < shape_.cones; ++c) result = result && shape_.cone[c].size == 3;
    return result;
  }

  template <int N>
  __attribute__((noinline)) kernels::QpOutcome<V> dual_pivots(
      const kernels::QpView<ConstMemory>& view) {
    kernels::QpDualPivots<V, Memory, QpEntry<Isa, V, Width>, N> body(shape_, part(parts_.body));
    const int most = 4 * (n_ + rows_);
    const auto outcome = body.solve(
        view, {task_.settings.tolerance, max_iterations_ < most ? max_iterations_ : most});
    read(body);
    return outcome;
  }

  template <int N, int ConeSize>
  __attribute__((noinline)) kernels::QpOutcome<V> interior_point(
      const kernels::QpView<ConstMemory>& view) {
    kernels::QpInteriorPoint<V, Lanes, Memory, N, ConeSize> body(lanes_, shape_, part(parts_.body));
    const auto outcome = body.solve(
        view, {kernels::interior_point_aim(n_, task_.settings.tolerance), max_iterations_, true});
    read(body);
    return outcome;
  }

  /// N: the number of variables where it is known in advance, or 0. clean: what rounding left in
  /// place of zeros may go.
  template <int N>
  __attribute__((noinline)) certificate::QpResidual<V> judge(
      const kernels::QpView<ConstMemory>& view, bool clean) {
    kernels::QpShape shape = shape_;
    if constexpr (N > 0) shape.variables = N;
    const certificate::QpJudge<V, Lanes, ConstMemory, Memory> judge(lanes_, shape, view,
                                                                    part(parts_.work));
    const Memory x = part(parts_.x);
    const Memory y = part(parts_.y);
    const certificate::QpResidual<V> as_is = judge.residual(x, y);
    using kernels::any_of;
    using kernels::select;
    const auto wanting = as_is.value() > V(task_.settings.tolerance);
    if (!clean || !any_of(wanting)) return as_is;
    judge.clean(x, y, select(wanting, V(1.0), V(0.0)));
    return judge.residual(x, y);
  }

  void solve(QpMethod method, int count) {
    const kernels::QpView<ConstMemory> view{input(parts_.hessian), input(parts_.gradient),
                                            input(parts_.matrix), input(parts_.lower),
                                            input(parts_.upper)};
    kernels::QpOutcome<V> outcome;
    if (method == QpMethod::admm) {
      outcome = first_order<kernels::AdmmQp<V, Lanes, Memory>>(view, count);
    } else if (method == QpMethod::projected) {
      outcome = first_order<kernels::ProjectedQp<V, Lanes, Memory>>(view, count);
    } else if (method == QpMethod::active_set) {
      outcome = n_ == 12 ? dual_pivots<12>(view) : dual_pivots<0>(view);
    } else {
      outcome = contacts_ ? interior_point<12, 3>(view) : interior_point<0, 0>(view);
    }
    const bool exact = method == QpMethod::active_set;
    const certificate::QpResidual<V> judged =
        n_ == 12 ? judge<12>(view, exact) : judge<0>(view, exact);
    alignas(64) double end[Width];
    alignas(64) double iterations[Width];
    alignas(64) double residual[Width];
    alignas(64) double objective[Width];
    store_lanes<Width>(outcome.end, end);
    store_lanes<Width>(outcome.iterations, iterations);
    store_lanes<Width>(judged.value(), residual);
    store_lanes<Width>(judged.objective, objective);
    for (int lane_index = 0; lane_index < count; ++lane_index) {
      const std::int64_t p = problem_[lane_index];
      std::uint8_t& code = task_.end[p];
      code = valid_[lane_index] ? static_cast<std::uint8_t>(end[lane_index]) : kInvalidEnd;
      if (method == QpMethod::active_set && code != kInvalidEnd &&
          !(code == static_cast<std::uint8_t>(kernels::qp_end::kActiveSet) &&
            residual[lane_index] <= task_.settings.tolerance)) {
        code = kPendingEnd;
        continue;
      }
      task_.iterations[p] = static_cast<std::int32_t>(iterations[lane_index]);
      task_.residual[p] = residual[lane_index];
      task_.objective[p] = objective[lane_index];
      double* solution = task_.solution + p * n_;
      double* multiplier = range_.multiplier + (p - range_.begin) * rows_;
      const double* from_x = lane_of(parts_.x, lane_index);
      const double* from_y = lane_of(parts_.y, lane_index);
      for (long j = 0; j < n_; ++j) solution[j] = from_x[j * Width];
      for (long i = 0; i < rows_; ++i) multiplier[i] = from_y[i * Width];
    }
  }

  const QpRange& range_;
  const kernels::QpTaskArrays& task_;
  Lanes lanes_;
  const kernels::QpShape& shape_;
  int n_;
  int rows_;
  int max_iterations_;
  QpParts parts_;
  bool contacts_;
  std::int64_t problem_[Width] = {};  ///< of each lane
  bool valid_[Width] = {};
};

template <class Isa>
void solve_qps(const QpRange& range) {
  if constexpr (Isa::kPacksPay) {
    if (range.task->shape.variables <= kLargestPackedQp && range.end - range.begin > 1) {
      QpPackRun<Isa, typename Isa::Pack, Isa::kWidth>(range).run();
      return;
    }
  }
  QpPackRun<Isa, double, 1>(range).run();
}

}  // namespace carom::cpu::simd
