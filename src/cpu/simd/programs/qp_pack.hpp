#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>

#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/pack_memory.hpp"
#include "cpu/simd/programs/qp.hpp"
#include "cpu/simd/programs/qp_spread.hpp"
#include "cpu/simd/programs/qp_wide_active_set.hpp"
#include "cpu/simd/programs/qp_wide_conclude.hpp"
#include "programs/qp/kernels/qp_pivot_table.hpp"
#include "programs/qp/kernels/qp_proofs.hpp"

/// Attempts on packs of problems. Each instruction set's translation unit instantiates it
/// with types of its own, so that none shares code with another.
namespace carom::cpu::simd {

/// An entry of its own for each lane of a table of packs.
template <class Isa, class V, int Width>
struct QpEntry {
  static constexpr bool kProximal = true;
  struct Place {
    long of[Width];
  };

  static CAROM_INLINE Place place(V index) {
    alignas(64) double at[Width];
    index.store(at);
    Place place;
    for (int lane = 0; lane < Width; ++lane) place.of[lane] = static_cast<long>(at[lane]);
    return place;
  }
  template <class Memory>
  static CAROM_INLINE V take(const Memory& table, const Place& place) {
    const auto* values = reinterpret_cast<const double*>(table.data);
    alignas(64) double entry[Width];
    for (int lane = 0; lane < Width; ++lane) entry[lane] = values[place.of[lane] * Width + lane];
    return V::load(entry);
  }
  /// Only where `on`.
  template <class Memory, class Mask>
  static CAROM_INLINE void put(const Memory& table, Mask on, const Place& place, V value) {
    alignas(64) double entry[Width];
    value.store(entry);
    auto* values = reinterpret_cast<double*>(table.data);
    kernels::over_bits(on.bits(),
                       [&](int lane) { values[place.of[lane] * Width + lane] = entry[lane]; });
  }
  template <class Mask>
  static CAROM_INLINE void join(Mask on, const Place& place, std::uint64_t& rows) {
    kernels::over_bits(on.bits(), [&](int lane) { rows |= std::uint64_t{1} << place.of[lane]; });
  }
  static CAROM_INLINE Place diagonal(const Place& place) {
    Place result;
    for (int lane = 0; lane < Width; ++lane) {
      result.of[lane] = kernels::QpOneEntry::diagonal(place.of[lane]);
    }
    return result;
  }
  template <class Memory, class F>
  static CAROM_INLINE void over_column(const Memory& table, const Place& place, int rows, F&& f) {
    Place at;
    for (int lane = 0; lane < Width; ++lane) {
      at.of[lane] = place.of[lane] * (place.of[lane] + 1) / 2;
    }
    for (int i = 0; i < rows; ++i) {
      f(i, take(table, at));
      for (int lane = 0; lane < Width; ++lane) at.of[lane] += i < place.of[lane] ? 1 : i + 1;
    }
  }
};
template <class Isa>
struct QpEntry<Isa, double, 1> : kernels::QpOneEntry {
  static constexpr bool kProximal = true;
};

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
        contacts_(is_contacts()),
        wide_(asks_wide(task_.settings.method, task_.shape)),
        pivots_(kernels::begins_with_pivots(task_) && !(wide_ && is_wide_faster(n_, rows_))) {}

  void run() {
    clear_hessian();
    const bool exact = pivots_ || wide_;
    if (wide_ && !pivots_) {
      run_widely();
      return run_pending();
    }
    for (std::int64_t p = range_.begin; p < range_.end; p += Width) {
      const int count = range_.end - p < Width ? static_cast<int>(range_.end - p) : Width;
      for (int lane = 0; lane < count; ++lane) problem_[lane] = p + lane;
      if (count == Width) {
        load_all(p);
        idle_invalid();
      } else {
        load_each(count);
      }
      if (exact) {
        solve_exactly(count);
      } else {
        solve(task_.settings.method, count);
      }
    }
    if (exact) run_pending();
  }

 private:
  using Memory = IsaMemory<Isa, V>;
  using LaneMemory = IsaLaneMemory<Isa, Width>;
  using Problem = kernels::QpTaskProblem<IsaQpLane<Isa>, LaneMemory>;
  using Spread = QpSpread<Isa, V, Width>;
  using Attempt = kernels::QpAttempt<V, Lanes, Memory, QpEntry<Isa, V, Width>>;

