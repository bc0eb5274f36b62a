#include "cpu/programs/qp_driver.hpp"

#include <algorithm>

#include <carom/device/qp_problem.hpp>

#include "core/parallel.hpp"
#include "core/thread_scratch.hpp"
#include "cpu/simd/dispatch.hpp"
#include "programs/qp/backends.hpp"
#include "programs/qp/crossover.hpp"
#include "programs/qp/kernels/qp_task.hpp"
#include "programs/qp/task.hpp"

namespace carom::cpu {

namespace {

constexpr std::int64_t kProblemsAtOnce = 64;

using Solve = void (*)(const simd::QpRange&);

/// Working memory of one thread.
struct Thread {
  Buffer<double> workspace;
  std::vector<double> finish;  // memory for what the packs leave, taken when it is first needed
};

/// What a call works with.
struct QpScratch : ThreadScratch<Thread> {
  std::vector<std::uint8_t> end;  // of the first attempt
};

class Driver {
 public:
  Driver(const QpBatch& batch, const QpSettings& settings, const QpWarmStart& start, Solve solve,
         WorkspaceState* workspace)
      : batch_(batch),
        settings_(settings),
        solve_(solve),
        layout_(batch),
        grain_(batch.variables > simd::kLargestPackedQp ? 1 : kProblemsAtOnce),
        doubles_(simd::qp_workspace(settings.method, layout_.shape())),
        scratch_(workspace),
        end_(scratch_->end) {
    result_ = allocate<QpResult>(batch);
    end_.assign(static_cast<std::size_t>(batch.problems), 0);
    task_ = qp_task(batch, layout_, settings, start, result_);
    task_.end = end_.data();
  }

  QpResult run() {
    parallel_for(batch_.problems, grain_, settings_.threads,
                 [&](std::int64_t begin, std::int64_t end) {
                   Thread& thread = scratch_->local();
                   make_room(thread.workspace, doubles_);
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
    if (inside) solve_({begin, end, &task_, thread.workspace.data()});
    for (std::int64_t p = begin; p < end; ++p) {
      if (inside && end_[static_cast<std::size_t>(p)] == kernels::kQpFinal) continue;
      if (inside && qp::cross_over(task_, p)) continue;
      finish(p, inside, thread.finish);
    }
  }

  /// Everything that was not solved at the first attempt.
  void finish(std::int64_t p, bool tried, std::vector<double>& memory) {
    const kernels::QpShape& shape = layout_.shape();
    const long size = kernels::qp_finish_parts(shape.variables, shape.rows, shape.cones > 0).end;
    make_room(memory, size);
    finish_(task_, p, tried, memory.data());
  }

  const QpBatch& batch_;
  const QpSettings& settings_;
  Solve solve_;
  QpLayout layout_;
  std::int64_t grain_;
  long doubles_;
  QpResult result_;
  Scratch<QpScratch> scratch_;
  std::vector<std::uint8_t>& end_;
  kernels::QpTaskArrays task_{};
  decltype(simd::InstructionSet::finish_qp) finish_ = simd::instruction_set().finish_qp;
};

}  // namespace

QpResult drive_qp(const QpBatch& batch, const QpSettings& settings, const QpWarmStart& start,
                  void (*solve)(const simd::QpRange&), WorkspaceState* workspace) {
  return Driver(batch, settings, start, solve, workspace).run();
}

QpResult solve_qp(const QpBatch& batch, const QpSettings& settings, const QpWarmStart& start,
                  WorkspaceState* workspace) {
  return drive_qp(batch, settings, start, simd::instruction_set().solve_qps, workspace);
}

template <>
const QpEntries& entries() {
  static constexpr QpEntries kEntries{solve_qp};
  return kEntries;
}

}  // namespace carom::cpu
