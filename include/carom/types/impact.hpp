#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <carom/types/backend.hpp>
#include <carom/types/batch.hpp>
#include <carom/types/fields.hpp>
#include <carom/types/settings.hpp>
#include <carom/types/status.hpp>
#include <carom/types/words.hpp>
#include <carom/types/workspace.hpp>

/// The plain structs of carom/impact.hpp.
namespace carom {

/// Largest number of contacts of one impact problem, and ...
inline constexpr int kMaxContacts = 64;
inline constexpr int kMaxDeviceContacts = 16;  ///< ... on a device, whose memory is scarce
/// Contacts whose modes fit a word; of more contacts `modes` is 0 and `mode_counts` empty.
inline constexpr int kMaxModeContacts = 32;
/// Largest number of contacts that ImpactMethod::events follows, and ...
inline constexpr int kMaxFollowedContacts = 16;
inline constexpr int kMaxDeviceFollowedContacts = 8;  ///< ... on a device
/// Largest number of friction directions of a spatial contact.
inline constexpr int kMaxFrictionDirections = 16;
/// Largest number of generalised velocities of one impact problem, and ...
inline constexpr int kMaxVelocities = 256;
inline constexpr int kMaxDeviceVelocities = 64;  ///< ... on a device
/// Steps per trajectory where the settings leave them open. With h the impulse that stops the
/// contact that takes most, contacts that others keep closing take up to forty steps; trajectories
/// that end earlier pay nothing.
inline constexpr int kDerivedSteps = 40;
/// Likewise where contacts have restitution: each bounce takes some steps.
inline constexpr int kDerivedReleaseSteps = 256;
/// Samples at most from which a net's radius follows.
inline constexpr std::int64_t kPilotSamples = 1024;

/// One impact: the state just before it, at a configuration with m active contacts.
/// Contact i has the normal row Jn_i and dimension-1 tangent rows; J_i v is the contact's velocity
/// [m/s] in its own frame, positive normal component separating. All arrays are row-major.
struct ImpactProblem {
  std::string name;
  int dimension = 2;                     ///< 2 planar (one tangent row a contact), 3 spatial (two)
  int velocities = 0;                    ///< nv
  int contacts = 0;                      ///< m
  std::vector<double> mass_matrix;       ///< M, [nv, nv], symmetric positive definite
  std::vector<double> normal_jacobian;   ///< Jn, [m, nv]
  std::vector<double> tangent_jacobian;  ///< Jt, [(dimension-1) m, nv], in contact order
  std::vector<double> friction;          ///< mu, [m], >= 0
  std::vector<double> velocity;          ///< v before the impact, [nv]

  /// Restitution e_i in [low, high] within [0, 1], [m]; empty: 0, inelastic. What it means:
  /// RestitutionLaw.
  std::vector<double> restitution_low, restitution_high;
  std::vector<double> friction_high;  ///< mu_i in [friction, friction_high], [m]; empty: friction
};

struct ImpactSizes {
  std::int64_t problems = 0;
  int dimension = 2;
  int velocities = 0;  ///< nv
  int contacts = 0;    ///< m

  /// Number of rows of J = [Jn; Jt] and of an impulse: dimension * m.
  [[nodiscard]] int contact_rows() const { return dimension * contacts; }
};

template <template <class> class Array>
struct ImpactBatchArrays {
  using Sizes = ImpactSizes;

  Array<double> mass_matrix;       ///< [problems, nv, nv]
  Array<double> normal_jacobian;   ///< [problems, m, nv]
  Array<double> tangent_jacobian;  ///< [problems, (dimension-1) m, nv]
  Array<double> friction;          ///< [problems, m]
  Array<double> velocity;          ///< [problems, nv]
  Array<double> restitution_low;   ///< [problems, m]; empty, with restitution_high: 0
  Array<double> restitution_high;  ///< [problems, m]
  Array<double> friction_high;     ///< [problems, m]; empty: friction

