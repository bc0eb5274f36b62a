#include <algorithm>

#include "compliant_backends.hpp"
#include "cpu/parallel.hpp"
#include "cpu/simd/compliant_range.hpp"

namespace carom::cpu {

namespace {

const simd::CompliantSet& entry_points() {
#if defined(__x86_64__)
  if (simd::level() == simd::Level::avx512) return simd::kCompliantAvx512;
  if (simd::level() == simd::Level::avx2) return simd::kCompliantAvx2;
#endif
  return simd::kCompliantGeneric;
}

struct Memory {
  std::vector<double> reals;
  std::vector<int> ints;
  std::vector<RowType> types;
};

class Stepper : public WorldStepper {
 public:
  explicit Stepper(int threads) : threads_(threads) {}

  void advance(WorldStates& states, std::int64_t first, std::int64_t count) override {
    const kernels::WorldSizes& sizes = states.sizes;
    const long reals = models::detail::visit_scenario(states.scenario->kind, [&](auto body) {
      return kernels::world_reals<decltype(body)>(sizes);
    });
    tbb::enumerable_thread_specific<Memory> memories([&] {
      return Memory{std::vector<double>(static_cast<std::size_t>(reals)),
                    std::vector<int>(static_cast<std::size_t>(kernels::world_ints(sizes))),
                    std::vector<RowType>(static_cast<std::size_t>(kernels::world_types(sizes)))};
    });
    const std::int64_t grain = std::clamp<std::int64_t>(states.worlds / 256, 1, 64);
    parallel_for(states.worlds, grain, threads_, [&](std::int64_t begin, std::int64_t end) {
      Memory& memory = memories.local();
      entry_points().step_worlds(simd::WorldsRange{
          begin, end, states.scenario->kind, sizes, states.parameters.data(),
          states.parameter_stride, states.settings, first, count, states.position.data(),
          states.velocity.data(), states.impulse.data(), states.record.data(), memory.reals.data(),
          memory.ints.data(), memory.types.data()});
    });
  }

 private:
  int threads_;
};

}  // namespace

CompliantResult solve_compliant(const CompliantBatch& batch, const CompliantSettings& settings) {
  CompliantResult result = make_compliant_result(batch);
  const kernels::CompliantArrays arrays = compliant_arrays(batch, result);
  tbb::enumerable_thread_specific<Memory> memories([&] {
    return Memory{
        std::vector<double>(
            static_cast<std::size_t>(kernels::compliant_array_reals(batch.rows, batch.velocities))),
        std::vector<int>(static_cast<std::size_t>(kernels::compliant_array_ints(batch.rows))),
        std::vector<RowType>(static_cast<std::size_t>(kernels::compliant_array_types(batch.rows)))};
  });
  parallel_for(batch.problems, 16, settings.threads, [&](std::int64_t begin, std::int64_t end) {
    Memory& memory = memories.local();
    entry_points().solve_steps(simd::CompliantRange{
        begin, end, &arrays, settings.tolerance,
        settings.max_iterations > 0 ? settings.max_iterations : 100, settings.centripetal,
        memory.reals.data(), memory.ints.data(), memory.types.data()});
  });
  return result;
}

std::unique_ptr<WorldStepper> make_stepper(const CompliantSettings& settings) {
  return std::make_unique<Stepper>(settings.threads);
}

}  // namespace carom::cpu
