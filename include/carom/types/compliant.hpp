#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <carom/device/constraint_rows.hpp>
#include <carom/types/array_field.hpp>
#include <carom/types/backend.hpp>
#include <carom/types/batch.hpp>
#include <carom/types/models/scenarios.hpp>
#include <carom/types/qp.hpp>
#include <carom/types/settings.hpp>
#include <carom/types/status.hpp>
#include <carom/types/words.hpp>
#include <carom/types/workspace.hpp>

/// The plain structs of carom/compliant.hpp.
namespace carom {

/// Largest number of constraint rows, and of velocities, of one step from arrays.
inline constexpr int kMaxStepRows = 1024;
inline constexpr int kMaxStepVelocities = 1024;

/// What relates the spring-dampers' forces to the friction cones and the signs.
enum class StepLaw : std::uint8_t {
  complementarity,  ///< (53), (68), (97) and (98) as they stand: a unilateral force is the larger
                    ///< of zero and its spring-damper's, a tangential one its spring-damper's, cut
                    ///< off at the friction cone
  programme,        ///< the convex programme (176)-(182), solved by solve_qp; see docs for where
                    ///< it departs from the law that it stands for
};

template <>
inline constexpr auto words<StepLaw> = std::to_array<Word<StepLaw>>({
    {StepLaw::complementarity, "complementarity"},
    {StepLaw::programme, "programme"},
});

/// One constraint of a step. `rows` of a contact: 1 normal, then dimension - 1 tangents; of any
/// other: as many as phi has values. All arrays are row-major.
struct CompliantConstraint {
  enum class Type : std::uint8_t { bilateral, unilateral, contact };
  Type type = Type::bilateral;
  std::vector<double> jacobian;        ///< G, [rows, nv]
  std::vector<double> jacobian_dot_v;  ///< (dG/dt) v [m/s2], [rows]; empty: zero
  std::vector<double> phi;             ///< deformation [m], [rows]; negative presses; empty: zero
  std::vector<double> stiffness;       ///< K [N/m] >= 0, [rows], or one value for all rows
  std::vector<double> damping;         ///< B [N s/m] >= 0, [rows], or one value for all rows
  double friction = 0.0;               ///< mu >= 0, of a contact
};

template <>
inline constexpr auto words<CompliantConstraint::Type> =
    std::to_array<Word<CompliantConstraint::Type>>({
        {CompliantConstraint::Type::bilateral, "bilateral"},
        {CompliantConstraint::Type::unilateral, "unilateral"},
        {CompliantConstraint::Type::contact, "contact"},
    });

template <>
inline constexpr auto words<RowType> = std::to_array<Word<RowType>>({
    {RowType::none, "none"},
    {RowType::bilateral, "bilateral"},
    {RowType::unilateral, "unilateral"},
    {RowType::normal, "normal"},
    {RowType::tangent, "tangent"},
});

/// One step of one world.
struct CompliantProblem {
  std::string name;
  int dimension = 3;                 ///< 2: a contact has one tangent row; 3: two
  int velocities = 0;                ///< nv
  double step_size = 0.0;            ///< h [s], > 0
  std::vector<double> mass_matrix;   ///< M, [nv, nv], symmetric positive definite
  std::vector<double> force;         ///< f [N], all but the constraints', [nv]
  std::vector<double> velocity;      ///< v, [nv]
  int positions = 0;                 ///< nq; 0: q' - q = h v'
  std::vector<double> position_map;  ///< N, [nq, nv]; empty with positions = 0
  std::vector<CompliantConstraint> constraints;
};

struct CompliantSizes {
  std::int64_t problems = 0;
  int dimension = 3;
  int velocities = 0;  ///< nv
  int rows = 0;        ///< m, of the problem that has most
  int positions = 0;   ///< nq
};

template <template <class> class Array>
struct CompliantBatchArrays {
  using Sizes = CompliantSizes;

  Array<double> step_size;       ///< h, [problems]
  Array<double> mass_matrix;     ///< [problems, nv, nv]
  Array<double> force;           ///< [problems, nv]
  Array<double> velocity;        ///< [problems, nv]
  Array<double> position_map;    ///< [problems, nq, nv], or empty
  Array<RowType> type;           ///< [problems, m]
  Array<double> jacobian;        ///< [problems, m, nv]
  Array<double> jacobian_dot_v;  ///< [problems, m]
  Array<double> phi;             ///< [problems, m]
  Array<double> stiffness;       ///< [problems, m]
  Array<double> damping;         ///< [problems, m]
  Array<double> friction;        ///< [problems, m], read at normal rows