  /// See batch.hpp; likewise below.
  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const auto [p, dimension, nv, m] = sizes;
    const Extents optional = Extents{p, m}.or_empty();
    visit("mass_matrix", Extents{p, nv, nv}, tables.mass_matrix...);
    visit("normal_jacobian", Extents{p, m, nv}, tables.normal_jacobian...);
    visit("tangent_jacobian", Extents{p, (dimension - 1) * m, nv}, tables.tangent_jacobian...);
    visit("friction", Extents{p, m}, tables.friction...);
    visit("velocity", Extents{p, nv}, tables.velocity...);
    visit("restitution_low", optional, tables.restitution_low...);
    visit("restitution_high", optional, tables.restitution_high...);
    visit("friction_high", optional, tables.friction_high...);
  }
};

/// Problems of one shape, in one memory space.
struct ImpactBatch : ImpactSizes, ImpactBatchArrays<Buffer> {
  [[nodiscard]] ImpactBatch to(MemorySpace space) const { return copy_to(*this, space); }
};

/// The contact whose approach takes the largest impulse to stop, each contact by itself.
struct StoppingImpulse {
  int contact = -1;      ///< -1: none approaches
  double impulse = 0.0;  ///< -u_n / (Jn M^-1 Jn') of that contact [N s]
};

/// What follows the inclusion (39), (40).
enum class ImpactMethod : std::uint8_t {
  lcp,     ///< Algorithm 1: steps (75) under drawn lambda_max, with an error that h bounds
  events,  ///< up to 16 contacts: solutions followed exactly from event to event under drawn
           ///< weights, without a step size (docs/explanation/enclosure.md)
};

template <>
inline constexpr auto words<ImpactMethod> = std::to_array<Word<ImpactMethod>>({
    {ImpactMethod::lcp, "lcp"},
    {ImpactMethod::events, "events"},
});

/// What a contact with restitution e gives back of its compression
/// (docs/explanation/restitution.md). A contact that pushes while it approaches fills a store; one
/// that separates pushes as long as its store lasts, and the impact ends where nothing approaches
/// and all stores are empty.
enum class RestitutionLaw : std::uint8_t {
  stronge,  ///< e^2 of the compression's work
  poisson,  ///< e of its impulse, but no more than its work
  newton,   ///< until u_n is e times the largest speed of approach, but no more than its work
};

template <>
inline constexpr auto words<RestitutionLaw> = std::to_array<Word<RestitutionLaw>>({
    {RestitutionLaw::stronge, "stronge"},
    {RestitutionLaw::poisson, "poisson"},
    {RestitutionLaw::newton, "newton"},
});

/// Random numbers for lambda_max from [0, h]^m.
enum class Sampler : std::uint8_t {
  uniform,  ///< Philox4x32-10
  sobol,    ///< Sobol sequence in m * max_steps dimensions, digitally shifted by the seed
};

template <>
inline constexpr auto words<Sampler> = std::to_array<Word<Sampler>>({
    {Sampler::uniform, "uniform"},
    {Sampler::sobol, "sobol"},
});

/// Which solution of (75) a step takes where there are several (Assumption 6 fails).
enum class Selection : std::uint8_t {
  any,  ///< fast, a function of the step's data only: a solution out of the problem's table of
        ///< modes, drawn by the data's last bits where the problem has steps with several; without
        ///< a table, or where it has none, the one that the contact-mode path finds
  lemke,   ///< lexicographic Lemke's on the full LCP (75)
  random,  ///< one of the distinct v', drawn uniformly with the sample's own numbers
};

template <>
inline constexpr auto words<Selection> = std::to_array<Word<Selection>>({
    {Selection::any, "any"},
    {Selection::lemke, "lemke"},
    {Selection::random, "random"},
});

/// What to do with a problem of a batch whose numbers are refused.
enum class BadProblem : std::uint8_t {
  refuse,   ///< throw InvalidInput before anything is computed
  isolate,  ///< Status::invalid_input and NaN for that problem, the others as if it were absent
};

template <>
inline constexpr auto words<BadProblem> = std::to_array<Word<BadProblem>>({
    {BadProblem::refuse, "refuse"},
    {BadProblem::isolate, "isolate"},
});

