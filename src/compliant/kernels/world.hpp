#pragma once

#include <cstdint>

#include <carom/certificate_compliant.hpp>

#include "compliant/kernels/compliant.hpp"
#include "compliant/kernels/compliant_many.hpp"
#include "compliant/kernels/compliant_pack.hpp"
#include "compliant/scenarios/bodies.hpp"

/// Many steps of one world of a scenario, in one thread of the host or the device.
namespace carom::kernels {

/// What a world keeps in addition to (q, v) and its impulses from one call to the next.
struct WorldRecord {
  std::int64_t iterations = 0;
  std::int64_t failed = 0;  ///< steps above the tolerance
  std::int64_t steps = 0;   ///< taken; fewer than asked where the world finished or broke
  std::int32_t most_iterations = 0;
  std::int32_t most_rows = 0;  ///< largest number of constraint rows of a step
  double max_residual = 0.0;
  bool finished = false;
  bool broken = false;  ///< a step gave no finite answer: the state is NaN from there
};

struct WorldSettings {
  double step_size;
  double tolerance;
  int max_iterations;
  bool centripetal;
};

template <class Scenario>
CAROM_INLINE CompliantOptions world_options(const WorldSettings& settings) {
  return {settings.tolerance, 1e-3 * settings.tolerance, settings.max_iterations,
          Scenario::kTangents, settings.centripetal};
}

/// Memory of a world's rows between the parts of a step.
CAROM_HOST_DEVICE constexpr long world_reals(const WorldSizes& s) {
  return constraint_reals(s.rows, s.velocities) + 3L * s.velocities + s.rows;
}
CAROM_HOST_DEVICE constexpr long world_ints(const WorldSizes& s) {
  return constraint_ints(s.rows) + s.rows;
}
CAROM_HOST_DEVICE constexpr long world_types(const WorldSizes& s) { return 2L * s.rows; }

/// Steps of one world of a scenario: `begin`, then a solver on `task`, then `end`.
template <class Scenario, class Target>
class World {
 public:
  World() = default;
  CAROM_HOST_DEVICE World(const WorldSizes& sizes, double* reals, int* ints, RowType* types)
      : sizes_(sizes),
        inverse_mass_(reals + constraint_reals(sizes.rows, sizes.velocities)),
        force_(inverse_mass_ + sizes.velocities) {
    task_.rows = make_rows(sizes.rows, sizes.velocities, reals, ints, types);
    task_.mass = inverse_mass_;
    task_.force = force_;
    task_.next_v = force_ + sizes.velocities;
    task_.impulse = task_.next_v + sizes.velocities;
    task_.order = ints + constraint_ints(sizes.rows);
    task_.type = types + sizes.rows;
  }

  /// q: [positions]; v: [velocities]; kept: impulses [N s] by slot, [rows], zero where a slot is
  /// not there. Whether there is a step to be solved.
  CAROM_CALL bool begin(const double* parameters, const WorldSettings& settings, std::int64_t step,
                        double* q, double* v, double* kept, WorldRecord& record) {
    if (record.finished || record.broken) return false;
    const double h = settings.step_size;
    ++record.steps;
    if (Scenario::direct(parameters, h, q, v)) {
      if (!finite(q, v)) give_up(q, v, kept, record);
      note_end(parameters, q, v, record);
      return false;
    }
    task_.v = v;
    task_.step_size = h;
    task_.rows.count = 0;
    evaluate_scenario<Scenario>(parameters, static_cast<double>(step) * h, h, q, v, inverse_mass_,
                                force_, task_.rows);
    for (int i = 0; i < task_.rows.count; ++i) task_.impulse[i] = kept[task_.rows.slot[i]];
    if constexpr (!Scenario::kMany) task_.choose(settings.centripetal);
    return true;
  }
  [[nodiscard]] CAROM_INLINE const StepTask& task() const { return task_; }

  CAROM_CALL void end(const double* parameters, const WorldSettings& settings,
                      const StepVerdict& verdict, double* q, double* v, double* kept,
                      WorldRecord& record) {
    const ConstraintRows& rows = task_.rows;
    record.iterations += verdict.iterations;
    if (verdict.iterations > record.most_iterations) record.most_iterations = verdict.iterations;
    if (rows.count > record.most_rows) record.most_rows = rows.count;
    if (!(verdict.residual <= settings.tolerance)) ++record.failed;
    if (!(verdict.residual <= record.max_residual)) record.max_residual = verdict.residual;
    if (!verdict.finite || !is_finite(verdict.residual)) {
      give_up(q, v, kept, record);
      return;
    }
    for (int i = 0; i < sizes_.rows; ++i) kept[i] = 0.0;
    for (int i = 0; i < rows.count; ++i) kept[rows.slot[i]] = task_.impulse[i];
    for (int j = 0; j < sizes_.velocities; ++j) v[j] = task_.next_v[j];
    Scenario::advance(parameters, settings.step_size, q, v);
    if (!finite(q, v)) give_up(q, v, kept, record);
    note_end(parameters, q, v, record);
  }

