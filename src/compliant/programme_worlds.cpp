#include "compliant/programme_worlds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/parallel.hpp"

namespace carom {

namespace {

/// A world's rows in the step at hand.
struct WorldRows {
  std::vector<double> reals;
  std::vector<int> ints;
  std::vector<RowType> types;
  std::vector<double> inverse_mass;
  std::vector<double> force;
  kernels::ConstraintRows rows{};
  bool waits = false;  ///< for a solution

  void fit(const kernels::WorldSizes& sizes) {
    const auto velocities = static_cast<std::size_t>(sizes.velocities);
    reals.resize(static_cast<std::size_t>(kernels::constraint_reals(sizes.rows, sizes.velocities)));
    ints.resize(static_cast<std::size_t>(kernels::constraint_ints(sizes.rows)));
    types.resize(static_cast<std::size_t>(sizes.rows));
    inverse_mass.resize(velocities);
    force.resize(velocities);
    rows =
        kernels::make_rows(sizes.rows, sizes.velocities, reals.data(), ints.data(), types.data());
  }
};

bool all_finite(const double* values, int count) {
  return std::all_of(values, values + count, [](double value) { return std::isfinite(value); });
}

class Stepper : public WorldStepper {
 public:
  Stepper(const CompliantSettings& settings, SolveQp solve_qp)
      : settings_(settings), solve_qp_(std::move(solve_qp)) {}

  void advance(WorldStates& states, std::int64_t first, std::int64_t count) override {
    const WorldModel& model = world_model(states.scenario->kind);
    worlds_.resize(static_cast<std::size_t>(states.worlds));
    for (std::int64_t step = first; step < first + count; ++step) {
      parallel_for_each(states.worlds, settings_.threads,
                        [&](std::int64_t world) { begin(model, states, world, step); });
      std::vector<std::int64_t> waiting;
      for (std::int64_t world = 0; world < states.worlds; ++world) {
        if (of(world).waits) waiting.push_back(world);
      }
      if (waiting.empty()) continue;
      const CompliantBatch batch = gather(model, states, waiting);
      CompliantSettings settings = settings_;
      settings.centripetal = settings.centripetal && !model.many;  // as the law's solvers
      const CompliantResult result = solve_programme(batch, settings, solve_qp_);
      for (std::size_t p = 0; p < waiting.size(); ++p) {
        end(model, states, waiting[p], batch, result, static_cast<std::int64_t>(p));
      }
    }
  }

 private:
  WorldRows& of(std::int64_t world) { return worlds_[static_cast<std::size_t>(world)]; }
  static kernels::WorldRecord& record_of(WorldStates& states, std::int64_t world) {
    return states.record[static_cast<std::size_t>(world)];
  }
  static const double* parameters_of(const WorldStates& states, std::int64_t world) {
    return states.parameters.data() + world * states.parameter_stride;
  }
  static double* position_of(WorldStates& states, std::int64_t world) {
    return states.position.data() + world * states.sizes.positions;
  }
  static double* velocity_of(WorldStates& states, std::int64_t world) {
    return states.velocity.data() + world * states.sizes.velocities;
  }

  /// The rows of one world, or its whole step where a scenario has one of its own.
  void begin(const WorldModel& model, WorldStates& states, std::int64_t world, std::int64_t step) {
    WorldRows& own = of(world);
    own.waits = false;
    kernels::WorldRecord& record = record_of(states, world);
    if (record.finished || record.broken) return;
    ++record.steps;
    const double h = states.settings.step_size;
    const double* parameters = parameters_of(states, world);
    double* q = position_of(states, world);
    double* v = velocity_of(states, world);
    if (model.direct(parameters, h, q, v)) {
      note_end(model, states, world);
      return;
    }
    own.fit(states.sizes);
    model.evaluate(parameters, static_cast<double>(step) * h, h, q, v, own.inverse_mass.data(),
                   own.force.data(), own.rows);
    record.most_rows = std::max(record.most_rows, own.rows.count);
    own.waits = true;
  }