/// Mode of one contact at a velocity; two bits a contact, contact 0 lowest.
enum class ContactMode : std::uint8_t {
  separating = 0,        ///< Jn v > mode_tolerance
  sticking = 1,          ///< |Jt v| <= mode_tolerance
  sliding = 2,           ///< spatial sliding; planar with Jt v > 0
  sliding_negative = 3,  ///< planar with Jt v < 0
};

/// Spatial sliding has no sign; planar sliding carries its own (mode_words).
template <>
inline constexpr auto words<ContactMode> = std::to_array<Word<ContactMode>>({
    {ContactMode::separating, "separating"},
    {ContactMode::sticking, "sticking"},
    {ContactMode::sliding, "sliding"},
    {ContactMode::sliding_negative, "sliding-"},
});

struct ImpactProgress {
  std::int64_t samples_done = 0;  ///< over all problems
  std::int64_t samples_total = 0;
  /// Of the first sample that a derived epsilon follows from (epsilon = -1); it comes before.
  std::int64_t pilot_done = 0;
  std::int64_t pilot_total = 0;
};

struct ImpactSettings {
  std::int64_t samples = 1 << 14;  ///< trajectories a problem, M of Algorithm 2
  std::int64_t first_sample = 0;   ///< index of the first, and ...
  std::int64_t first_problem = 0;  ///< ... of the batch's first problem: shards of one run differ
                                   ///< only in these
  std::uint64_t seed = 0;
  ImpactMethod method = ImpactMethod::lcp;
  RestitutionLaw law = RestitutionLaw::stronge;  ///< of contacts with restitution
  bool vary = false;  ///< draw restitution and friction from their intervals anew for each stretch
                      ///< of a sample, not once a sample
  double step_size = 0.0;       ///< h [N s]; 0: of each problem the impulse that stops the contact
                                ///< that takes most, max of -u_n / (Jn M^-1 Jn') where u_n < 0
  int max_steps = 0;            ///< N; 0: kDerivedSteps
  int friction_directions = 4;  ///< k of spatial contacts, 4..16; planar contacts have two
  Sampler sampler = Sampler::uniform;
  Selection selection = Selection::any;
  bool mode_table =
      true;  ///< selection any, up to 6 planar or 4 spatial contacts: solve by a table of
             ///< modes that the samples of a problem share. It costs about as much as 300 of them;
             ///< choose false for fewer than about 30 samples a problem
  double velocity_tolerance = 1e-9;  ///< [m/s]: contact i approaches while Jn_i v < -tolerance
  double residual_tolerance = 1e-9;  ///< on the natural residual of (75), relative to |u|
  double mode_tolerance = 1e-6;      ///< [m/s], classification of v+ only

  double epsilon = -1.0;  ///< radius of the epsilon-net [m/s]; 0: no net; -1: of each problem 0.05
                          ///< of the extent of its first min(samples, kPilotSamples) samples, or
                          ///< 0.02 of its contact speed before the impact where the set is a point
  std::int64_t net_capacity = 1 << 20;  ///< largest number of net points; a fuller net is coarsened
                                        ///< by doubling epsilon, and says so
  std::int64_t keep_samples = 0;        ///< rows kept per problem: the first n samples; -1: all
  std::int64_t keep_paths = 0;  ///< whole paths v_0..v_K kept per problem: the first n samples

  /// Radius of each problem's net [problems], >= 0, in place of epsilon; not taken where empty.
  std::span<const double> problem_epsilon;

  BadProblem bad_problem = BadProblem::refuse;
  MemorySpace result_space = MemorySpace::host;  ///< of ImpactSamples; device only with cuda
  int threads = 0;                               ///< cpu: 0 = all hardware threads

  /// Called between chunks; returning false stops the run, which then reports what it has.
  std::function<bool(const ImpactProgress&)> progress;

