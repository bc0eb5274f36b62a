#include "cpu/programs/qp_driver.hpp"

#include <algorithm>
#include <limits>
#include <memory>

#include <carom/device/qp_problem.hpp>

#include "core/parallel.hpp"
#include "cpu/simd/dispatch.hpp"
#include "programs/qp/backends.hpp"
#include "programs/qp/body/qp_task_body.hpp"
#include "programs/qp/task.hpp"

namespace carom::cpu {

namespace {

constexpr std::int64_t kGrain = 64;

using Solve = std::function<void(const simd::QpRange&)>;

/// What one thread works with.
struct Thread {
  Thread(const QpLayout& layout, std::int64_t grain, long doubles)
      : workspace(static_cast<std::size_t>(doubles)),
        multiplier(static_cast<std::size_t>(grain) * static_cast<std::size_t>(layout.rows())),
        settle(0) {}
  Buffer<double> workspace;
  std::vector<double> multiplier;
  std::vector<double> settle;  // memory for what the packs leave, taken when it is first needed
};

class Driver {
 public:
  Driver(const QpBatch& batch, const QpSettings& settings, const QpWarmStart& start,
         const Solve& solve, std::int64_t grain,
         const std::function<long(const QpLayout&)>& workspace)
      : batch_(batch),
        settings_(settings),
        solve_(solve),
        layout_(batch),
        grain_(grain),
        doubles_(workspace(layout_)) {
    result_ = allocate<QpResult>(batch);
    end_.resize(static_cast<std::size_t>(batch.problems));
    task_ = qp_task(batch, layout_, settings, start, result_);
    task_.end = end_.data();
  }

  QpResult run() {
    for (Buffer<double>* proof : {&result_.certificate, &result_.point}) {
      std::fill_n(proof->data(), proof->size(), std::numeric_limits<double>::quiet_NaN());
    }
    tbb::enumerable_thread_specific<std::unique_ptr<Thread>> threads(
        [this] { return std::make_unique<Thread>(layout_, grain_, doubles_); });
    parallel_for(batch_.problems, grain_, settings_.threads,
                 [&](std::int64_t begin, std::int64_t end) {
                   Thread& thread = *threads.local();
                   for (std::int64_t first = begin; first < end; first += grain_) {
                     range(first, std::min(first + grain_, end), thread);
                   }
                 });
    return std::move(result_);
  }

 private:
  void range(std::int64_t begin, std::int64_t end, Thread& thread) {
    const bool inside =
        settings_.method != QpMethod::active_set && settings_.method != QpMethod::lemke;
    if (inside) {
      solve_({begin, end, &task_, thread.multiplier.data(), thread.workspace.data()});
    }
    for (std::int64_t p = begin; p < end; ++p) {
      const auto local = static_cast<std::size_t>(p - begin);
      const double* multiplier =
          thread.multiplier.data() + local * static_cast<std::size_t>(layout_.rows());
      if (inside) {
        write_dual(p, multiplier);
        const bool pivots = end_[static_cast<std::size_t>(p)] ==
                            static_cast<std::uint8_t>(kernels::qp_end::kActiveSet);
        result_.method.data()[p] = pivots ? QpMethod::active_set : last_method();
        if (solved_by_range(p)) {
          result_.status.data()[p] = Status::solved;
          continue;
        }
      }
      settle(p, inside, thread.settle);
    }
  }

  /// The method whose answer a range leaves where the dual active set gave none.
  [[nodiscard]] QpMethod last_method() const { return kernels::first_method(settings_.method); }

  [[nodiscard]] bool solved_by_range(std::int64_t p) const {
    const double residual = result_.residual.data()[p];
    return kernels::may_be_solved(end_[static_cast<std::size_t>(p)]) &&
           residual <= settings_.tolerance &&
           !kernels::qp_wants_refinement(layout_.shape(), residual, settings_.tolerance);
  }

  /// Everything that was not solved at the first attempt.
  void settle(std::int64_t p, bool tried, std::vector<double>& memory) {
    const kernels::QpShape& shape = layout_.shape();
    const long size = kernels::qp_settle_parts(shape.variables, shape.rows, shape.cones > 0).end;
    if (memory.empty()) memory.resize(static_cast<std::size_t>(size));
    settle_(task_, p, tried, memory.data());
  }

  void write_dual(std::int64_t p, const double* y) {
    const int m = batch_.rows;
    const int k = layout_.rows() - m;
    std::copy_n(y, m, result_.dual.data() + static_cast<std::int64_t>(m) * p);
    std::copy_n(y + m, k, result_.cone_dual.data() + static_cast<std::int64_t>(k) * p);
  }

  const QpBatch& batch_;
  const QpSettings& settings_;
  const Solve& solve_;
  QpLayout layout_;
  std::int64_t grain_;
  long doubles_;
  QpResult result_;
  std::vector<std::uint8_t> end_;  // of the first attempt
  kernels::QpTaskArrays task_{};
  decltype(simd::InstructionSet::settle_qp) settle_ = simd::instruction_set().settle_qp;
};

}  // namespace

QpResult drive_qp(const QpBatch& batch, const QpSettings& settings, const QpWarmStart& start,
                  const Solve& solve, std::int64_t grain,
                  const std::function<long(const QpLayout&)>& workspace) {
  return Driver(batch, settings, start, solve, grain, workspace).run();
}

QpResult drive_qp(const QpBatch& batch, const QpSettings& settings, const QpWarmStart& start,
                  void (*solve)(const simd::QpRange&)) {
  const std::int64_t grain = batch.variables > simd::kLargestPackedQp ? 1 : kGrain;
  return drive_qp(batch, settings, start, Solve(solve), grain,
                  [](const QpLayout& layout) { return simd::qp_workspace(layout.shape()); });
}

QpResult solve_qp(const QpBatch& batch, const QpSettings& settings, const QpWarmStart& start) {
  return drive_qp(batch, settings, start, simd::instruction_set().solve_qps);
}

}  // namespace carom::cpu
