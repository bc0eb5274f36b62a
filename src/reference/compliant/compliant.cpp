#include <cmath>
#include <limits>

#include <carom/certificate_compliant.hpp>

#include "compliant/backends.hpp"
#include "core/parallel.hpp"
#include "reference/compliant/compliant_problem.hpp"

namespace carom::reference {

namespace {

using Eigen::Index;
using Eigen::VectorXd;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Residual of an answer by the library's certificate.
double certified(const CompliantEquations& e, const CompliantSolution& s) {
  const auto m = static_cast<int>(e.type.size());
  const auto nv = static_cast<int>(e.velocity.size());
  Rows jacobian = e.jacobian;
  Rows mass = e.mass;
  std::vector<RowType> type = e.type;
  std::vector<int> begin(e.type.size(), 0);
  std::vector<int> end(e.type.size(), nv);
  std::vector<int> slot(e.type.size(), 0);
  VectorXd jdv = e.jacobian_dot_v;
  VectorXd phi = e.phi;
  VectorXd stiffness = e.stiffness;
  VectorXd damping = e.damping;
  VectorXd friction = e.friction;
  const kernels::ConstraintRows rows{nv,
                                     m,
                                     m,
                                     type.data(),
                                     slot.data(),
                                     begin.data(),
                                     end.data(),
                                     jacobian.data(),
                                     jdv.data(),
                                     phi.data(),
                                     stiffness.data(),
                                     damping.data(),
                                     friction.data()};
  std::vector<double> scratch(static_cast<std::size_t>(2 * m + nv));
  return certificate::compliant_residual(
      certificate::DenseMass<>{mass.data(), nv}, rows, e.step_size, e.force.data(),
      e.velocity.data(), s.velocity.data(), s.impulse.data(), s.centripetal.data(), scratch.data());
}

void solve_one(const CompliantBatch& batch, const CompliantSettings& settings, std::int64_t problem,
               CompliantResult& result) {
  refuse(batch, problem, Status::invalid_input, result);
  if (!acceptable(batch, problem)) return;
  const CompliantEquations e = gather(batch, problem, settings.centripetal);
  const CompliantSolution solution = solve_equations(e, contact_iterations(settings));
  const double residual = certified(e, solution);
  result.iterations.data()[problem] = solution.iterations;
  result.status.data()[problem] = residual <= settings.tolerance ? Status::solved
                                  : std::isfinite(residual)      ? Status::inaccurate
                                                                 : Status::numerical_error;
  if (!std::isfinite(residual)) return;
  result.residual.data()[problem] = residual;
  hand_out(batch, problem, e, solution, result);
}

/// Worlds one step at a time.
class Stepper : public WorldStepper {
 public:
  explicit Stepper(const CompliantSettings& settings) : settings_(settings) {}

  void advance(WorldStates& states, std::int64_t first, std::int64_t count) override {
    const WorldModel& model = world_model(states.scenario->kind);
    parallel_for_each(states.worlds, settings_.threads,
                      [&](std::int64_t world) { run(model, states, world, first, count); });
  }

