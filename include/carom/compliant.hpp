#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <carom/backend.hpp>
#include <carom/batch.hpp>
#include <carom/device/constraint_rows.hpp>
#include <carom/models/scenarios.hpp>
#include <carom/qp.hpp>
#include <carom/status.hpp>

/// Steps of multibody systems with compliant bilateral, unilateral and contact constraints, stable
/// at any step size (Drumwright, "An Unconditionally Stable First-Order Constraint Solver for
/// Multibody Systems"; docs/algorithms/compliant.md derives what is solved). Equation numbers are
/// that paper's.
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
std::string_view to_string(StepLaw law);

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

/// Steps of one shape, in one memory space. The numbers of constraints may differ: rows that a
/// problem lacks have RowType::none, and their numbers are not read.
struct CompliantBatch {
  std::int64_t problems = 0;
  int dimension = 3;
  int velocities = 0;
  int rows = 0;  ///< m, of the problem that has most
  int positions = 0;
  Buffer<double> step_size;       ///< h, [problems]
  Buffer<double> mass_matrix;     ///< [problems, nv, nv]
  Buffer<double> force;           ///< [problems, nv]
  Buffer<double> velocity;        ///< [problems, nv]
  Buffer<double> position_map;    ///< [problems, nq, nv], or empty
  Buffer<RowType> type;           ///< [problems, m]
  Buffer<double> jacobian;        ///< [problems, m, nv]
  Buffer<double> jacobian_dot_v;  ///< [problems, m]
  Buffer<double> phi;             ///< [problems, m]
  Buffer<double> stiffness;       ///< [problems, m]
  Buffer<double> damping;         ///< [problems, m]
  Buffer<double> friction;        ///< [problems, m], read at normal rows

  [[nodiscard]] CompliantBatch to(MemorySpace space) const;
};

/// Packs problems of one dimension, nv and nq; the number of rows is the largest. Errors:
/// InvalidInput naming the first that is refused by `validate` or differs in shape.
CompliantBatch make_batch(std::span<const CompliantProblem> problems);

/// Errors: InvalidInput naming the field, the constraint, the problem and the value: shapes, NaN or
/// infinity, h <= 0, M not symmetric to 1e-9 relative or not positive definite, K, B or mu < 0.
void validate(const CompliantProblem& problem, std::int64_t index = 0);

struct CompliantSettings {
  StepLaw law = StepLaw::complementarity;
  double tolerance = 1e-9;     ///< on the certified residual, certificate::compliant_residual
  int max_iterations = 100;    ///< of the contact solver, or of solve_qp where 0 means its default
  bool centripetal = true;     ///< keep the term M^ (dG/dt) v of (23); without it the law is (18)
  double normal_weight = 0.0;  ///< zeta of (99), law programme; 0: 1/h
  QpMethod method = QpMethod::automatic;  ///< law programme
  int threads = 0;                        ///< cpu: 0 = all hardware threads

  /// Errors: InvalidInput naming the field and its value.
  void validate() const;
};

struct CompliantResult {
  Buffer<double> velocity;          ///< v', [problems, nv]; NaN unless solved or inaccurate
  Buffer<double> increment;         ///< q' - q = h N v', [problems, nq or nv]; NaN likewise
  Buffer<double> force;             ///< lambda [N], [problems, m], 0 for absent rows; NaN likewise
  Buffer<double> kinetic_energy;    ///< 1/2 v' M v' [J], [problems]; NaN likewise
  Buffer<Status> status;            ///< [problems]
  Buffer<std::int32_t> iterations;  ///< [problems]
  Buffer<double> residual;  ///< [problems]: certificate::compliant_residual; law programme: that
                            ///< of the programme, certificate::qp_residual
};

/// Takes one step in every problem: v' = v + h M^-1 (G'lambda + f), (37). A problem with refused
/// numbers gets Status::invalid_input and leaves its neighbours unchanged. The result lives in the
/// memory space of `batch`. backend reference: the un-eliminated equations, with Eigen.
/// Errors: InvalidInput for shapes and settings; BackendUnavailable.
CompliantResult solve_compliant(const CompliantBatch& batch, const CompliantSettings& settings = {},
                                Backend backend = Backend::automatic);

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
};

struct WorldsResult {
  Backend backend = Backend::cpu;
  bool cancelled = false;
  double seconds = 0.0;  ///< wall time of the steps
  std::int64_t worlds = 0;
  std::int64_t steps = 0;  ///< taken by the worlds that did not finish
  double step_size = 0.0;
  int positions = 0;
  int velocities = 0;
  int rows = 0;
  std::vector<double> frame_time;    ///< [frames], 0 first
  std::vector<double> frame_state;   ///< (q, v), [frames, worlds, nq + nv]
  std::vector<double> frame_energy;  ///< [frames, worlds] [J], as `energy`
  std::vector<double> position;      ///< q at the end, [worlds, nq]; NaN where broken
  std::vector<double> velocity;      ///< v at the end, [worlds, nv]
  std::vector<double> force;         ///< lambda of the last step [N] by slot, [worlds, rows]
  std::vector<double> displacement;  ///< along the scenario's main axis, [worlds]
  std::vector<double> energy_start;  ///< [worlds] [J]
  /// At the end, [worlds]. Of pendulum_joint with v' and the v' of one more step averaged, since v'
  /// belongs to half a step before q'.
  std::vector<double> energy;
  std::vector<double> max_residual;          ///< largest certified residual of a step, [worlds]
  std::vector<std::int64_t> failed;          ///< steps above the tolerance, [worlds]
  std::vector<std::int64_t> steps_taken;     ///< [worlds], fewer where the scenario was over
  std::vector<std::int64_t> iterations;      ///< of the contact solver, summed, [worlds]
  std::vector<std::int32_t> iterations_max;  ///< [worlds]
  std::vector<std::int32_t> rows_max;        ///< most constraint rows of a step, [worlds]
  std::vector<Status> status;  ///< solved: all steps certified and, where the scenario has an end,
                               ///< reached or not; inaccurate: some failed; numerical_error,
                               ///< invalid_input: NaN; cancelled
};

/// Steps every world `run.steps` times, without leaving the device between the chunks of a stride.
/// A world is a function of its parameters, h and the number of steps: the same in any batch and
/// for any number of threads. Law complementarity only. backend reference: one step at a time by
/// the reference solver.
/// Errors: InvalidInput (settings, shapes, parameters by name unless isolated), BackendUnavailable.
WorldsResult step_worlds(const models::Scenario& scenario, const WorldRun& run,
                         const CompliantSettings& settings = {},
                         Backend backend = Backend::automatic);

}  // namespace carom