  /// See settings.hpp.
  template <class Visit, class... Tables>
  static void each_setting(Visit&& visit, Tables&&... tables) {
    using Range = SettingRange;
    visit({"samples", "Trajectories per problem, e.g. 16384 or 2^14", Range::at_least(1)},
          tables.samples...);
    visit({"first_sample", "Index of the first sample, for shards of a run", Range::at_least(0)},
          tables.first_sample...);
    visit({"first_problem", "Index of the first problem, for shards of a run",
           Range::between(0, 4294967295.0)},
          tables.first_problem...);
    visit({"method", "Sampler of the inclusion; events needs no step size"}, tables.method...);
    visit({"law", "Law of restitution"}, tables.law...);
    visit({"vary", "Draw restitution and friction anew within each sample"}, tables.vary...);
    visit({"step_size", "Step size h", Range::finite_from(0), "N s",
           "the largest impulse that stops one contact"},
          tables.step_size...);
    visit({"max_steps", "Largest number of steps per trajectory", Range::between(0, 1'000'000), "",
           "40; 256 with restitution"},
          tables.max_steps...);
    visit({"sampler", "Random numbers for lambda_max"}, tables.sampler...);
    visit({"selection", "Which solution a step takes if it has several"}, tables.selection...);
    visit({"friction_directions", "Friction directions of a spatial contact",
           Range::between(4, kMaxFrictionDirections)},
          tables.friction_directions...);
    visit({"velocity_tolerance", "Slower approach counts as zero", Range::finite_from(0), "m/s"},
          tables.velocity_tolerance...);
    visit(
        {"residual_tolerance", "Largest relative residual of a certified step", Range::tolerance()},
        tables.residual_tolerance...);
    visit({"mode_tolerance", "Slower contacts count as sticking", Range::finite_from(0), "m/s"},
          tables.mode_tolerance...);
    visit({"threads", "CPU threads", Range::at_least(0), "", "all"}, tables.threads...);
    visit({"seed", "Seed of the random numbers"}, tables.seed...);
    visit({"epsilon", "Radius of the epsilon-net; -1: 0.05 of the set's extent",
           Range::finite_from(-1), "m/s", "none"},
          tables.epsilon...);
    visit({"net_capacity", "Largest number of net points; a fuller net is coarsened",
           Range::between(1, 1 << 30)},
          tables.net_capacity...);
    visit({"keep_samples", "Number of stored samples per problem; -1: all", Range::at_least(-1)},
          tables.keep_samples...);
    visit({"keep_paths", "Number of stored trajectories per problem", Range::at_least(0)},
          tables.keep_paths...);
    visit({"mode_table", "Solve steps by a table of contact modes if the problem is small"},
          tables.mode_table...);
    visit({"bad_problem", "What to do with a problem whose numbers are invalid"},
          tables.bad_problem...);
    visit({"result_space", "Memory of the samples; device needs backend cuda"},
          tables.result_space...);
  }

  /// Errors: InvalidInput naming the field and its value.
  void validate() const;
};

/// What the trajectories of one problem did.
struct ImpactSummary {
  Status status = Status::solved;  ///< solved: none failed; inaccurate: some did; cancelled;
                                   ///< invalid_input
  double step_size = 0.0;
  int max_steps = 0;
  double epsilon = 0.0;
  double contact_speed = 0.0;
  std::int64_t samples = 0;
  std::int64_t terminated = 0;
  std::int64_t max_steps_reached = 0;
  std::int64_t failed = 0;
  std::int64_t lcp_solves = 0;
  std::int64_t fallback_solves = 0;
  std::int64_t pivots = 0;
  std::int64_t nonunique_solves = 0;
  std::int64_t nonunique_examined = 0;
  double max_residual = 0.0;
  double max_energy_ratio = 0.0;
  double min_energy_ratio = std::numeric_limits<double>::quiet_NaN();
  std::int64_t guarded = 0;
  std::int64_t trimmed = 0;
  double lost_compression_mean = std::numeric_limits<double>::quiet_NaN();
  double lost_compression_min = std::numeric_limits<double>::quiet_NaN();
  double lost_compression_max = std::numeric_limits<double>::quiet_NaN();
  double lost_friction_mean = std::numeric_limits<double>::quiet_NaN();
  double lost_friction_min = std::numeric_limits<double>::quiet_NaN();
  double lost_friction_max = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> normal_velocity_min, normal_velocity_max;
  std::vector<double> tangent_velocity_min, tangent_velocity_max;
  std::vector<double> velocity_min, velocity_max;
  std::vector<std::pair<std::uint64_t, std::int64_t>> mode_counts;  ///< (modes, count), by modes

