#include <algorithm>

#include "compliant/backends.hpp"
#include "core/parallel.hpp"
#include "core/thread_scratch.hpp"
#include "cpu/simd/compliant/compliant_range.hpp"

namespace carom::cpu {

namespace {

/// Working memory of one thread.
class Memory {
 public:
  simd::StepWorkspace fit(const simd::StepWorkspaceSizes& sizes) {
    make_room(reals_, sizes.reals + simd::kStepPackWorkspace);
    make_room(ints_, sizes.ints);
    make_room(types_, sizes.types);
    return {reals_.data() + simd::kStepPackWorkspace, ints_.data(), types_.data(), reals_.data()};
  }

 private:
  Buffer<double> reals_;  // aligned to cache lines, as packs want it
  std::vector<int> ints_;
  std::vector<RowType> types_;
};
using Memories = Scratch<ThreadScratch<Memory>>;

class Stepper : public WorldStepper {
 public:
  Stepper(int threads, WorkspaceState* workspace) : threads_(threads), memories_(workspace) {}

  void advance(WorldStates& states, std::int64_t first, std::int64_t count) override {
    const kernels::WorldSizes& sizes = states.sizes;
    const simd::StepWorkspaceSizes room = models::detail::visit_scenario(
        states.scenario->kind,
        [&](auto body) { return simd::worlds_workspace<decltype(body)>(sizes); });
    // Whole packs, and some pieces for every thread.
    const std::int64_t threads = threads_ > 0 ? threads_ : tbb::this_task_arena::max_concurrency();
    const int side = simd::steps_at_once(sizes.velocities);
    const std::int64_t grain =
        std::clamp<std::int64_t>(states.worlds / (8 * threads), side > 1 ? 8 : 1, 2 * side);
    parallel_for(states.worlds, grain, threads_, [&](std::int64_t begin, std::int64_t end) {
      simd::instruction_set().step_worlds(
          simd::WorldsRange{begin, end, states.scenario->kind, sizes, states.parameters.data(),
                            states.parameter_stride, states.settings, first, count,
                            states.position.data(), states.velocity.data(), states.impulse.data(),
                            states.record.data(), memories_->local().fit(room)});
    });
  }

 private:
  int threads_;
  Memories memories_;
};

}  // namespace

CompliantResult solve_compliant(const CompliantBatch& batch, const CompliantSettings& settings,
                                WorkspaceState* workspace) {
  auto result = allocate<CompliantResult>(batch);
  const kernels::CompliantArrays arrays = compliant_arrays(batch, result);
  const kernels::CompliantOptions options = compliant_options(batch, settings);
  const simd::StepWorkspaceSizes room = simd::steps_workspace(batch.rows, batch.velocities);
  const Memories memories(workspace);
  parallel_for(batch.problems, 4 * simd::kStepBlock, settings.threads,
               [&](std::int64_t begin, std::int64_t end) {
                 simd::instruction_set().solve_compliant(simd::CompliantRange{
                     begin, end, &arrays, options, memories->local().fit(room)});
               });
  return result;
}

std::unique_ptr<WorldStepper> make_stepper(const CompliantSettings& settings,
                                           WorkspaceState* workspace) {
  return std::make_unique<Stepper>(settings.threads, workspace);
}

template <>
const CompliantEntries& entries() {
  static constexpr CompliantEntries kEntries{solve_compliant, make_stepper};
  return kEntries;
}

}  // namespace carom::cpu
