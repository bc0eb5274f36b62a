#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <carom/types/backend.hpp>
#include <carom/types/batch.hpp>
#include <carom/types/fields.hpp>
#include <carom/types/settings.hpp>
#include <carom/types/words.hpp>
#include <carom/types/workspace.hpp>

/// The plain structs of carom/motion.hpp.
namespace carom {

namespace detail {
template <class Value>
using Vector = std::vector<Value>;
}

/// Largest number of friction directions of a spatial contact in an impact of a motion.
inline constexpr int kMotionFrictionDirections = 8;

/// The functor of src/models/mechanisms behind a motion; its parameters are those that
/// models::build_motion yields.
enum class MotionMechanism : std::uint8_t {
  block,         ///< RockingBlock: two corners on a floor, q = (x, y, theta)
  ball,          ///< BouncingBall: a disk on a floor, likewise
  rod,           ///< SlidingRod: both ends on a floor, likewise
  box,           ///< BoxOnFloor: four corners on a floor, likewise
  box_and_wall,  ///< BoxAndWall: four corners on a floor and a wall, likewise
  walker,        ///< CompassWalker: q = (hip x, hip y, leading angle, trailing angle)
  ramone,        ///< Ramone: q = (pelvis x, y, pitch, leading hip, knee, trailing hip, knee)
  disk_stack,    ///< DiskStack: q = (x, y, theta) of three disks
  cube,          ///< Cube: eight corners on a floor, q = (centre, quaternion)
  bar_on_steps,  ///< BarOnSteps: likewise, two ends of an edge and two nosings
  tree,          ///< TreeMechanism: one's own in the plane, of motion_tree.hpp
  spatial_tree,  ///< SpatialTreeMechanism: one's own in space, likewise
};

template <>
inline constexpr auto words<MotionMechanism> = std::to_array<Word<MotionMechanism>>({
    {MotionMechanism::block, "block"},
    {MotionMechanism::ball, "ball"},
    {MotionMechanism::rod, "rod"},
    {MotionMechanism::box, "box"},
    {MotionMechanism::box_and_wall, "box_and_wall"},
    {MotionMechanism::walker, "walker"},
    {MotionMechanism::ramone, "ramone"},
    {MotionMechanism::disk_stack, "disk_stack"},
    {MotionMechanism::cube, "cube"},
    {MotionMechanism::bar_on_steps, "bar_on_steps"},
    {MotionMechanism::tree, "tree"},
    {MotionMechanism::spatial_tree, "spatial_tree"},
});

/// What follows the inelastic part of an impact.
enum class Restitution : std::uint8_t {
  newton,   ///< normal velocities: at least e times the speed of approach, with the opposite sign
  poisson,  ///< normal impulses: at least e times those of the compression
  stronge,  ///< energy: the normals give back e^2 of the work they took
};

template <>
inline constexpr auto words<Restitution> = std::to_array<Word<Restitution>>({
    {Restitution::newton, "newton"},
    {Restitution::poisson, "poisson"},
    {Restitution::stronge, "stronge"},
});

/// How a motion ended.
enum class MotionEnd : std::uint8_t {
  duration,       ///< it went on for the whole duration
  rest,           ///< nothing moves any more, nor ever will
  event_limit,    ///< max_events were used up
  failed,         ///< a certificate did not hold, or no solution was found; numbers are NaN
  invalid_input,  ///< a number of the problem is refused
};

template <>
inline constexpr auto words<MotionEnd> = std::to_array<Word<MotionEnd>>({
    {MotionEnd::duration, "duration"},
    {MotionEnd::rest, "rest"},
    {MotionEnd::event_limit, "event_limit"},
    {MotionEnd::failed, "failed"},
    {MotionEnd::invalid_input, "invalid_input"},
});

enum class MotionEventKind : std::uint8_t {
  impact,
  push,      ///< impact without collision: no contact forces are consistent (Painleve)
  lift_off,  ///< a normal force vanished, or an impact parted what touched
  stick,
  slip,
  zeno,  ///< the limit of a sequence of impacts whose times accumulate
  rest,
};

template <>
inline constexpr auto words<MotionEventKind> = std::to_array<Word<MotionEventKind>>({
    {MotionEventKind::impact, "impact"},
    {MotionEventKind::push, "impact_without_collision"},
    {MotionEventKind::lift_off, "lift_off"},
    {MotionEventKind::stick, "stick"},
    {MotionEventKind::slip, "slip"},
    {MotionEventKind::zeno, "zeno"},
    {MotionEventKind::rest, "rest"},
});

/// What all problems of a batch share.
struct MotionSizes {
  std::int64_t problems = 0;
  MotionMechanism mechanism = MotionMechanism::block;
  int parameter_count = 0;
  int positions = 0;            ///< nq
  int velocities = 0;           ///< nv
  int contacts = 0;             ///< m
  std::int64_t knots = 0;       ///< of the drive; 0: none
  double drive_interval = 0.0;  ///< time between knots [s]
};

template <template <class> class Array>
struct MotionBatchArrays {
  using Sizes = MotionSizes;