  static constexpr auto kActiveSet = kernels::qp_end::kActiveSet;
  static constexpr double kWritten = -1.0;       ///< end of a problem whose verdict is written
  static constexpr std::uint8_t kPending = 254;  ///< another attempt is to follow

  /// What is known of each lane.
  struct Ends {
    alignas(64) double end[Width];
    alignas(64) double iterations[Width];
    alignas(64) double residual[Width];
    alignas(64) double objective[Width];
  };

  /// Without dual pivots a problem needs no pack, unless its answer is to be judged in one.
  void run_widely() {
    QpWideActiveSet<Isa> body = wide_body();
    int count = 0;
    for (std::int64_t p = range_.begin; p < range_.end; ++p) {
      if (!answers_alone(body, p)) problem_[count++] = p;
      if (count == Width || (count > 0 && p + 1 == range_.end)) {
        load_each(count);
        solve_exactly(count);
        count = 0;
      }
    }
  }
  bool answers_alone(QpWideActiveSet<Isa>& body, std::int64_t p) {
    if (is_refused(p)) return false;
    Ends ends{};
    if (body.solve(p, wide_limit())) return takes_certified(p, ends, 0, body);
    if (!body.has_proof() || !problem(0).load(p)) return false;
    problem_[0] = p;
    ends.iterations[0] = body.iterations();
    refute(ends, 0, body);
    if (ends.end[0] == kWritten) task_.end[p] = kernels::kQpFinal;
    return ends.end[0] == kWritten;
  }
  /// Whether a number of problem p is one that QpTaskProblem::load refuses.
  [[nodiscard]] bool is_refused(std::int64_t p) const {
    const long n = n_;
    const long m = task_.interval_rows;
    const long k = rows_ - m;
    double sum = zeros_of(task_.hessian, p, n * n) + zeros_of(task_.vector, p, n);
    if (is_sparse(task_.shape)) {
      for (int i = 0; i < rows_; ++i) {
        const double* row =
            i < m ? task_.matrix + (p * m + i) * n : task_.cone_matrix + (p * k + i - m) * n;
        for (int t = task_.shape.row_first[i]; t < task_.shape.row_first[i + 1]; ++t) {
          sum += row[task_.shape.column[t]] * 0.0;
        }
      }
    } else {
      sum += zeros_of(task_.matrix, p, m * n);
      if (k > 0) sum += zeros_of(task_.cone_matrix, p, k * n);
    }
    if (k > 0) sum += zeros_of(task_.cone_vector, p, k);
    for (long i = p * m; i < (p + 1) * m; ++i) {
      if (!(task_.lower[i] < kernels::kInfinity) || !(task_.upper[i] > -kernels::kInfinity)) {
        return true;
      }
    }
    return sum != 0.0;
  }
  /// 0, or NaN where a number of problem p is not finite.
  CAROM_INLINE static double zeros_of(const double* from, std::int64_t p, long count) {
    using Vector = Eight<Isa>;
    const Vector zero(0.0);
    const double* values = from + p * count;
    Vector sum(0.0);
    double rest = 0.0;
    long e = 0;
    for (; e + 8 <= count; e += 8) sum = fused(Vector::load(values + e), zero, sum);
    for (; e < count; ++e) rest += values[e] * 0.0;
    return sum.sum() + rest;
  }
  /// The answer of `body` where its certificate leaves nothing to do; it is then written.
  bool takes_certified(std::int64_t p, const Ends& before, int lane,
                       QpWideActiveSet<Isa>& body) const {
    using certificate::Leaning;
    const auto answer = body.certify(body.is_strictly_convex() ? Leaning::by_active_rows
                                                               : kernels::qp_leaning(task_.shape));
    if (before.end[lane] == kActiveSet && before.residual[lane] < answer.residual) return false;
    return conclude_wide<Isa>(task_, p, answer,
                              static_cast<int>(before.iterations[lane]) + body.iterations());
  }

  /// What the active sets left, packed anew.
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