  /// See fields.hpp. Ranges are over terminated samples, NaN where there is none.
  template <class Visit, class... Tables>
  static void each_field(Visit&& visit, Tables&&... tables) {
    visit(Field{"status", "text", "", "solved; inaccurate: some samples failed; or why it stopped"},
          tables.status...);
    visit(Field{"step_size", "number", "N s", "h"}, tables.step_size...);
    visit(Field{"max_steps", "number", "", "N"}, tables.max_steps...);
    visit(Field{"epsilon", "number", "m/s", "radius asked of the net; 0: none"}, tables.epsilon...);
    visit(Field{"contact_speed", "number", "m/s", "largest |J v| before the impact"},
          tables.contact_speed...);
    visit(Field{"samples", "number", "", "terminated + max_steps_reached + failed", Merge::sum},
          tables.samples...);
    visit(Field{"terminated", "number", "", "samples in which no contact approaches any more",
                Merge::sum},
          tables.terminated...);
    visit(Field{"max_steps_reached", "number", "", "samples that still collide: no outcomes",
                Merge::sum},
          tables.max_steps_reached...);
    visit(Field{"failed", "number", "", "samples with a step that could not be certified",
                Merge::sum},
          tables.failed...);
    visit(Field{"lcp_solves", "number", "", "steps of all samples", Merge::sum},
          tables.lcp_solves...);
    visit(Field{"fallback_solves", "number", "",
                "steps by Lemke, since the answer of the fast path was not certified", Merge::sum},
          tables.fallback_solves...);
    visit(Field{"pivots", "number", "", "of all steps", Merge::sum}, tables.pivots...);
    visit(Field{"nonunique_solves", "number", "", "examined steps with several solutions",
                Merge::sum},
          tables.nonunique_solves...);
    visit(Field{"nonunique_examined", "number", "", "steps examined for several solutions",
                Merge::sum},
          tables.nonunique_examined...);
    visit(Field{"max_residual", "number", "", "largest certified residual", Merge::most},
          tables.max_residual...);
    visit(Field{"max_energy_ratio", "number", "", "largest kinetic energy after / before",
                Merge::most},
          tables.max_energy_ratio...);
    visit(Field{"min_energy_ratio", "number", "",
                "smallest kinetic energy after / before; nan without restitution", Merge::least},
          tables.min_energy_ratio...);
    visit(Field{"guarded", "number", "",
                "samples in which the law would return more work than the compression took",
                Merge::sum},
          tables.guarded...);
    visit(Field{"trimmed", "number", "",
                "samples by lcp in which a step used stored work of other contacts: an error of h",
                Merge::sum},
          tables.trimmed...);
    const char* const compression =
        "work that is not returned, over the kinetic energy before; nan without restitution";
    const char* const friction =
        "work of friction, over the kinetic energy before; nan without restitution";
    visit(Field{"lost_compression_mean", "number", "", compression},
          tables.lost_compression_mean...);
    visit(Field{"lost_compression_min", "number", "", compression, Merge::least},
          tables.lost_compression_min...);
    visit(Field{"lost_compression_max", "number", "", compression, Merge::most},
          tables.lost_compression_max...);
    visit(Field{"lost_friction_mean", "number", "", friction}, tables.lost_friction_mean...);
    visit(Field{"lost_friction_min", "number", "", friction, Merge::least},
          tables.lost_friction_min...);
    visit(Field{"lost_friction_max", "number", "", friction, Merge::most},
          tables.lost_friction_max...);
    visit(Field{"normal_velocity_min", "contacts", "m/s", "over terminated samples", Merge::least},
          tables.normal_velocity_min...);
    visit(Field{"normal_velocity_max", "contacts", "m/s", "over terminated samples", Merge::most},
          tables.normal_velocity_max...);
    visit(Field{"tangent_velocity_min", "(dimension - 1) contacts", "m/s",
                "over terminated samples", Merge::least},
          tables.tangent_velocity_min...);
    visit(Field{"tangent_velocity_max", "(dimension - 1) contacts", "m/s",
                "over terminated samples", Merge::most},
          tables.tangent_velocity_max...);
    visit(Field{"velocity_min", "nv", "generalised velocity", "over terminated samples",
                Merge::least},
          tables.velocity_min...);
    visit(
        Field{"velocity_max", "nv", "generalised velocity", "over terminated samples", Merge::most},
        tables.velocity_max...);
  }
};