  Array<double> parameters;  ///< in the mechanism's order, [problems, parameter_count]
  Array<double> position;    ///< q at t = 0; gaps must not be negative, [problems, nq]
  Array<double> velocity;    ///< v at t = 0, [problems, nv]
  /// Half widths of the uniform distributions that a sample's start is drawn from, around the
  /// above; draws that penetrate are drawn again. Optional, [problems, nq] and [problems, nv].
  Array<double> position_spread, velocity_spread;
  /// Generalised forces of the drive, held from knot k until the next, the last for ever.
  /// Optional, [problems, knots, nv].
  Array<double> drive;

  /// See batch.hpp; likewise below.
  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const std::int64_t p = sizes.problems;
    visit("parameters", Extents{p, sizes.parameter_count}, tables.parameters...);
    visit("position", Extents{p, sizes.positions}, tables.position...);
    visit("velocity", Extents{p, sizes.velocities}, tables.velocity...);
    visit("position_spread", Extents{p, sizes.positions}.or_empty(), tables.position_spread...);
    visit("velocity_spread", Extents{p, sizes.velocities}.or_empty(), tables.velocity_spread...);
    visit("drive", Extents{p, sizes.knots, sizes.velocities}.or_empty(), tables.drive...);
  }
};

/// Problems of one mechanism, in one memory space.
struct MotionBatch : MotionSizes, MotionBatchArrays<Buffer> {
  [[nodiscard]] MotionBatch to(MemorySpace space) const { return copy_to(*this, space); }
};

/// One mechanism with its start.
struct MotionProblem : MotionBatchArrays<detail::Vector> {
  std::string name;
  MotionMechanism mechanism = MotionMechanism::block;
  double drive_interval = 0.0;  ///< time between knots of the drive [s]
};

struct MotionSettings {
  double duration = 1.0;           ///< [s], > 0
  std::int64_t samples = 1;        ///< motions a problem
  std::int64_t first_sample = 0;   ///< index of the first, and ...
  std::int64_t first_problem = 0;  ///< ... of the batch's first problem: shards of one run differ
                                   ///< only in these
  std::uint64_t seed = 0;
  double step_size = 0.0;  ///< h of Algorithm 1 [N s]: lambda_max is drawn from [0, h]^m; 0: of
                           ///< each impact the largest impulse that one contact needs to stop; at
                           ///< least 1e-3 of what stops the slip, and 1e-4 of what the terms in
                           ///< the sum of a contact velocity would need
  Restitution restitution = Restitution::newton;
  double coefficient = 0.0;          ///< e of the restitution, in [0, 1]
  std::int64_t max_events = 10000;   ///< of one motion
  int friction_directions = 4;       ///< of spatial contacts in impacts
  double tolerance = 1e-10;          ///< of the integration, relative and absolute
  double contact_tolerance = 1e-10;  ///< [m]: a smaller gap counts as touching
  double velocity_tolerance = 1e-9;  ///< [m/s]: slower approach, slip and motion count as none
  double law_tolerance = 1e-8;       ///< largest relative residual of a contact law
  double zeno_tolerance = 1e-9;      ///< [s]: to which the limit of a sequence of impacts is known
  bool mode_table = true;         ///< the first impact has the impact family's table of modes, so
                                  ///< that same seeds give same samples where its steps have
                                  ///< several solutions; it costs a flight and a table a problem:
                                  ///< choose false for few samples of each of many problems
  double grid = 0.0;              ///< [s]: interval of the states that are kept; 0: none
  std::int64_t keep_samples = 0;  ///< motions whose states and events are kept, the first ones
  std::int64_t keep_events = 0;   ///< events kept of each of them at most
  int threads = 0;                ///< cpu, reference: 0 = all hardware threads

