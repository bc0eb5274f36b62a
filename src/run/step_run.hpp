#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <carom/compliant.hpp>

namespace carom::run {

/// The name of the step size h among a scenario's parameters.
inline constexpr const char* kStepSizeName = "dt";

/// Worlds of one shape, one step size and one number of steps, stepped by one call.
struct StepGroup {
  std::vector<std::int64_t> worlds;  ///< their indices in the run
  double step_size = 0.0;            ///< h [s]
  std::int64_t steps = 0;            ///< asked for
  std::int64_t stride = 0;
  WorldsResult result;
};

/// Post-impact set of the rigid block that a compliant_block_impact approximates.
struct RouthSet {
  std::int64_t samples = 0;
  std::vector<double> normal_velocity;  ///< of A and B, [points, 2] [m/s]
};

/// Stepped worlds of one scenario, as they are reported, written and drawn.
struct StepRun {
  const models::Scenario* scenario = nullptr;
  std::int64_t worlds = 0;
  std::vector<double> parameters;   ///< [worlds, scenario->parameters.size()]
  std::vector<std::string> varied;  ///< swept or drawn ones, kStepSizeName among them
  std::uint64_t seed = 0;
  CompliantSettings settings;
  Backend backend = Backend::cpu;
  std::vector<StepGroup> groups;
  bool complete = true;  ///< false: the run was stopped before its end
  double seconds = 0.0;  ///< of all groups
  std::optional<RouthSet> routh;

  /// Where the results of a world stand.
  struct Place {
    std::size_t group = 0;
    std::size_t row = 0;
  };
  std::vector<Place> place;  ///< [worlds]

  [[nodiscard]] const StepGroup& group_of(std::int64_t world) const {
    return groups[place[static_cast<std::size_t>(world)].group];
  }
  [[nodiscard]] std::span<const double> parameters_of(std::int64_t world) const;
  /// Value of a parameter, or of kStepSizeName, in a world.
  [[nodiscard]] double value_of(const std::string& name, std::int64_t world) const;
  /// q and v at the end.
  [[nodiscard]] std::span<const double> position_of(std::int64_t world) const;
  [[nodiscard]] std::span<const double> velocity_of(std::int64_t world) const;

  /// One number of every world, in the worlds' order: `of` is a member of WorldsResult.
  template <class T>
  [[nodiscard]] std::vector<T> gather(std::vector<T> WorldsResultArrays<WorldValues>::*of) const {
    std::vector<T> values;
    values.reserve(place.size());
    for (const Place& at : place) values.push_back((groups[at.group].result.*of)[at.row]);
    return values;
  }

  [[nodiscard]] std::int64_t failed_worlds() const;
  [[nodiscard]] std::int64_t steps_taken() const;
  [[nodiscard]] double steps_per_second() const;
  /// The largest certified residual of a step of any world; NaN where one is NaN.
  [[nodiscard]] double max_residual() const;
  /// Of the contact solver.
  [[nodiscard]] double iterations_per_step() const;
  [[nodiscard]] std::int32_t iterations_max() const;
  [[nodiscard]] std::map<std::string, std::int64_t> status_counts() const;
};

/// Whether a scenario has one body whose height z its displacement does not tell.
bool has_height(const models::Scenario& scenario);

/// Of a scenario with `has_height`: z at the end less z at the start, and the largest such
/// difference of the kept states, [worlds] [m]; NaN where no states were kept or a world broke.
struct Heights {
  std::vector<double> end;
  std::vector<double> largest;
};
Heights heights_of(const StepRun& run);

/// Least, mean and largest of the finite values; NaN where there are none.
struct Range {
  double min = 0.0;
  double mean = 0.0;
  double max = 0.0;
};
Range range_of(std::span<const double> values);

}  // namespace carom::run