  /// See batch.hpp; likewise below.
  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const std::int64_t p = sizes.problems, nv = sizes.velocities, m = sizes.rows;
    visit("step_size", Extents{p}, tables.step_size...);
    visit("mass_matrix", Extents{p, nv, nv}, tables.mass_matrix...);
    visit("force", Extents{p, nv}, tables.force...);
    visit("velocity", Extents{p, nv}, tables.velocity...);
    visit("position_map", Extents{p, sizes.positions, nv}, tables.position_map...);
    visit("type", Extents{p, m}, tables.type...);
    visit("jacobian", Extents{p, m, nv}, tables.jacobian...);
    visit("jacobian_dot_v", Extents{p, m}, tables.jacobian_dot_v...);
    visit("phi", Extents{p, m}, tables.phi...);
    visit("stiffness", Extents{p, m}, tables.stiffness...);
    visit("damping", Extents{p, m}, tables.damping...);
    visit("friction", Extents{p, m}, tables.friction...);
  }
};

/// Steps of one shape, in one memory space. The numbers of constraints may differ: rows that a
/// problem lacks have RowType::none, and their numbers are not read.
struct CompliantBatch : CompliantSizes, CompliantBatchArrays<Buffer> {
  [[nodiscard]] CompliantBatch to(MemorySpace space) const { return copy_to(*this, space); }
};

struct CompliantSettings {
  StepLaw law = StepLaw::complementarity;
  double tolerance = 1e-9;     ///< on the certified residual, certificate::compliant_residual
  int max_iterations = 0;      ///< of the contact solver, 0: 100; or of solve_qp, 0: its default
  bool centripetal = true;     ///< keep the term M^ (dG/dt) v of (23); without it the law is (18)
  double normal_weight = 0.0;  ///< Law programme: zeta of (99); 0: 1/h
  QpMethod method = QpMethod::automatic;  ///< law programme
  int threads = 0;                        ///< cpu: 0 = all hardware threads

  /// See settings.hpp.
  template <class Visit, class... Tables>
  static void each_setting(Visit&& visit, Tables&&... tables) {
    using Range = SettingRange;
    visit({"law", "Contact law"}, tables.law...);
    visit({"method", "Law programme: method of solve_qp"}, tables.method...);
    visit({"tolerance", "Largest relative residual of a certified step", Range::tolerance()},
          tables.tolerance...);
    visit(
        {"max_iterations", "Largest number of iterations of the contact solver or of the QP method",
         Range::at_least(0), "", "the solver's own"},
        tables.max_iterations...);
    visit({"centripetal", "Include the term M^ (dG/dt) v of (23)"}, tables.centripetal...);
    visit({"normal_weight", "Law programme: weight zeta of normal forces in (99)",
           Range::finite_from(0), "", "1/h"},
          tables.normal_weight...);
    visit({"threads", "CPU threads", Range::at_least(0), "", "all"}, tables.threads...);
  }

  /// Errors: InvalidInput naming the field and its value.
  void validate() const;
};

template <template <class> class Array>
struct CompliantResultArrays {
  using Sizes = CompliantSizes;

  Array<double> velocity;          ///< v', [problems, nv]; NaN unless solved or inaccurate
  Array<double> increment;         ///< q' - q = h N v', [problems, nq or nv]; NaN likewise
  Array<double> force;             ///< lambda [N], [problems, m], 0 for absent rows; NaN likewise
  Array<double> kinetic_energy;    ///< 1/2 v' M v' [J], [problems]; NaN likewise
  Array<Status> status;            ///< [problems]
  Array<std::int32_t> iterations;  ///< [problems]
  Array<double> residual;  ///< [problems]: certificate::compliant_residual; law programme: that
                           ///< of the programme, certificate::qp_residual

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const std::int64_t p = sizes.problems, nv = sizes.velocities;
    visit("velocity", Extents{p, nv}, tables.velocity...);
    visit("increment", Extents{p, sizes.positions > 0 ? sizes.positions : nv}, tables.increment...);
    visit("force", Extents{p, sizes.rows}, tables.force...);
    visit("status", Extents{p}, tables.status...);
    visit(ArrayField{"residual", "number", "", "recomputed residual of the step's conditions"},
          Extents{p}, tables.residual...);
    visit(ArrayField{"iterations", "number", "", "iterations of the solver"}, Extents{p},
          tables.iterations...);
    visit(ArrayField{"kinetic_energy", "number", "J", "kinetic energy after the step"}, Extents{p},
          tables.kinetic_energy...);
  }
};
struct CompliantResult : CompliantResultArrays<Buffer> {};

struct WorldProgress {
  std::int64_t steps_done = 0;  ///< of every world
  std::int64_t steps_total = 0;
};

/// How many worlds of one scenario are stepped.
struct WorldRun {
  std::int64_t worlds = 1;
  std::vector<double> parameters;  ///< [worlds, scenario.parameters.size()]; of one world: for all
  double step_size = 0.0;          ///< h [s]; 0: the scenario's
  std::int64_t steps = 0;          ///< 0: the scenario's
  std::int64_t stride = 0;         ///< states out every so many steps, and at the end; 0: none
  bool isolate = false;  ///< a world with refused parameters becomes NaN instead of an exception