  /// See settings.hpp.
  template <class Visit, class... Tables>
  static void each_setting(Visit&& visit, Tables&&... tables) {
    using Range = SettingRange;
    visit({"duration", "Duration of a motion", Range::above(0), "s"}, tables.duration...);
    visit({"samples", "Motions per problem, e.g. 1000 or 2^10", Range::at_least(1)},
          tables.samples...);
    visit({"first_sample", "Index of the first sample, for shards of a run", Range::at_least(0)},
          tables.first_sample...);
    visit({"first_problem", "Index of the first problem, for shards of a run",
           Range::between(0, 4294967295.0)},
          tables.first_problem...);
    visit({"seed", "Seed of the random numbers"}, tables.seed...);
    visit({"step_size", "Step size h of impacts", Range::finite_from(0), "N s",
           "for each impact the largest impulse that stops one contact"},
          tables.step_size...);
    visit({"restitution", "Restitution law"}, tables.restitution...);
    visit({"coefficient", "Coefficient of restitution", Range::between(0, 1)},
          tables.coefficient...);
    visit({"max_events", "Largest number of events of a motion", Range::between(1, 1'000'000'000)},
          tables.max_events...);
    visit({"friction_directions", "Friction directions of a spatial contact in impacts",
           Range::between(4, kMotionFrictionDirections)},
          tables.friction_directions...);
    visit({"tolerance", "Tolerance of the integration", Range::tolerance()}, tables.tolerance...);
    visit({"contact_tolerance", "Smaller gaps count as contact", Range::above(0), "m"},
          tables.contact_tolerance...);
    visit({"velocity_tolerance", "Smaller speeds count as zero", Range::above(0), "m/s"},
          tables.velocity_tolerance...);
    visit({"law_tolerance", "Largest relative residual of a contact law", Range::tolerance()},
          tables.law_tolerance...);
    visit({"zeno_tolerance", "Accuracy of the limit of accumulating impacts", Range::above(0), "s"},
          tables.zeno_tolerance...);
    visit({"mode_table", "Solve the first impact by a table of contact modes"},
          tables.mode_table...);
    visit({"grid", "Interval of the stored states", Range::finite_from(0), "s", "none"},
          tables.grid...);
    visit({"keep_samples", "Number of motions per problem whose states and events are stored",
           Range::at_least(0)},
          tables.keep_samples...);
    visit({"keep_events", "Largest number of stored events per motion", Range::at_least(0)},
          tables.keep_events...);
    visit({"threads", "CPU threads", Range::at_least(0), "", "all"}, tables.threads...);
  }

  /// States of a kept motion: at 0, grid, 2 grid, ... and at the duration.
  [[nodiscard]] std::int64_t grid_points() const;

  /// Errors: InvalidInput naming the field and its value.
  void validate() const;
};

struct MotionResultSizes {
  std::int64_t problems = 0;
  std::int64_t samples = 0;
  int positions = 0;
  int velocities = 0;
  int contacts = 0;
  std::int64_t kept = 0;         ///< samples with states and events
  std::int64_t grid_points = 0;  ///< of each of them
  std::int64_t event_rows = 0;   ///< likewise
};

template <template <class> class Array>
struct MotionResultArrays {
  using Sizes = MotionResultSizes;

  Array<MotionEnd> end;        ///< [problems, samples]
  Array<double> time;          ///< at which it ended; of `rest` when rest began, likewise
  Array<double> s;             ///< the paper's clock there
  Array<double> position;      ///< q at the end, [problems, samples, nq]; NaN where failed
  Array<double> velocity;      ///< v at the end, [problems, samples, nv]; likewise
  Array<double> first_impact;  ///< v just after the first impact, [problems, samples, nv]; NaN
                               ///< where there was none
  Array<std::int32_t> events;  ///< [problems, samples], likewise below
  Array<std::int32_t> impacts;
  Array<std::int32_t> pushes;     ///< impacts without collision
  Array<std::int32_t> ambiguous;  ///< times that the contact laws had several solutions
  Array<std::int32_t> zeno;       ///< accumulations of impacts
  Array<double> zeno_time;        ///< of the first [s]; NaN where there was none
  Array<double> zeno_s;           ///< likewise
  Array<double> residual;         ///< largest of contact laws and impact steps, relative
  Array<double> gap_drift;        ///< largest |gap| of a contact held closed and -gap of any [m]
  Array<double> energy_gain;      ///< most that energy grew by beyond what the drive gave [J]
  Array<double> energy_error;     ///< of the balance over free motion and contact [J]
  Array<double> load;             ///< normal forces at the end of `rest` [N], [.., contacts]

  /// (q, v, s) on the grid, [problems, kept, grid_points, nq + nv + 1].
  Array<double> state;
  Array<std::int32_t> event_count;      ///< kept ones, [problems, kept]
  Array<MotionEventKind> event_kind;    ///< [problems, kept, event_rows], likewise below
  Array<std::uint32_t> event_contacts;  ///< bits of the contacts concerned
  Array<double> event_time, event_s;
  Array<double> event_state;  ///< (q, v) after it, [.., nq + nv]

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const std::int64_t p = sizes.problems;
    const std::int64_t n = sizes.samples;
    const std::int64_t k = sizes.kept;
    const std::int64_t rows = sizes.event_rows;
    const int nq = sizes.positions;
    const int nv = sizes.velocities;
    visit("end", Extents{p, n}, tables.end...);
    visit("time", Extents{p, n}, tables.time...);
    visit("s", Extents{p, n}, tables.s...);
    visit("position", Extents{p, n, nq}, tables.position...);
    visit("velocity", Extents{p, n, nv}, tables.velocity...);
    visit("first_impact", Extents{p, n, nv}, tables.first_impact...);
    visit("events", Extents{p, n}, tables.events...);
    visit("impacts", Extents{p, n}, tables.impacts...);
    visit("pushes", Extents{p, n}, tables.pushes...);
    visit("ambiguous", Extents{p, n}, tables.ambiguous...);
    visit("zeno", Extents{p, n}, tables.zeno...);
    visit("zeno_time", Extents{p, n}, tables.zeno_time...);
    visit("zeno_s", Extents{p, n}, tables.zeno_s...);
    visit("residual", Extents{p, n}, tables.residual...);
    visit("gap_drift", Extents{p, n}, tables.gap_drift...);
    visit("energy_gain", Extents{p, n}, tables.energy_gain...);
    visit("energy_error", Extents{p, n}, tables.energy_error...);
    visit("load", Extents{p, n, sizes.contacts}, tables.load...);
    visit("state", Extents{p, k, sizes.grid_points, nq + nv + 1}, tables.state...);
    visit("event_count", Extents{p, k}, tables.event_count...);
    visit("event_kind", Extents{p, k, rows}, tables.event_kind...);
    visit("event_contacts", Extents{p, k, rows}, tables.event_contacts...);
    visit("event_time", Extents{p, k, rows}, tables.event_time...);
    visit("event_s", Extents{p, k, rows}, tables.event_s...);
    visit("event_state", Extents{p, k, rows, nq + nv}, tables.event_state...);
  }
};
struct MotionResult : MotionResultSizes, MotionResultArrays<Buffer> {};

/// What the motions of one problem did.
struct MotionSummary {
  std::int64_t samples = 0;
  std::int64_t ended_duration = 0, ended_rest = 0, ended_event_limit = 0, ended_failed = 0;
  std::int64_t impacts = 0, pushes = 0, events = 0, ambiguous = 0;
  std::int64_t zeno = 0;
  double zeno_time = 0.0;         ///< NaN without
  double zeno_s = 0.0;            ///< likewise
  std::int64_t zeno_sample = -1;  ///< the first sample that has one
  double max_residual = 0.0, max_gap_drift = 0.0, max_energy_gain = 0.0, max_energy_error = 0.0;
  std::vector<double> position_min, position_max;
  std::vector<double> velocity_min, velocity_max;

