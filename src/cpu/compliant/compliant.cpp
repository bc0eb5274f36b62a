#include <algorithm>

#include "compliant/backends.hpp"
#include "core/parallel.hpp"
#include "cpu/simd/compliant_range.hpp"

namespace carom::cpu {

namespace {

class Memory {
 public:
  explicit Memory(const simd::StepWorkspaceSizes& sizes)
      : reals_(static_cast<std::size_t>(sizes.reals + simd::kStepPackWorkspace)),
        ints_(static_cast<std::size_t>(sizes.ints)),
        types_(static_cast<std::size_t>(sizes.types)) {}
  simd::StepWorkspace view() {
    return {reals_.data() + simd::kStepPackWorkspace, ints_.data(), types_.data(), reals_.data()};
  }

 private:
  Buffer<double> reals_;  // aligned to cache lines, as packs want it
  std::vector<int> ints_;
  std::vector<RowType> types_;
};

class Stepper : public WorldStepper {
 public:
  explicit Stepper(int threads) : threads_(threads) {}

  void advance(WorldStates& states, std::int64_t first, std::int64_t count) override {
    const kernels::WorldSizes& sizes = states.sizes;
    tbb::enumerable_thread_specific<Memory> memories([&] {
      return Memory(models::detail::visit_scenario(states.scenario->kind, [&](auto body) {
        return simd::worlds_workspace<decltype(body)>(sizes);
      }));
    });
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
                            states.record.data(), memories.local().view()});
    });
  }

 private:
  int threads_;
};

}  // namespace

CompliantResult solve_compliant(const CompliantBatch& batch, const CompliantSettings& settings) {
  auto result = allocate<CompliantResult>(batch);
  const kernels::CompliantArrays arrays = compliant_arrays(batch, result);
  const kernels::CompliantOptions options = compliant_options(batch, settings);
  tbb::enumerable_thread_specific<Memory> memories(
      [&] { return Memory(simd::steps_workspace(batch.rows, batch.velocities)); });
  parallel_for(batch.problems, 4 * simd::kStepBlock, settings.threads,
               [&](std::int64_t begin, std::int64_t end) {
                 simd::instruction_set().solve_compliant(
                     simd::CompliantRange{begin, end, &arrays, options, memories.local().view()});
               });
  return result;
}

std::unique_ptr<WorldStepper> make_stepper(const CompliantSettings& settings) {
  return std::make_unique<Stepper>(settings.threads);
}

}  // namespace carom::cpu