  /// Called between chunks of steps; returning false stops the run.
  std::function<bool(const WorldProgress&)> progress;

  /// See settings.hpp.
  template <class Visit, class... Tables>
  static void each_setting(Visit&& visit, Tables&&... tables) {
    using Range = SettingRange;
    visit({"worlds", "Number of worlds", Range::at_least(1)}, tables.worlds...);
    visit({"step_size", "Step size h", Range::finite_from(0), "s", "the scenario's"},
          tables.step_size...);
    visit({"steps", "Number of steps", Range::at_least(0), "", "the scenario's"}, tables.steps...);
    visit({"stride", "Steps between stored states", Range::at_least(0), "", "none"},
          tables.stride...);
    visit({"isolate", "A world with invalid parameters becomes NaN instead of an exception"},
          tables.isolate...);
  }
};

struct WorldsSizes {
  std::int64_t worlds = 0;
  int positions = 0;   ///< nq
  int velocities = 0;  ///< nv
  int rows = 0;
};

/// Of every world after its last step.
template <template <class> class Array>
struct WorldsResultArrays {
  using Sizes = WorldsSizes;

  Array<double> position;      ///< q at the end, [worlds, nq]; NaN where broken
  Array<double> velocity;      ///< v at the end, [worlds, nv]
  Array<double> force;         ///< lambda of the last step [N] by slot, [worlds, rows]
  Array<double> displacement;  ///< along the scenario's main axis, [worlds]
  Array<double> energy_start;  ///< [worlds] [J]
  /// At the end, [worlds]. Of pendulum_joint with v' and the v' of one more step averaged, since v'
  /// belongs to half a step before q'.
  Array<double> energy;
  Array<double> max_residual;          ///< largest certified residual of a step, [worlds]
  Array<std::int64_t> failed;          ///< steps above the tolerance, [worlds]
  Array<std::int64_t> steps_taken;     ///< [worlds], fewer where the scenario was over
  Array<std::int64_t> iterations;      ///< of the contact solver, summed, [worlds]
  Array<std::int32_t> iterations_max;  ///< [worlds]
  Array<std::int32_t> rows_max;        ///< most constraint rows of a step, [worlds]
  Array<Status> status;  ///< solved: all steps certified and, where the scenario has an end,
                         ///< reached or not; inaccurate: some failed; numerical_error,
                         ///< invalid_input: NaN; cancelled

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const std::int64_t w = sizes.worlds;
    visit("position", Extents{w, sizes.positions}, tables.position...);
    visit("velocity", Extents{w, sizes.velocities}, tables.velocity...);
    visit("force", Extents{w, sizes.rows}, tables.force...);
    visit(ArrayField{"displacement", "worlds", "", "displacement that the scenario defines"},
          Extents{w}, tables.displacement...);
    visit(
        ArrayField{"energy_start", "worlds", "J",
                   "kinetic, potential (0 at the origin of the scenario) and elastic energy before "
                   "the first step"},
        Extents{w}, tables.energy_start...);
    visit(ArrayField{"energy", "worlds", "J", "the same after the last step"}, Extents{w},
          tables.energy...);
    visit(ArrayField{"max_residual", "", "", "largest certified residual of the steps"}, Extents{w},
          tables.max_residual...);
    visit("failed", Extents{w}, tables.failed...);
    visit(ArrayField{"steps_taken", "worlds", "", "number of steps"}, Extents{w},
          tables.steps_taken...);
    visit(ArrayField{"iterations", "", "", "iterations of the contact solver in all steps"},
          Extents{w}, tables.iterations...);
    visit(ArrayField{"iterations_max", "", "", "largest number of iterations in one step"},
          Extents{w}, tables.iterations_max...);
    visit(ArrayField{"rows_max", "", "", "largest number of active constraint rows"}, Extents{w},
          tables.rows_max...);
    visit("status", Extents{w}, tables.status...);
  }
};

template <class Value>
using WorldValues = std::vector<Value>;

struct WorldsResult : WorldsSizes, WorldsResultArrays<WorldValues> {
  Backend backend = Backend::cpu;
  bool cancelled = false;
  double seconds = 0.0;    ///< wall time of the steps
  std::int64_t steps = 0;  ///< taken by the worlds that did not finish
  double step_size = 0.0;
  std::vector<double> frame_time;    ///< [frames], 0 first
  std::vector<double> frame_state;   ///< (q, v), [frames, worlds, nq + nv]
  std::vector<double> frame_energy;  ///< [frames, worlds] [J], as `energy`
};

}  // namespace carom
