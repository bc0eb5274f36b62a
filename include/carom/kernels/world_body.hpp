#pragma once

#include <cstdint>

#include <carom/certificate_compliant.hpp>
#include <carom/kernels/compliant_body.hpp>
#include <carom/kernels/compliant_many.hpp>
#include <carom/kernels/scenario_bodies.hpp>

/// Many steps of one world of a scenario, in one thread of the host or the device.
namespace carom::kernels {

/// What a world keeps beside (q, v) and its impulses from one call to the next.
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

/// Scratch of a world.
template <class Scenario>
CAROM_HOST_DEVICE constexpr long world_reals(const WorldSizes& s) {
  const long solver = Scenario::kMany ? compliant_many_reals(s.rows, s.velocities)
                                      : compliant_step_reals(s.rows, s.velocities);
  return constraint_reals(s.rows, s.velocities) + solver + 4L * s.velocities + 4L * s.rows;
}
CAROM_HOST_DEVICE constexpr long world_ints(const WorldSizes& s) {
  return constraint_ints(s.rows) + compliant_step_ints(s.rows);
}
CAROM_HOST_DEVICE constexpr long world_types(const WorldSizes& s) { return 2L * s.rows; }

template <class Scenario, class Target>
class World {
 public:
  CAROM_HOST_DEVICE World(const WorldSizes& sizes, double* reals, int* ints, RowType* types)
      : sizes_(sizes),
        rows_(make_rows(sizes.rows, sizes.velocities, reals, ints, types)),
        inverse_mass_(reals + constraint_reals(sizes.rows, sizes.velocities)),
        force_(inverse_mass_ + sizes.velocities),
        next_v_(force_ + sizes.velocities),
        impulse_(next_v_ + sizes.velocities),
        scratch_(impulse_ + sizes.rows),
        solver_reals_(scratch_ + sizes.velocities + 3L * sizes.rows),
        solver_ints_(ints + constraint_ints(sizes.rows)),
        solver_types_(types + sizes.rows) {}

  /// Takes up to `count` steps from time step `first` on. q: [positions]; v: [velocities]; kept:
  /// impulses [N s] by slot, [rows], zero where a slot is not there.
  CAROM_HOST_DEVICE void run(const double* parameters, const WorldSettings& settings,
                             std::int64_t first, std::int64_t count, double* q, double* v,
                             double* kept, WorldRecord& record) {
    for (std::int64_t step = first; step < first + count; ++step) {
      if (record.finished || record.broken) return;
      take_step(parameters, settings, static_cast<double>(step) * settings.step_size, q, v, kept,
                record);
      ++record.steps;
      if (!record.broken && Scenario::finished(parameters, q, v)) record.finished = true;
    }
  }

 private:
  CAROM_HOST_DEVICE void take_step(const double* parameters, const WorldSettings& settings,
                                   double time, double* q, double* v, double* kept,
                                   WorldRecord& record) {
    const double h = settings.step_size;
    if (Scenario::direct(parameters, h, q, v)) {
      if (!finite(q, v)) give_up(q, v, kept, record);
      return;
    }
    rows_.count = 0;
    Scenario::evaluate(parameters, time, h, q, v, inverse_mass_, force_, rows_);
    for (int i = 0; i < rows_.count; ++i) impulse_[i] = kept[rows_.slot[i]];
    CompliantOptions options;
    options.step_size = h;
    options.accuracy = 1e-3 * settings.tolerance;
    options.max_iterations = settings.max_iterations;
    options.tangents = Scenario::kTangents;
    options.centripetal = settings.centripetal;
    double residual = 0.0;
    CompliantOutcome outcome{Status::solved, 0};
    if constexpr (Scenario::kMany) {
      CompliantMany<Target> solver(sizes_.rows, sizes_.velocities, solver_reals_);
      outcome = solver.solve(options, rows_, inverse_mass_, force_, v, impulse_, next_v_);
      residual = certify(h, v, solver.centripetal());
    } else {
      CompliantStep<Target> solver(sizes_.rows, sizes_.velocities, solver_reals_, solver_ints_,
                                   solver_types_);
      outcome = solver.solve(options, rows_, inverse_mass_, force_, v, impulse_, next_v_);
      residual = certify(h, v, solver.centripetal());
    }
    record.iterations += outcome.iterations;
    if (outcome.iterations > record.most_iterations) record.most_iterations = outcome.iterations;
    if (rows_.count > record.most_rows) record.most_rows = rows_.count;
    if (!(residual <= settings.tolerance)) ++record.failed;
    if (!(residual <= record.max_residual)) record.max_residual = residual;
    if (outcome.status != Status::solved || !is_finite(residual)) {
      give_up(q, v, kept, record);
      return;
    }
    for (int i = 0; i < sizes_.rows; ++i) kept[i] = 0.0;
    for (int i = 0; i < rows_.count; ++i) kept[rows_.slot[i]] = impulse_[i];
    for (int j = 0; j < sizes_.velocities; ++j) v[j] = next_v_[j];
    Scenario::advance(parameters, h, q, v);
    if (!finite(q, v)) give_up(q, v, kept, record);
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

  CAROM_INLINE double certify(double h, const double* v, const double* centripetal) {
    return certificate::compliant_residual(certificate::DiagonalMass{inverse_mass_}, rows_, h,
                                           force_, v, next_v_, impulse_, centripetal, scratch_);
  }

  WorldSizes sizes_;
  ConstraintRows rows_;
  double* inverse_mass_;
  double* force_;
  double* next_v_;
  double* impulse_;
  double* scratch_;
  double* solver_reals_;
  int* solver_ints_;
  RowType* solver_types_;
};

}  // namespace carom::kernels