  /// See fields.hpp. What is of the first accumulation of impacts has no merge: add() chooses it.
  template <class Visit, class... Tables>
  static void each_field(Visit&& visit, Tables&&... tables) {
    const auto count = [&](const char* name, const char* meaning, auto&... values) {
      visit(Field{name, "number", "", meaning, Merge::sum}, values...);
    };
    count("samples", "motions", tables.samples...);
    count("ended.duration", "motions that went on to the end of the time",
          tables.ended_duration...);
    count("ended.rest", "motions that came to rest", tables.ended_rest...);
    count("ended.event_limit", "motions with too many events", tables.ended_event_limit...);
    count("ended.failed", "motions that could not be certified", tables.ended_failed...);
    count("impacts", "of all motions", tables.impacts...);
    count("impacts_without_collision", "where no contact forces are consistent", tables.pushes...);
    count("events", "of all motions", tables.events...);
    count("ambiguous", "times that the contact laws had several solutions", tables.ambiguous...);
    count("zeno.count", "accumulations of impacts", tables.zeno...);
    visit(Field{"zeno.first_time", "number or null", "s", "t* of the first motion that has one"},
          tables.zeno_time...);
    visit(Field{"zeno.first_s", "number or null", "", "s* there"}, tables.zeno_s...);
    visit(Field{"max_residual", "number", "", "of contact laws and impact steps, relative",
                Merge::most},
          tables.max_residual...);
    visit(Field{"max_gap_drift", "number", "m",
                "largest |gap| of a contact held closed and -gap of any", Merge::most},
          tables.max_gap_drift...);
    visit(Field{"max_energy_gain", "number", "J", "beyond what the drive gave", Merge::most},
          tables.max_energy_gain...);
    visit(Field{"max_energy_error", "number", "J", "of the energy balance", Merge::most},
          tables.max_energy_error...);
    visit(Field{"final.position_min", "positions", "", "at the end", Merge::least},
          tables.position_min...);
    visit(Field{"final.position_max", "positions", "", "at the end", Merge::most},
          tables.position_max...);
    visit(Field{"final.velocity_min", "velocities", "", "at the end", Merge::least},
          tables.velocity_min...);
    visit(Field{"final.velocity_max", "velocities", "", "at the end", Merge::most},
          tables.velocity_max...);
  }

  /// Adds what other samples of the same problem did.
  void add(const MotionSummary& other);
};

}  // namespace carom