  /// Zeros in P that no problem has anything in place of, which packs are then not asked for.
  void clear_hessian() const {
    if (task_.shape.hessian_first == nullptr) return;
    const Memory hessian = part(parts_.hessian);
    for (long e = 0; e < static_cast<long>(n_) * n_; ++e) hessian[e] = V(0.0);
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
    const auto spread = [&](const double* from, long count, long to) {
      return Spread(from + first * count, count, lane_of(to, 0));
    };
    const auto take = [&](const double* from, long count, long to) {
      Spread body = spread(from, count, to);
      body.take_all();
      return body.refused();
    };
    const auto take_rows = [&](Spread body, int begin, int end, const int* row_first,
                               const int* column) {
      for (int i = begin; i < end; ++i) {
        body.take_row(i - begin, n, column + row_first[i], row_first[i + 1] - row_first[i]);
      }
      refused = refused + body.refused();
    };
    const kernels::QpShape& shape = task_.shape;
    if (shape.hessian_first == nullptr) {
      refused = refused + take(task_.hessian, n * n, parts_.hessian);
    } else {
      take_rows(spread(task_.hessian, n * n, parts_.hessian), 0, n_, shape.hessian_first,
                shape.hessian_column);
    }
    refused = refused + take(task_.vector, n, parts_.gradient);
    take_rows(spread(task_.matrix, m * n, parts_.matrix), 0, task_.interval_rows, shape.row_first,
              shape.column);
    take(task_.lower, m, parts_.lower);
    take(task_.upper, m, parts_.upper);
    if (k > 0) {
      take_rows(spread(task_.cone_matrix, k * n, parts_.matrix + m * n), task_.interval_rows, rows_,
                shape.row_first, shape.column);
      refused = refused + take(task_.cone_vector, k, parts_.upper + m);
    }
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
  __attribute__((noinline)) kernels::QpJudged<V> judge(V level = V(0.0)) const {
    return Attempt(lanes_, task_, parts_, part(0)).template judge<Method, N>(level);
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

  /// By the dual pivots, then by QpWideActiveSet where they gave no answer as good as is wanted.
  void solve_exactly(int count) {
    constexpr QpMethod kMethod = QpMethod::active_set;
    Ends ends{};
    if (pivots_) {
      const kernels::QpOutcome<V> outcome = n_ == 12 ? attempt<kMethod, 12>() : attempt<kMethod>();
      store_lanes<Width>(outcome.end, ends.end);
      store_lanes<Width>(outcome.iterations, ends.iterations);
      if (std::count(ends.end, ends.end + Width, double{kActiveSet}) > 0) {
        judge_exactly(ends, outcome.level);
      }
    }
    if (Width > 1 && count == Width && task_.interval_rows == rows_ && are_good(ends, count)) {
      return write_all(ends);
    }
    if (wide_) solve_widely(ends, count);
    for (int lane = 0; lane < count; ++lane) {
      const std::int64_t p = problem_[lane];
      if (!valid_[lane]) {
        problem(lane).refuse(p);
      } else if (ends.end[lane] == kWritten) {
        task_.end[p] = kernels::kQpFinal;
      } else if (problem(lane).conclude(p, kMethod, static_cast<std::uint8_t>(ends.end[lane]),
                                        static_cast<int>(ends.iterations[lane]),
                                        ends.residual[lane], ends.objective[lane],
                                        0.0) == kernels::QpLeft::another_attempt) {
        task_.end[p] = kPending;
      }
    }
  }
  /// Whether nothing is left to do.
  [[nodiscard]] bool is_good(const Ends& ends, int lane) const {
    const double tolerance = task_.settings.tolerance;
    return ends.end[lane] == kActiveSet && certificate::within(ends.residual[lane], tolerance) &&
           !kernels::qp_wants_refinement(kOneLane, task_, problem_[lane], ends.residual[lane]);
  }
  [[nodiscard]] QpWideActiveSet<Isa> wide_body() const {
    return {task_, range_.workspace + qp_pack_workspace(task_.settings.method, task_.shape)};
  }
  [[nodiscard]] int wide_limit() const {
    return task_.settings.limit(QpMethod::active_set, n_, rows_);
  }
  [[nodiscard]] bool are_good(const Ends& ends, int count) const {
    for (int lane = 0; lane < count; ++lane) {
      if (!valid_[lane] || !is_good(ends, lane)) return false;
    }
    return true;
  }
  /// What QpTaskProblem::conclude writes where is_good(), of a whole pack without cones.
  void write_all(const Ends& ends) const {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const int proof = n_ > rows_ ? n_ : rows_;
    double* x[Width];
    double* y[Width];
    for (int lane = 0; lane < Width; ++lane) {
      const std::int64_t p = problem_[lane];
      x[lane] = task_.solution + p * n_;
      y[lane] = task_.dual + p * rows_;
      std::fill_n(task_.point + p * n_, n_, nan);
      std::fill_n(task_.certificate + p * proof, proof, nan);
      task_.end[p] = kernels::kQpFinal;
      task_.status[p] = Status::solved;
      task_.method[p] = QpMethod::active_set;
      task_.iterations[p] = static_cast<int>(ends.iterations[lane]);
      task_.residual[p] = ends.residual[lane];
      task_.objective[p] = ends.objective[lane];
    }
    collect<Width>(lane_of(parts_.x, 0), n_, Width, x);
    collect<Width>(lane_of(parts_.y, 0), rows_, Width, y);
  }
  void solve_widely(Ends& ends, int count) const {
    QpWideActiveSet<Isa> body = wide_body();
    const Ends before = ends;
    alignas(64) double level[Width] = {};
    bool found[Width] = {};
    bool any = false;
    for (int lane = 0; lane < count; ++lane) {
      if (!valid_[lane] || is_good(ends, lane)) continue;
      if (!body.solve(problem_[lane], wide_limit())) {
        ends.iterations[lane] += body.iterations();
        if (body.has_proof() && before.end[lane] != kActiveSet) refute(ends, lane, body);
        continue;
      }
      if (takes_certified(problem_[lane], before, lane, body)) {
        ends.end[lane] = kWritten;
        continue;
      }
      any = found[lane] = true;
      level[lane] = body.is_strictly_convex() ? 0.0 : 1.0;
      ends.end[lane] = kActiveSet;
      ends.iterations[lane] += body.iterations();
      move(lane, parts_.x, parts_.scratch);
      for (int j = 0; j < n_; ++j) lane_of(parts_.x + j, lane)[0] = body.solution(j);
      for (int i = 0; i < rows_; ++i) lane_of(parts_.y + i, lane)[0] = 0.0;
      body.read_multipliers([&](int i, double y) { lane_of(parts_.y + i, lane)[0] = y; });
    }
    if (!any) return;
    judge_exactly(ends, *reinterpret_cast<const V*>(level));
    for (int lane = 0; lane < count; ++lane) {
      if (!found[lane] || before.end[lane] != kActiveSet ||
          !(before.residual[lane] < ends.residual[lane])) {
        continue;
      }
      move(lane, parts_.scratch, parts_.x);
      ends.end[lane] = before.end[lane];
      ends.iterations[lane] = before.iterations[lane];
      ends.residual[lane] = before.residual[lane];
      ends.objective[lane] = before.objective[lane];
    }
  }
  /// Writes the verdict of a problem without a point, if its proof is one.
  void refute(Ends& ends, int lane, const QpWideActiveSet<Isa>& body) const {
    const Problem problem = this->problem(lane);
    const LaneMemory y = problem.y();
    for (int i = 0; i < rows_; ++i) y[i] = 0.0;
    body.read_multipliers([&](int i, double value) { y[i] = value; });
    const LaneMemory memory{lane_of(0, lane)};
    const double tolerance = task_.settings.tolerance;
    const double residual =
        kernels::infeasibility_residual(kOneLane, task_.shape, problem.view(), y,
                                        memory + parts_.body, memory + parts_.scratch, tolerance);
    if (!certificate::within(residual, tolerance)) return;
    kernels::QpVerdict verdict;
    verdict.status = Status::infeasible;
    verdict.method = QpMethod::active_set;
    verdict.iterations = static_cast<int>(ends.iterations[lane]);
    verdict.residual = residual;
    problem.write(problem_[lane], verdict);
    ends.end[lane] = kWritten;
  }
  /// x and y, which lie one after the other.
  void move(int lane, long from, long to) const {
    for (long e = 0; e < n_ + rows_; ++e) lane_of(to + e, lane)[0] = lane_of(from + e, lane)[0];
  }
  void judge_exactly(Ends& ends, const V& level) const {
    constexpr QpMethod kMethod = QpMethod::active_set;
    const kernels::QpJudged<V> judged =
        n_ == 12 ? judge<kMethod, 12>(level) : judge<kMethod>(level);
    store_lanes<Width>(judged.value(), ends.residual);
    store_lanes<Width>(judged.objective, ends.objective);
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
  bool wide_;
  bool pivots_;
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
