#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <carom/types/batch.hpp>
#include <carom/types/impact.hpp>
#include <carom/types/settings.hpp>
#include <carom/types/status.hpp>
#include <carom/types/words.hpp>

/// The plain structs of carom/impact_judge.hpp.
namespace carom {

template <template <class> class Array>
struct MeasuredImpactArrays {
  using Sizes = ImpactSizes;

  Array<double> measured_velocity;    ///< v+ as measured, [problems, nv]
  Array<double> measured_covariance;  ///< of it, [problems, nv, nv], positive definite; empty:
                                      ///< distances are |.|_M over |v-|_M

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const std::int64_t p = sizes.problems, nv = sizes.velocities;
    visit("measured_velocity", Extents{p, nv}, tables.measured_velocity...);
    visit("measured_covariance", Extents{p, nv, nv}.or_empty(), tables.measured_covariance...);
  }
};
/// What was measured after the impacts of a batch, in host memory.
struct MeasuredImpacts : MeasuredImpactArrays<Buffer> {};

template <template <class> class Array>
struct ImpactFloorArrays {
  using Sizes = ImpactSizes;

  Array<double> floor;           ///< [problems]; NaN where the program was not solved
  Array<double> floor_impulse;   ///< an impulse that comes as close, in its cones, [problems, d m]
  Array<Status> floor_status;    ///< of the cone program, [problems]
  Array<double> floor_residual;  ///< its certified residual, [problems]; relative

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const std::int64_t p = sizes.problems;
    visit("floor", Extents{p}, tables.floor...);
    visit("floor_impulse", Extents{p, sizes.contact_rows()}, tables.floor_impulse...);
    visit("floor_status", Extents{p}, tables.floor_status...);
    visit("floor_residual", Extents{p}, tables.floor_residual...);
  }
};
/// How close any impulse in the friction cones comes to what was measured.
struct ImpactFloor : ImpactFloorArrays<Buffer> {};

/// What is known of a measured outcome. Samples never prove that it is outside.
enum class JudgeVerdict : std::uint8_t {
  inside,          ///< a certified sample lies within `allowed`
  not_reached,     ///< none does; distance and resolution say how far that goes
  outside_proven,  ///< the floor, or an enclosure, keeps everything farther away than `allowed`
};

template <>
inline constexpr auto words<JudgeVerdict> = std::to_array<Word<JudgeVerdict>>({
    {JudgeVerdict::inside, "inside"},
    {JudgeVerdict::not_reached, "not_reached"},
    {JudgeVerdict::outside_proven, "outside_proven"},
});

struct JudgeSettings {
  double tolerance = 0.02;  ///< of distances over |v-|_M
  double deviations = 3.0;  ///< likewise, where a covariance is given
  int rounds = 4;           ///< of refinement
  int nearest = 16;         ///< samples around which a round draws again
  int redraws = 512;        ///< samples of a round, all together
  int held_out = 40;        ///< samples whose distance to the others is the resolution
  bool enclose = false;     ///< ask an enclosure about what is not reached: inelastic impacts only

  /// See settings.hpp.
  template <class Visit, class... Tables>
  static void each_setting(Visit&& visit, Tables&&... tables) {
    using Range = SettingRange;
    visit({"tolerance", "Distance over |v-|_M up to which an outcome counts as reached",
           Range::finite_from(0)},
          tables.tolerance...);
    visit({"deviations", "The same in standard deviations, if the measurement has a covariance",
           Range::finite_from(0)},
          tables.deviations...);
    visit({"rounds", "Rounds of samples around the nearest ones", Range::between(0, 64)},
          tables.rounds...);
    visit({"nearest", "Number of nearest samples around which a round draws new samples",
           Range::between(1, 1024)},
          tables.nearest...);
    visit({"redraws", "New samples per round", Range::between(1, 1 << 24)}, tables.redraws...);
    visit({"held_out", "Samples that are compared with the others to find the resolution",
           Range::between(1, 1 << 16)},
          tables.held_out...);
    visit({"enclose", "Compute an enclosure for outcomes that are not reached (inelastic impacts)"},
          tables.enclose...);
  }

  /// Errors: InvalidInput naming the field and its value.
  void validate() const;
};

template <template <class> class Array>
struct ImpactJudgementArrays {
  using Sizes = ImpactSizes;