  CompliantBatch gather(const WorldModel& model, WorldStates& states,
                        const std::vector<std::int64_t>& waiting) {
    CompliantSizes sizes;
    sizes.problems = static_cast<std::int64_t>(waiting.size());
    sizes.dimension = model.tangents + 1;
    sizes.velocities = states.sizes.velocities;
    for (const std::int64_t world : waiting)
      sizes.rows = std::max(sizes.rows, of(world).rows.count);
    auto batch = allocate<CompliantBatch>(sizes);
    const int nv = sizes.velocities;
    const int m = sizes.rows;
    std::fill_n(batch.step_size.data(), sizes.problems, states.settings.step_size);
    std::fill_n(batch.mass_matrix.data(), batch.mass_matrix.size(), 0.0);
    std::fill_n(batch.type.data(), batch.type.size(), RowType::none);
    for (Buffer<double>* values : {&batch.jacobian, &batch.jacobian_dot_v, &batch.phi,
                                   &batch.stiffness, &batch.damping, &batch.friction}) {
      std::fill_n(values->data(), values->size(), 0.0);
    }
    for (std::int64_t p = 0; p < sizes.problems; ++p) {
      const std::int64_t world = waiting[static_cast<std::size_t>(p)];
      const WorldRows& own = of(world);
      for (int j = 0; j < nv; ++j) {
        batch.mass_matrix.data()[(p * nv + j) * nv + j] =
            1.0 / own.inverse_mass[static_cast<std::size_t>(j)];
      }
      std::copy_n(own.force.data(), nv, batch.force.data() + p * nv);
      std::copy_n(velocity_of(states, world), nv, batch.velocity.data() + p * nv);
      const kernels::ConstraintRows& rows = own.rows;
      std::copy_n(rows.type, rows.count, batch.type.data() + p * m);
      std::copy_n(rows.jacobian_dot_v, rows.count, batch.jacobian_dot_v.data() + p * m);
      std::copy_n(rows.phi, rows.count, batch.phi.data() + p * m);
      std::copy_n(rows.stiffness, rows.count, batch.stiffness.data() + p * m);
      std::copy_n(rows.damping, rows.count, batch.damping.data() + p * m);
      std::copy_n(rows.friction, rows.count, batch.friction.data() + p * m);
      for (int i = 0; i < rows.count; ++i) {
        const int from = rows.begin[i];
        std::copy_n(rows.row(i) + from, rows.end[i] - from,
                    batch.jacobian.data() + (p * m + i) * nv + from);
      }
    }
    return batch;
  }

  void end(const WorldModel& model, WorldStates& states, std::int64_t world,
           const CompliantBatch& batch, const CompliantResult& result, std::int64_t p) {
    kernels::WorldRecord& record = record_of(states, world);
    const int iterations = result.iterations.data()[p];
    const double residual = result.residual.data()[p];
    record.iterations += iterations;
    record.most_iterations = std::max(record.most_iterations, iterations);
    if (!(residual <= states.settings.tolerance)) ++record.failed;
    if (!(residual <= record.max_residual)) record.max_residual = residual;
    const double* next = result.velocity.data() + p * batch.velocities;
    if (!all_finite(next, batch.velocities)) {
      give_up(states, world);
      return;
    }
    const double h = states.settings.step_size;
    double* kept = states.impulse.data() + world * states.sizes.rows;
    const kernels::ConstraintRows& rows = of(world).rows;
    std::fill_n(kept, states.sizes.rows, 0.0);
    for (int i = 0; i < rows.count; ++i) {
      kept[rows.slot[i]] = h * result.force.data()[p * batch.rows + i];
    }
    double* v = velocity_of(states, world);
    std::copy_n(next, batch.velocities, v);
    model.advance(parameters_of(states, world), h, position_of(states, world), v);
    note_end(model, states, world);
  }

  static void note_end(const WorldModel& model, WorldStates& states, std::int64_t world) {
    const double* q = position_of(states, world);
    const double* v = velocity_of(states, world);
    if (!all_finite(q, states.sizes.positions) || !all_finite(v, states.sizes.velocities)) {
      give_up(states, world);
      return;
    }
    if (model.finished(parameters_of(states, world), q, v)) {
      record_of(states, world).finished = true;
    }
  }

  static void give_up(WorldStates& states, std::int64_t world) {
    constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
    record_of(states, world).broken = true;
    std::fill_n(position_of(states, world), states.sizes.positions, kNotANumber);
    std::fill_n(velocity_of(states, world), states.sizes.velocities, kNotANumber);
    std::fill_n(states.impulse.data() + world * states.sizes.rows, states.sizes.rows, kNotANumber);
  }

  CompliantSettings settings_;
  SolveQp solve_qp_;
  std::vector<WorldRows> worlds_;
};

}  // namespace

std::unique_ptr<WorldStepper> make_programme_stepper(const CompliantSettings& settings,
                                                     SolveQp solve_qp) {
  return std::make_unique<Stepper>(settings, std::move(solve_qp));
}

}  // namespace carom