/// Epsilon-net of the post-impact set (Definition 1, Algorithm 2): one representative per occupied
/// cube of edge epsilon/sqrt(nv), so that every sampled v+ lies within epsilon of a net point. The
/// representative is the sample of lowest index, whatever the order of computation.
struct EpsilonNet {
  double requested_epsilon = 0.0;
  double epsilon = 0.0;  ///< requested, doubled as often as the capacity made necessary
  int velocities = 0;
  int contact_rows = 0;
  std::int64_t dropped = 0;                ///< samples still colliding after the closing step
  std::vector<double> velocity;            ///< [points, nv]
  std::vector<double> impulse;             ///< [points, dimension*m]: total contact impulse [N s],
                                           ///< normals first, then tangents in contact order
  std::vector<std::uint64_t> modes;        ///< [points]
  std::vector<std::int64_t> multiplicity;  ///< [points]
  std::vector<std::int64_t> first_sample;  ///< [points]
  std::vector<std::int64_t> coverage;      ///< [i]: points found after 2^i samples

  [[nodiscard]] std::int64_t points() const {
    return static_cast<std::int64_t>(multiplicity.size());
  }
};

struct ImpactSampleSizes {
  std::int64_t problems = 0;
  std::int64_t count = 0;  ///< rows of each problem
  int velocities = 0;
  int contact_rows = 0;
  int contacts = 0;  ///< m
};

template <template <class> class Array>
struct ImpactSampleArrays {
  using Sizes = ImpactSampleSizes;

  Array<double> velocity;          ///< v+, [problems, count, nv]; NaN where failed
  Array<double> impulse;           ///< [problems, count, dimension*m]
  Array<double> residual;          ///< [problems, count], the trajectory's largest
  Array<std::uint64_t> modes;      ///< [problems, count]
  Array<std::int32_t> steps;       ///< [problems, count]
  Array<TrajectoryStatus> status;  ///< [problems, count]

  // With restitution or intervals of friction only, all [problems, count, m]. A problem of the
  // batch that has neither is followed without stores: its losses are not booked, and NaN.
  Array<double> restitution;       ///< e of the sample; NaN where it varies within it
  Array<double> friction;          ///< mu of the sample, likewise
  Array<double> stored;            ///< work that compressions put by [J]
  Array<double> released;          ///< work that came back [J]
  Array<double> lost_compression;  ///< work of compression that did not come back [J]
  Array<double> lost_friction;     ///< work that friction took [J]

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const auto [p, count, velocities, contact_rows, contacts] = sizes;
    const Extents optional = Extents{p, count, contacts}.or_empty();
    visit("velocity", Extents{p, count, velocities}, tables.velocity...);
    visit("impulse", Extents{p, count, contact_rows}, tables.impulse...);
    visit("residual", Extents{p, count}, tables.residual...);
    visit("modes", Extents{p, count}, tables.modes...);
    visit("steps", Extents{p, count}, tables.steps...);
    visit("status", Extents{p, count}, tables.status...);
    visit("restitution", optional, tables.restitution...);
    visit("friction", optional, tables.friction...);
    visit("stored", optional, tables.stored...);
    visit("released", optional, tables.released...);
    visit("lost_compression", optional, tables.lost_compression...);
    visit("lost_friction", optional, tables.lost_friction...);
  }
};
/// Rows of the first `count` samples of each problem.
struct ImpactSamples : ImpactSampleSizes, ImpactSampleArrays<Buffer> {};

