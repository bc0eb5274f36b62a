#pragma once

#include <type_traits>

#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/pack_memory.hpp"
#include "cpu/simd/qp.hpp"

/// Attempts on packs of problems. Each instruction set's translation unit instantiates it
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
        n_(task_.shape.variables),
        rows_(task_.shape.rows),
        parts_(kernels::qp_first_parts(task_.settings.method, n_, rows_)),
        contacts_(is_contacts()) {}

  void run() {
    const bool pivots = kernels::begins_with_pivots(task_);
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
  using LaneMemory = IsaLaneMemory<Isa, Width>;
  using Problem = kernels::QpTaskProblem<IsaQpLane<Isa>, LaneMemory>;
  using Attempt = kernels::QpAttempt<V, Lanes, Memory, QpEntry<Isa, V, Width>>;

  static constexpr std::uint8_t kPending = 254;  ///< another attempt is to follow

  /// What the dual pivots left, packed anew.
  void run_pending() {
    int count = 0;
    for (std::int64_t p = range_.begin; p < range_.end; ++p) {
      if (task_.end[p] == kPending) problem_[count++] = p;
      if (count == Width || (count > 0 && p + 1 == range_.end)) {
        load_each(count);
        solve(QpMethod::interior_point, count);
        count = 0;
      }
    }
  }

  void load_each(int count) {
    for (int lane = 0; lane < Width; ++lane) {
      valid_[lane] = lane < count && problem(lane).load(problem_[lane]);
    }
    idle_invalid();
  }
  void idle_invalid() {
    for (int lane = 0; lane < Width; ++lane) {
      if (!valid_[lane]) idle(lane);
    }
  }

  double* lane_of(long part, int lane) const { return range_.workspace + part * Width + lane; }
  Problem problem(int lane) const { return {kOneLane, task_, parts_, {lane_of(0, lane)}}; }
  Memory part(long offset) const { return {reinterpret_cast<V*>(range_.workspace) + offset}; }

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
    for (int c = 0; c < task_.shape.cones; ++c) {
      const kernels::QpConeSpan& cone = task_.shape.cone[c];
      for (int i = cone.first; i < cone.first + cone.size; ++i) {
        lane_of(parts_.upper + i, lane)[0] = i == cone.first ? 1.0 : 0.0;
      }
    }
  }

  /// Four spatial contacts, for which the interior point is compiled of its own.
  [[nodiscard]] bool is_contacts() const {
    bool result = n_ == 12 && std::is_same_v<Lanes, IsaQpLane<Isa>>;
    for (int c = 0; c < task_.shape.cones; ++c) result = result && task_.shape.cone[c].size == 3;
    return result;
  }

  template <QpMethod Method, int N = 0, int ConeSize = 0>
  __attribute__((noinline)) kernels::QpOutcome<V> attempt() const {
    return Attempt(lanes_, task_, parts_, part(0)).template run<Method, N, ConeSize>();
  }
  template <QpMethod Method, int N = 0>
  __attribute__((noinline)) kernels::QpJudged<V> judge() const {
    return Attempt(lanes_, task_, parts_, part(0)).template judge<Method, N>();
  }

  void solve(QpMethod method, int count) {
    using enum QpMethod;
    switch (method) {
      case admm:
        start(count);
        return conclude<admm>(count, attempt<admm>());
      case projected:
        start(count);
        return conclude<projected>(count, attempt<projected>());
      case active_set:
        return conclude<active_set>(count,
                                    n_ == 12 ? attempt<active_set, 12>() : attempt<active_set>());
      default:
        return conclude<interior_point>(
            count, contacts_ ? attempt<interior_point, 12, 3>() : attempt<interior_point>());
    }
  }

  /// The caller's guess in x, y.
  void start(int count) const {
    for (int lane = 0; lane < Width; ++lane) {
      if (lane < count && valid_[lane]) {
        problem(lane).load_start(problem_[lane]);
      } else {
        problem(lane).load_pair(0, nullptr, nullptr, nullptr);
      }
    }
  }

  template <QpMethod Method>
  void conclude(int count, const kernels::QpOutcome<V>& outcome) const {
    const kernels::QpJudged<V> judged = n_ == 12 ? judge<Method, 12>() : judge<Method>();
    alignas(64) double end[Width];
    alignas(64) double iterations[Width];
    alignas(64) double residual[Width];
    alignas(64) double objective[Width];
    alignas(64) double doubt[Width];
    store_lanes<Width>(outcome.end, end);
    store_lanes<Width>(outcome.iterations, iterations);
    store_lanes<Width>(judged.value(), residual);
    store_lanes<Width>(judged.objective, objective);
    store_lanes<Width>(judged.doubt, doubt);
    for (int lane = 0; lane < count; ++lane) {
      const std::int64_t p = problem_[lane];
      if (!valid_[lane]) {
        problem(lane).refuse(p);
      } else if (problem(lane).conclude(p, Method, static_cast<std::uint8_t>(end[lane]),
                                        static_cast<int>(iterations[lane]), residual[lane],
                                        objective[lane],
                                        doubt[lane]) == kernels::QpLeft::another_attempt) {
        task_.end[p] = kPending;
      }
    }
  }

  static constexpr IsaQpLane<Isa> kOneLane{};

  const QpRange& range_;
  const kernels::QpTaskArrays& task_;
  Lanes lanes_;
  int n_;
  int rows_;
  kernels::QpTaskParts parts_;
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
