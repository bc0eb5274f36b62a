#include <algorithm>

#include <carom/device/qp_problem.hpp>
#include <carom/types/qp.hpp>

#include "core/parallel.hpp"
#include "core/thread_scratch.hpp"
#include "core/workspace.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/programs/qp.hpp"
#include "programs/qp/backends.hpp"
#include "programs/qp/crossover.hpp"
#include "programs/qp/kernels/qp_task.hpp"
#include "programs/qp/layout.hpp"
#include "programs/qp/task.hpp"

namespace carom::cpu {

namespace {

constexpr std::int64_t kProblemsAtOnce = 64;

/// Working memory of one thread.
struct Thread {
  Buffer<double> workspace;
  std::vector<double> finish;  // memory for what the packs leave, taken when it is first needed
};

/// What a call works with.
struct QpScratch : ThreadScratch<Thread> {
  std::vector<std::uint8_t> end;  // of the first attempt
};

/// Runs an instruction set's entries on ranges of problems in threads, and finishes what they
/// leave.
class Driver {
 public:
  Driver(const QpBatch& batch, const QpSettings& settings, const QpWarmStart& start,
         WorkspaceState* workspace)
      : batch_(batch),
        settings_(settings),
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
    if (inside) code_.solve_qps({begin, end, &task_, thread.workspace.data()});
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
    code_.finish_qp(task_, p, tried, memory.data());
  }

  const QpBatch& batch_;
  const QpSettings& settings_;
  QpLayout layout_;
  std::int64_t grain_;
  long doubles_;
  QpResult result_;
  Scratch<QpScratch> scratch_;
  std::vector<std::uint8_t>& end_;
  kernels::QpTaskArrays task_{};
  const simd::InstructionSet& code_ = simd::instruction_set();
};

}  // namespace

QpResult solve_qp(const QpBatch& batch, const QpSettings& settings, const QpWarmStart& start,
                  WorkspaceState* workspace) {
  return Driver(batch, settings, start, workspace).run();
}

template <>
const QpEntries& entries() {
  static constexpr QpEntries kEntries{solve_qp};
  return kEntries;
}

}  // namespace carom::cpu
