#include "run/step_run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "run/control.hpp"

namespace carom::run {

namespace {

std::span<const double> row(const std::vector<double>& values, std::size_t index, int width) {
  const auto size = static_cast<std::size_t>(width);
  return std::span(values).subspan(index * size, size);
}

}  // namespace

std::span<const double> StepRun::parameters_of(std::int64_t world) const {
  const std::size_t count = scenario->parameters.size();
  return std::span(parameters).subspan(static_cast<std::size_t>(world) * count, count);
}

double StepRun::value_of(const std::string& name, std::int64_t world) const {
  if (name == kStepSizeName) return group_of(world).step_size;
  return parameters_of(world)[models::parameter_index(*scenario, name)];
}

std::span<const double> StepRun::position_of(std::int64_t world) const {
  const Place& at = place[static_cast<std::size_t>(world)];
  const WorldsResult& result = groups[at.group].result;
  return row(result.position, at.row, result.positions);
}

std::span<const double> StepRun::velocity_of(std::int64_t world) const {
  const Place& at = place[static_cast<std::size_t>(world)];
  const WorldsResult& result = groups[at.group].result;
  return row(result.velocity, at.row, result.velocities);
}

std::int64_t StepRun::failed_worlds() const {
  const std::vector<Status> all = gather(&WorldsResult::status);
  return std::count_if(all.begin(), all.end(), [](Status status) {
    return status != Status::solved && status != Status::cancelled;
  });
}

std::int64_t StepRun::steps_taken() const {
  std::int64_t sum = 0;
  for (const std::int64_t steps : gather(&WorldsResult::steps_taken)) sum += steps;
  return sum;
}

double StepRun::steps_per_second() const {
  return seconds > 0.0 ? static_cast<double>(steps_taken()) / seconds : 0.0;
}

double StepRun::max_residual() const {
  double largest = 0.0;
  for (const double residual : gather(&WorldsResult::max_residual)) {
    if (!(residual <= largest)) largest = residual;
    if (std::isnan(largest)) break;
  }
  return largest;
}

double StepRun::iterations_per_step() const {
  std::int64_t sum = 0;
  for (const std::int64_t count : gather(&WorldsResult::iterations)) sum += count;
  const std::int64_t steps = steps_taken();
  return steps > 0 ? static_cast<double>(sum) / static_cast<double>(steps) : 0.0;
}

std::int32_t StepRun::iterations_max() const {
  std::int32_t most = 0;
  for (const std::int32_t count : gather(&WorldsResult::iterations_max)) {
    most = std::max(most, count);
  }
  return most;
}

bool has_height(const models::Scenario& scenario) {
  return std::find(scenario.positions.begin(), scenario.positions.end(), "z") !=
             scenario.positions.end() &&
         scenario.displacement.rfind("height", 0) != 0;
}

Heights heights_of(const StepRun& run) {
  const std::vector<std::string>& names = run.scenario->positions;
  const auto z =
      static_cast<std::size_t>(std::find(names.begin(), names.end(), "z") - names.begin());
  Heights heights;
  for (const StepRun::Place& at : run.place) {
    const WorldsResult& result = run.groups[at.group].result;
    const auto state = static_cast<std::size_t>(result.positions + result.velocities);
    const auto worlds = static_cast<std::size_t>(result.worlds);
    const std::size_t frames = result.frame_time.size();
    double end = std::numeric_limits<double>::quiet_NaN();
    double largest = end;
    for (std::size_t f = 0; f < frames; ++f) {
      const double* frame = result.frame_state.data();
      const double start = frame[at.row * state + z];
      end = frame[(f * worlds + at.row) * state + z] - start;
      if (f == 0 || !(end <= largest)) largest = end;
    }
    heights.end.push_back(end);
    heights.largest.push_back(largest);
  }
  return heights;
}

std::map<std::string, std::int64_t> StepRun::status_counts() const {
  std::map<std::string, std::int64_t> counts;
  for (const Status status : gather(&WorldsResult::status)) {
    ++counts[std::string(to_string(status))];
  }
  return counts;
}

Range range_of(std::span<const double> values) {
  Range range{kNone, kNone, kNone};
  double sum = 0.0;
  std::int64_t count = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    range.min = count == 0 ? value : std::min(range.min, value);
    range.max = count == 0 ? value : std::max(range.max, value);
    sum += value;
    ++count;
  }
  if (count > 0) range.mean = sum / static_cast<double>(count);
  return range;
}

}  // namespace carom::run
