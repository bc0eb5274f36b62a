#include <carom/motion_reachable.hpp>

#include <algorithm>
#include <cmath>

#include "core/require.hpp"
#include "impact/epsilon_net.hpp"

namespace carom {

namespace {

constexpr std::int64_t kChunk = 4096;
constexpr std::int64_t kMostCapacity = 1 << 30;

}  // namespace

std::vector<std::vector<ReachableSet>> reachable(const MotionBatch& batch,
                                                 const MotionSettings& settings,
                                                 const ReachableSettings& nets, Backend backend) {
  settings.validate();
  validate(batch);
  require::positive("grid", settings.grid);
  require::positive("epsilon", nets.epsilon);
  require::between("capacity", nets.capacity, 1, kMostCapacity);
  const auto times = static_cast<std::size_t>(settings.grid_points());
  const auto problems = static_cast<std::size_t>(batch.problems);
  const int width = batch.positions + batch.velocities;
  std::vector<std::vector<NetBuilder>> builders(problems);
  for (auto& row : builders) {
    for (std::size_t k = 0; k < times; ++k) {
      row.emplace_back(width, 0, nets.epsilon, nets.capacity);
    }
  }
  for (std::int64_t first = 0; first < settings.samples; first += kChunk) {
    MotionSettings chunk = settings;
    chunk.first_sample = settings.first_sample + first;
    chunk.samples = std::min(kChunk, settings.samples - first);
    chunk.keep_samples = chunk.samples;
    chunk.keep_events = 0;
    const MotionResult result = simulate_motions(batch, chunk, backend);
    for (std::size_t p = 0; p < problems; ++p) {
      for (std::int64_t i = 0; i < chunk.samples; ++i) {
        for (std::size_t k = 0; k < times; ++k) {
          const std::size_t row =
              (p * static_cast<std::size_t>(chunk.samples) + static_cast<std::size_t>(i)) * times +
              k;
          const double* state = result.state.data() + row * static_cast<std::size_t>(width + 1);
          if (!std::isfinite(state[width])) {
            builders[p][k].count_dropped(1);
          } else {
            builders[p][k].add(chunk.first_sample + i, state, nullptr, 0);
          }
        }
      }
    }
  }
  std::vector<std::vector<ReachableSet>> sets(problems);
  for (std::size_t p = 0; p < problems; ++p) {
    for (std::size_t k = 0; k < times; ++k) {
      const double time = std::min(static_cast<double>(k) * settings.grid, settings.duration);
      sets[p].push_back({time, builders[p][k].finish(settings.first_sample, settings.samples)});
    }
  }
  return sets;
}

}  // namespace carom
