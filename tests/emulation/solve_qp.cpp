#include <algorithm>
#include <numeric>
#include <type_traits>
#include <vector>

#include <Eigen/Dense>

#include <carom/device/lanes.hpp>

#include "emulation/emulation.hpp"
#include "programs/qp/backends.hpp"
#include "programs/qp/kernels/qp_task.hpp"
#include "programs/qp/large.hpp"
#include "programs/qp/layout.hpp"
#include "programs/qp/task.hpp"

namespace carom::emulation {

namespace {

using kernels::QpTaskArrays;
using Problems = std::vector<int>;

/// What solve_large_qps needs, on the host: steps by Lanes, factors and products by Eigen.
template <class Lanes>
class HostLargeQps {
 public:
  /// Room for `slots` problems of `batch` at a time; the arrays of `task` are the batch's.
  HostLargeQps(const kernels::QpTaskArrays& task, int slots)
      : columns_(columns_of(task.shape)),
        end_(static_cast<std::size_t>(slots)),
        wish_(end_),
        broken_(end_) {
    arrays_.task = task;
    arrays_.parts = kernels::qp_large_parts(task.shape.variables, task.shape.rows);
    values_.resize(static_cast<std::size_t>(slots * arrays_.parts.end));
    arrays_.column_first = columns_.first.data();
    arrays_.column_row = columns_.second.data();
    arrays_.slots = values_.data();
    arrays_.end = end_.data();
    arrays_.wish = wish_.data();
    arrays_.broken = broken_.data();
  }

  /// For problems from `base` on.
  [[nodiscard]] kernels::QpLargeArrays arrays(long base) const {
    kernels::QpLargeArrays arrays = arrays_;
    arrays.base = base;
    return arrays;
  }

  void activate(const std::vector<int>& slots) { active_ = slots; }

  template <class F>
  void blocks(int count, const F& f) {
    const Lanes lanes;
    for (const int slot : active_) {
      for (int e = 0; e < count; ++e) f(lanes, slot, e);
    }
  }
  template <class F>
  void each(int count, const F& f) {
    const Lanes lanes;
    for (const int slot : active_) {
      lanes.for_each(count, [&](int e) { f(slot, e); });
    }
  }
  void factor() {
    for (const int slot : active_) {
      Matrix symmetric = matrix(slot, arrays_.parts.factor);
      const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>, Eigen::Lower> factor(symmetric);
      broken_[static_cast<std::size_t>(slot)] = factor.info() == Eigen::Success ? 0 : 1;
    }
  }
  void invert() {
    for (const int slot : active_) {
      Matrix inverse = matrix(slot, arrays_.parts.inverse);
      inverse.setIdentity();
      solve_in(slot, inverse);
    }
  }
  void apply() {
    for (const int slot : active_) {
      vector(slot, arrays_.parts.next).noalias() =
          matrix(slot, arrays_.parts.inverse) * vector(slot, arrays_.parts.push);
    }
  }
  void solve() {
    for (const int slot : active_) {
      Vector push = vector(slot, arrays_.parts.push);
      solve_in(slot, push);
    }
  }
  [[nodiscard]] std::vector<int> read(const int* values, int count) const {
    return {values, values + count};
  }

 private:
  using Matrix = Eigen::Map<Eigen::MatrixXd>;
  using Vector = Eigen::Map<Eigen::VectorXd>;
  Matrix matrix(int slot, long part) const {
    const int n = arrays_.task.shape.variables;
    return {arrays_.at(slot, part).data, n, n};
  }
  Vector vector(int slot, long part) const {
    return {arrays_.at(slot, part).data, arrays_.task.shape.variables};
  }
  template <class Right>
  void solve_in(int slot, Right& right) const {
    const Matrix factor = matrix(slot, arrays_.parts.factor);
    factor.template triangularView<Eigen::Lower>().solveInPlace(right);
    factor.template triangularView<Eigen::Lower>().transpose().solveInPlace(right);
  }

