#include "analysis/dense_models.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <carom/certificate.hpp>
#include <carom/error.hpp>

#include "core/constants.hpp"
#include "core/require.hpp"
#include "impact/step_outcomes.hpp"

namespace carom::dense {

namespace {

std::vector<int> rows_of(const Mechanism& mechanism, int contact) {
  std::vector<int> rows = {contact};
  const int tangents = mechanism.dimension - 1;
  for (int t = 0; t < tangents; ++t) rows.push_back(mechanism.contacts + contact * tangents + t);
  return rows;
}

// The single-contact model (31) of one contact of a mechanism.
StepModel single_model(const Mechanism& mechanism, int contact, int directions) {
  const std::vector<int> rows = rows_of(mechanism, contact);
  return {mechanism.dimension, Matrix(mechanism.delassus(rows, rows)),
          Vector::Constant(1, mechanism.friction[contact]), directions};
}

}  // namespace

StepImpulse solve_step(const StepModel& model, const Vector& contact_velocity,
                       const Vector& max_impulse, double tolerance) {
  const int m = model.contacts();
  if (m == 0) return {Status::solved, Vector(0), 0.0};
  const auto buffer = [](const auto& values) {
    return Buffer<double>::from({values.data(), static_cast<std::size_t>(values.size())});
  };
  StepBatch step;
  step.problems = 1;
  step.dimension = model.dimension();
  step.contacts = m;
  step.delassus = buffer(model.delassus());
  step.contact_velocity = buffer(contact_velocity);
  step.friction = buffer(model.friction());
  step.max_impulse = buffer(max_impulse);
  StepSettings settings;
  if (model.dimension() == 3) settings.friction_directions = model.directions();
  settings.selection = Selection::lemke;
  settings.tolerance = tolerance;
  settings.threads = 1;
  const StepResult result = solve_steps(step, settings, Backend::cpu);
  return {result.status.data()[0], Eigen::Map<const Vector>(result.impulse.data(), model.rows()),
          result.residual.data()[0]};
}

namespace {

// One solution of (31) from a contact velocity.
StepImpulse solve(const StepModel& model, const Vector& contact_velocity, double tolerance) {
  return solve_step(model, contact_velocity, Vector::Constant(model.contacts(), kInfinity),
                    tolerance);
}

}  // namespace

ImpactOutcome simultaneous_impact(const ImpactProblem& problem,
                                  const ImpactModelSettings& settings) {
  const Mechanism mechanism = make_mechanism(problem);
  const StepImpulse solution =
      solve(step_model(mechanism, settings), mechanism.jacobian * mechanism.velocity,
            settings.residual_tolerance);
  ImpactOutcome outcome;
  fill(outcome, mechanism, solution.status,
       mechanism.velocity + mechanism.response * solution.impulse, solution.impulse,
       solution.residual, settings);
  return outcome;
}

SequentialOutcome sequential_impact(const ImpactProblem& problem, std::span<const int> order,
                                    const ImpactModelSettings& settings) {
  const Mechanism mechanism = make_mechanism(problem);
  std::vector<StepModel> models;
  models.reserve(static_cast<std::size_t>(mechanism.contacts));
  for (int i = 0; i < mechanism.contacts; ++i) {
    models.push_back(single_model(mechanism, i, settings.friction_directions));
  }
  SequentialOutcome outcome;
  outcome.order.assign(order.begin(), order.end());
  Vector velocity = mechanism.velocity;
  Vector impulse = Vector::Zero(mechanism.rows());
  double residual = 0.0;
  Status status = Status::solved;
  for (std::size_t turn = 0; status == Status::solved; turn = (turn + 1) % order.size()) {
    const Vector contact_velocity = mechanism.jacobian * velocity;
    if (!mechanism.approaches(contact_velocity, settings.velocity_tolerance)) break;
    const int contact = order[turn];
    if (!(contact_velocity[contact] < -settings.velocity_tolerance)) continue;
    if (outcome.impacts == settings.max_impacts) {
      status = Status::iteration_limit;
      break;
    }
    const std::vector<int> rows = rows_of(mechanism, contact);
    const StepImpulse solution =
        solve(models[contact], contact_velocity(rows), settings.residual_tolerance);
    status = solution.status;
    residual =
        std::isnan(solution.residual) ? solution.residual : std::max(residual, solution.residual);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      impulse[rows[r]] += solution.impulse[r];
      velocity += mechanism.response.col(rows[r]) * solution.impulse[r];
    }
    ++outcome.impacts;
  }
  fill(outcome, mechanism, status, velocity, impulse, residual, settings);
  return outcome;
}

ImpactOutcome newton_impact(const ImpactProblem& problem, int contact, double restitution,
                            const ImpactModelSettings& settings) {
  const Mechanism mechanism = make_mechanism(problem);
  const std::vector<int> rows = rows_of(mechanism, contact);
  const Vector before = (mechanism.jacobian * mechanism.velocity)(rows);
  const double normal = before[0];
  const double tangent = before[1];
  const Matrix a = mechanism.delassus(rows, rows);
  const double mu = mechanism.friction[contact];
  // Certificate: (31) for the shifted velocity [(1 + e) v_n; v_t].
  Vector target = before;
  if (normal < 0.0) target[0] *= 1.0 + restitution;
  const StepModel model = single_model(mechanism, contact, settings.friction_directions);
  const Vector unlimited = Vector::Constant(1, kInfinity);
  Vector single = Vector::Zero(2);
  double residual = model.residual(target, unlimited, single);
  const auto consider = [&](double lambda_n, double lambda_t) {
    const Vector candidate = Eigen::Vector2d(lambda_n, lambda_t);
    if (!candidate.allFinite()) return;
    const double candidate_residual = model.residual(target, unlimited, candidate);
    if (!(candidate_residual < residual)) return;
    residual = candidate_residual;
    single = candidate;
  };
  if (normal < 0.0) {
    // Normal velocity -e v_n after the impact. Stick: A lambda = [-(1+e) v_n; -v_t]; slide with
    // sign s: lambda_t = -s mu lambda_n. For an approaching contact only one of them is valid.
    const double rebound = -target[0];
    const double determinant = a.determinant();
    const double stick_normal = (a(1, 1) * rebound + a(0, 1) * tangent) / determinant;
    const double stick_tangent = (-a(1, 0) * rebound - a(0, 0) * tangent) / determinant;
    consider(stick_normal, stick_tangent);
    for (const double sign : {1.0, -1.0}) {
      const double slide_normal = rebound / (a(0, 0) - sign * mu * a(0, 1));
      consider(slide_normal, -sign * mu * slide_normal);
    }
  }
  Vector impulse = Vector::Zero(mechanism.rows());
  impulse[rows[0]] = single[0];
  impulse[rows[1]] = single[1];
  ImpactOutcome outcome;
  fill(outcome, mechanism,
       certificate::within(residual, settings.residual_tolerance) ? Status::solved
                                                                  : Status::inaccurate,
       mechanism.velocity + mechanism.response * impulse, impulse, residual, settings);
  return outcome;
}

}  // namespace carom::dense