  Array<double> distance;          ///< of the nearest sample, [problems]; infinite without any
  Array<double> sampled_distance;  ///< the same before refinement
  Array<double> resolution;        ///< median distance of held-out samples to the others
  Array<double> allowed;           ///< distance up to which a sample reaches the measurement
  Array<JudgeVerdict> verdict;     ///< [problems]
  // The nearest sample; NaN without any. It is number `nearest_sample` of problem `nearest_problem`
  // of a run with seed `nearest_seed` and the intervals below.
  Array<double> nearest_velocity;           ///< [problems, nv]
  Array<double> nearest_impulse;            ///< [problems, d m]
  Array<double> nearest_restitution;        ///< [problems, m]
  Array<double> nearest_friction;           ///< [problems, m]
  Array<std::int64_t> nearest_sample;       ///< [problems], -1 without any
  Array<std::int64_t> nearest_problem;      ///< [problems]
  Array<std::uint64_t> nearest_seed;        ///< [problems]
  Array<double> interval_restitution_low;   ///< [problems, m]
  Array<double> interval_restitution_high;  ///< [problems, m]
  Array<double> interval_friction;          ///< [problems, m]
  Array<double> interval_friction_high;     ///< [problems, m]

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const std::int64_t p = sizes.problems, m = sizes.contacts;
    visit("distance", Extents{p}, tables.distance...);
    visit("sampled_distance", Extents{p}, tables.sampled_distance...);
    visit("resolution", Extents{p}, tables.resolution...);
    visit("allowed", Extents{p}, tables.allowed...);
    visit("verdict", Extents{p}, tables.verdict...);
    visit("nearest_velocity", Extents{p, sizes.velocities}, tables.nearest_velocity...);
    visit("nearest_impulse", Extents{p, sizes.contact_rows()}, tables.nearest_impulse...);
    visit("nearest_restitution", Extents{p, m}, tables.nearest_restitution...);
    visit("nearest_friction", Extents{p, m}, tables.nearest_friction...);
    visit("nearest_sample", Extents{p}, tables.nearest_sample...);
    visit("nearest_problem", Extents{p}, tables.nearest_problem...);
    visit("nearest_seed", Extents{p}, tables.nearest_seed...);
    visit("interval_restitution_low", Extents{p, m}, tables.interval_restitution_low...);
    visit("interval_restitution_high", Extents{p, m}, tables.interval_restitution_high...);
    visit("interval_friction", Extents{p, m}, tables.interval_friction...);
    visit("interval_friction_high", Extents{p, m}, tables.interval_friction_high...);
  }
};
struct ImpactJudgement {
  ImpactFloor floor;
  struct Samples : ImpactJudgementArrays<Buffer> {
  } samples;
  bool cancelled = false;  ///< problems that were not reached have no samples
};

struct IdentifySettings {
  double tolerance = 0.03;   ///< of distances, up to which a pair of numbers explains an impact
  double share = 0.9;        ///< of the impacts that the smallest interval explains
  std::int64_t samples = 0;  ///< of each impact and pair; 0: 1 of one contact, else 512
  int bootstrap = 200;       ///< resampled sets of impacts

  /// See settings.hpp.
  template <class Visit, class... Tables>
  static void each_setting(Visit&& visit, Tables&&... tables) {
    using Range = SettingRange;
    visit({"tolerance", "Distance up to which restitution and friction explain an impact",
           Range::finite_from(0)},
          tables.tolerance...);
    visit(
        {"share", "Share of the impacts that the smallest interval explains", Range::between(0, 1)},
        tables.share...);
    visit({"samples", "Samples of each impact at each pair of restitution and friction",
           Range::at_least(0), "", "1 of one contact, else 512"},
          tables.samples...);
    visit({"bootstrap", "Resampled sets of impacts for the bounds of the smallest interval",
           Range::between(0, 1 << 20)},
          tables.bootstrap...);
  }

  /// Errors: InvalidInput naming the field and its value.
  void validate() const;
};

/// Which restitution and friction, the same at all contacts, explain measured outcomes.
struct ImpactIdentification {
  std::vector<double> restitution, friction;  ///< the grids, rising
  std::vector<double> distance;  ///< of the nearest sample, [problems, restitution, friction];
                                 ///< infinite without any
  /// Ends of the box of least area that explains the share: restitution, then friction; NaN where
  /// none does.
  std::array<double, 4> smallest_interval{};
  std::array<double, 8> bounds{};  ///< 5 and 95 % of each of them over resampled impacts
  bool cancelled = false;          ///< distances that were not reached are infinite
};

}  // namespace carom