  kernels::QpLargeArrays arrays_{};
  std::pair<std::vector<int>, std::vector<int>> columns_;
  std::vector<double> values_;
  std::vector<int> end_, wish_, broken_, active_;
};

/// The launches of the device one after another. A warp has memory of its own, and backwards a
/// thread has it between its neighbours'.
template <bool Backwards>
class Emulation {
 public:
  explicit Emulation(const QpTaskArrays& arrays) : arrays_(arrays) {}

  /// The problems of `list` that the method leaves.
  Problems first(QpMethod method, const Problems& list) {
    const Task task =
        task_of(kernels::qp_first_parts(method, arrays_.shape.variables, arrays_.shape.rows));
    Problems rest;
    for (const int p : list) {
      bool done = false;
      switch (method) {
        case QpMethod::admm:
          done = task.template first<QpMethod::admm>(p);
          break;
        case QpMethod::projected:
          done = task.template first<QpMethod::projected>(p);
          break;
        default:
          done = task.template first<QpMethod::interior_point>(p);
      }
      if (!done) rest.push_back(p);
    }
    return rest;
  }

  /// The same of large problems.
  Problems first_of_large(const Problems& list, int limit) {
    constexpr int kSlots = 2;
    HostLargeQps<Lanes> engine(arrays_, kSlots);
    Problems rest;
    const int problems = static_cast<int>(list.size());
    for (int base = 0; base < problems; base += kSlots) {
      const int slots = std::min(kSlots, problems - base);
      for (const int slot : solve_large_qps(engine, engine.arrays(base), slots, limit)) {
        rest.push_back(base + slot);
      }
    }
    return rest;
  }

  void finish(const Problems& list, bool tried) {
    if (list.empty()) return;
    const kernels::QpShape& shape = arrays_.shape;
    const Task task =
        task_of(kernels::qp_finish_parts(shape.variables, shape.rows, shape.cones > 0));
    for (const int p : list) task.finish(p, tried);
  }

 private:
  using Lanes = kernels::EmulatedLanes<32, Backwards>;
  using Memory = std::conditional_t<Backwards, kernels::InterleavedMemory<double>,
                                    kernels::PlainMemory<double>>;
  using Task = kernels::QpTask<Lanes, Memory>;

  Task task_of(const kernels::QpTaskParts& parts) {
    values_.resize(static_cast<std::size_t>(2 * parts.end));
    if constexpr (Backwards) {
      return Task(lanes_, arrays_, parts, Memory{values_.data() + 1, 2});
    } else {
      return Task(lanes_, arrays_, parts, Memory{values_.data()});
    }
  }

  const Lanes lanes_{};
  const QpTaskArrays& arrays_;
  std::vector<double> values_;
};

template <bool Backwards>
void run(const QpBatch& batch, const QpSettings& settings, const QpTaskArrays& arrays) {
  Emulation<Backwards> emulation(arrays);
  Problems rest(static_cast<std::size_t>(batch.problems));
  std::iota(rest.begin(), rest.end(), 0);
  const QpMethod method = kernels::first_method(settings.method);
  const bool tried = method != QpMethod::active_set && method != QpMethod::lemke;
  const bool large = is_large_qp(batch, settings.method);
  if (large) rest = emulation.first_of_large(rest, large_qp_limit(settings));
  if (tried && !(large && method == QpMethod::admm)) rest = emulation.first(method, rest);
  emulation.finish(rest, tried);
}

}  // namespace

QpResult solve_qp(const QpBatch& batch, const QpSettings& settings, bool backwards) {
  const QpLayout layout(batch);
  QpResult result = allocate<QpResult>(batch);
  std::vector<std::uint8_t> end(static_cast<std::size_t>(batch.problems));
  QpTaskArrays arrays = qp_task(batch, layout, settings, {}, result);
  arrays.end = end.data();
  if (backwards) {
    run<true>(batch, settings, arrays);
  } else {
    run<false>(batch, settings, arrays);
  }
  return result;
}

}  // namespace carom::emulation