 private:
  static void run(const WorldModel& model, WorldStates& states, std::int64_t world,
                  std::int64_t first, std::int64_t count) {
    const kernels::WorldSizes& sizes = states.sizes;
    kernels::WorldRecord& record = states.record[static_cast<std::size_t>(world)];
    const double* parameters = states.parameters.data() + world * states.parameter_stride;
    double* q = states.position.data() + world * sizes.positions;
    double* v = states.velocity.data() + world * sizes.velocities;
    double* kept = states.impulse.data() + world * sizes.rows;
    std::vector<double> reals(
        static_cast<std::size_t>(kernels::constraint_reals(sizes.rows, sizes.velocities)));
    std::vector<int> ints(static_cast<std::size_t>(kernels::constraint_ints(sizes.rows)));
    std::vector<RowType> types(static_cast<std::size_t>(sizes.rows));
    const double h = states.settings.step_size;
    for (std::int64_t step = first; step < first + count; ++step) {
      if (record.finished || record.broken) return;
      ++record.steps;
      if (!model.direct(parameters, h, q, v)) {
        kernels::ConstraintRows rows = kernels::make_rows(sizes.rows, sizes.velocities,
                                                          reals.data(), ints.data(), types.data());
        VectorXd inverse_mass(sizes.velocities);
        CompliantEquations e;
        e.force.resize(sizes.velocities);
        model.evaluate(parameters, static_cast<double>(step) * h, h, q, v, inverse_mass.data(),
                       e.force.data(), rows);
        e.step_size = h;
        e.dimension = model.tangents + 1;
        e.centripetal = states.settings.centripetal && !model.many;
        e.mass = inverse_mass.cwiseInverse().asDiagonal();
        e.velocity = vector_of(v, sizes.velocities);
        take(rows, e);
        const CompliantSolution s = solve_equations(e, states.settings.max_iterations);
        const double residual = certified(e, s);
        record.iterations += s.iterations;
        record.most_iterations = std::max(record.most_iterations, s.iterations);
        record.most_rows = std::max(record.most_rows, rows.count);
        if (!(residual <= states.settings.tolerance)) ++record.failed;
        if (!(residual <= record.max_residual)) record.max_residual = residual;
        if (!std::isfinite(residual)) {
          give_up(sizes, q, v, kept, record);
          return;
        }
        std::fill_n(kept, sizes.rows, 0.0);
        for (int i = 0; i < rows.count; ++i) kept[rows.slot[i]] = s.impulse(i);
        Eigen::Map<VectorXd>(v, sizes.velocities) = s.velocity;
        model.advance(parameters, h, q, v);
      }
      if (!vector_of(q, sizes.positions).allFinite() ||
          !vector_of(v, sizes.velocities).allFinite()) {
        give_up(sizes, q, v, kept, record);
        return;
      }
      if (model.finished(parameters, q, v)) record.finished = true;
    }
  }

  static void give_up(const kernels::WorldSizes& sizes, double* q, double* v, double* kept,
                      kernels::WorldRecord& record) {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    record.broken = true;
    std::fill_n(q, sizes.positions, kNan);
    std::fill_n(v, sizes.velocities, kNan);
    std::fill_n(kept, sizes.rows, kNan);
  }

  static void take(const kernels::ConstraintRows& rows, CompliantEquations& e) {
    const Index m = rows.count;
    e.type.assign(rows.type, rows.type + m);
    e.jacobian = Eigen::MatrixXd::Zero(m, rows.velocities);
    for (int i = 0; i < rows.count; ++i) {
      for (int j = rows.begin[i]; j < rows.end[i]; ++j) e.jacobian(i, j) = rows.row(i)[j];
    }
    e.jacobian_dot_v = vector_of(rows.jacobian_dot_v, m);
    e.phi = vector_of(rows.phi, m);
    e.stiffness = vector_of(rows.stiffness, m);
    e.damping = vector_of(rows.damping, m);
    e.friction = vector_of(rows.friction, m);
  }

  CompliantSettings settings_;
};

}  // namespace

CompliantResult solve_compliant(const CompliantBatch& batch, const CompliantSettings& settings,
                                WorkspaceState* /*workspace*/) {
  auto result = allocate<CompliantResult>(batch);
  parallel_for_each(batch.problems, settings.threads,
                    [&](std::int64_t p) { solve_one(batch, settings, p, result); });
  return result;
}

std::unique_ptr<WorldStepper> make_stepper(const CompliantSettings& settings,
                                           WorkspaceState* /*workspace*/) {
  return std::make_unique<Stepper>(settings);
}

template <>
const CompliantEntries& entries() {
  static constexpr CompliantEntries kEntries{solve_compliant, make_stepper};
  return kEntries;
}

}  // namespace carom::reference