 private:
  CAROM_INLINE void note_end(const double* parameters, const double* q, const double* v,
                             WorldRecord& record) const {
    if (!record.broken && Scenario::finished(parameters, q, v)) record.finished = true;
  }

  CAROM_INLINE bool finite(const double* q, const double* v) const {
    bool good = true;
    for (int j = 0; j < sizes_.positions; ++j) good = good && is_finite(q[j]);
    for (int j = 0; j < sizes_.velocities; ++j) good = good && is_finite(v[j]);
    return good;
  }

  CAROM_INLINE void give_up(double* q, double* v, double* kept, WorldRecord& record) const {
    record.broken = true;
    const double nan = kInfinity - kInfinity;
    for (int j = 0; j < sizes_.positions; ++j) q[j] = nan;
    for (int j = 0; j < sizes_.velocities; ++j) v[j] = nan;
    for (int i = 0; i < sizes_.rows; ++i) kept[i] = nan;
  }

  WorldSizes sizes_{};
  double* inverse_mass_ = nullptr;
  double* force_ = nullptr;
  StepTask task_;
};

/// Scratch of a world's solver.
template <bool Many>
CAROM_HOST_DEVICE constexpr long world_solver_reals(const WorldSizes& s) {
  const long solver = Many ? compliant_many_reals(s.rows, s.velocities)
                           : compliant_step_reals(s.rows, s.velocities);
  return solver + s.velocities + 2L * s.rows;
}
CAROM_HOST_DEVICE constexpr long world_solver_ints(const WorldSizes& s) {
  return compliant_step_ints(s.rows);
}

/// The scalar solvers of a world's step, for all shapes: one text for all scenarios of few, or of
/// many, contacts.
template <bool Many, class Target>
class WorldSolver {
 public:
  CAROM_HOST_DEVICE WorldSolver(const WorldSizes& sizes, double* reals, int* ints)
      : sizes_(sizes),
        scratch_(reals),
        solver_reals_(reals + sizes.velocities + 2L * sizes.rows),
        solver_ints_(ints) {}

  CAROM_CALL StepVerdict solve(const CompliantOptions& options, const StepTask& task) {
    if constexpr (Many) {
      CompliantMany<Target> solver(sizes_.rows, sizes_.velocities, solver_reals_);
      return judge(task, solver.solve(options, task), solver.centripetal());
    } else {
      CompliantStep<Target> solver(sizes_.rows, sizes_.velocities, solver_reals_, solver_ints_);
      return judge(task, solver.solve(options, task), solver.centripetal());
    }
  }

 private:
  CAROM_INLINE StepVerdict judge(const StepTask& task, const CompliantOutcome& outcome,
                                 const double* centripetal) {
    const double residual = certificate::compliant_residual(
        certificate::DiagonalMass<>{task.mass}, task.rows, task.step_size, task.force, task.v,
        task.next_v, task.impulse, centripetal, scratch_);
    return {residual, outcome.iterations, outcome.status == Status::solved};
  }

  WorldSizes sizes_;
  double* scratch_;
  double* solver_reals_;
  int* solver_ints_;
};

/// One step of one world by itself: as in a pack, and by the scalar solver where that does not do.
/// pack: [alone_reals(rows, velocities, true)].
template <int Contacts, bool Many, class Target, class Memory>
CAROM_CALL StepVerdict solve_world(WorldSolver<Many, Target>& solver,
                                   const CompliantOptions& options, const StepTask& task,
                                   const Memory& pack) {
  int iterations = 0;
  if (task.pattern != 0) {
    const PackOutcome<double> outcome = solve_alone<true, Contacts>(task, options, pack);
    iterations = static_cast<int>(outcome.iterations);
    if (outcome.residual <= options.tolerance) return {outcome.residual, iterations, true};
  }
  StepVerdict verdict = solver.solve(options, task);
  verdict.iterations += iterations;
  return verdict;
}

}  // namespace carom::kernels