/// Velocities v_0..v_K of the first samples of one problem.
struct ImpactPaths {
  std::vector<std::int64_t> offset;  ///< [count + 1], in velocities
  std::vector<double> velocity;      ///< [offset.back(), nv]

  // With restitution or intervals of friction only: of the piece that ended at each velocity.
  std::vector<double> impulse;      ///< [offset.back(), dimension*m]; 0 at v_0
  std::vector<double> restitution;  ///< [offset.back(), m]
  std::vector<double> friction;     ///< [offset.back(), m]
};

struct ImpactResult {
  Backend backend = Backend::cpu;
  bool cancelled = false;
  double seconds = 0.0;                ///< wall time of the sampling
  std::vector<ImpactSummary> summary;  ///< [problems]
  std::vector<EpsilonNet> net;         ///< [problems], empty where no problem has one
  std::vector<ImpactPaths> paths;      ///< [problems], empty when keep_paths = 0
  ImpactSamples samples;
};

using ImpactWorkspace = Workspace;

struct StepSizes {
  std::int64_t problems = 0;
  int dimension = 2;  ///< d
  int contacts = 0;   ///< m
};

template <template <class> class Array>
struct StepBatchArrays {
  using Sizes = StepSizes;

  Array<double> delassus;          ///< A = J M^-1 J', [problems, d m, d m], rows n_1..n_m, t_1..
  Array<double> contact_velocity;  ///< J v, [problems, d m]
  Array<double> friction;          ///< [problems, m]
  Array<double> max_impulse;       ///< lambda_max, [problems, m]; infinity gives (31)

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const auto [p, d, m] = sizes;
    visit("delassus", Extents{p, d * m, d * m}, tables.delassus...);
    visit("contact_velocity", Extents{p, d * m}, tables.contact_velocity...);
    visit("friction", Extents{p, m}, tables.friction...);
    visit("max_impulse", Extents{p, m}, tables.max_impulse...);
  }
};
/// Single steps (75): given contact velocities and lambda_max, the impulse of one step.
struct StepBatch : StepSizes, StepBatchArrays<Buffer> {};

struct StepSettings {
  int friction_directions = 4;
  Selection selection = Selection::any;  ///< any or lemke
  double tolerance = 1e-9;
  int threads = 0;

  /// See settings.hpp.
  template <class Visit, class... Tables>
  static void each_setting(Visit&& visit, Tables&&... tables) {
    using Range = SettingRange;
    visit({"friction_directions", "Friction directions of a spatial contact",
           Range::between(4, kMaxFrictionDirections)},
          tables.friction_directions...);
    visit({"tolerance", "Largest relative residual of a certified step", Range::tolerance()},
          tables.tolerance...);
    visit({"selection", "Which solution a step takes if it has several: any or lemke"},
          tables.selection...);
    visit({"threads", "CPU threads", Range::at_least(0), "", "all"}, tables.threads...);
  }

  /// Errors: InvalidInput naming the field and its value.
  void validate() const;
};

template <template <class> class Array>
struct StepResultArrays {
  using Sizes = StepSizes;

  Array<double> impulse;           ///< [problems, d m]
  Array<double> contact_velocity;  ///< J v', [problems, d m]
  Array<Status> status;            ///< [problems]
  Array<std::int32_t> pivots;      ///< [problems]
  Array<std::uint8_t> fallback;    ///< [problems], 1 where Lemke had to finish
  Array<double> residual;          ///< [problems], natural residual of (75)

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const auto [p, d, m] = sizes;
    visit("impulse", Extents{p, d * m}, tables.impulse...);
    visit("contact_velocity", Extents{p, d * m}, tables.contact_velocity...);
    visit("status", Extents{p}, tables.status...);
    visit("pivots", Extents{p}, tables.pivots...);
    visit("fallback", Extents{p}, tables.fallback...);
    visit("residual", Extents{p}, tables.residual...);
  }
};
struct StepResult : StepResultArrays<Buffer> {};

}  // namespace carom
