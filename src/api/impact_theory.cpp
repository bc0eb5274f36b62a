#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <Eigen/Dense>

#include <carom/error.hpp>
#include <carom/impact_models.hpp>
#include <carom/random.hpp>

#include "cpu/reference/impact/mechanism.hpp"
#include "cpu/reference/impact/model_settings.hpp"
#include "cpu/reference/impact/step.hpp"
#include "cpu/reference/impact/trajectory.hpp"
#include "cpu/reference/programs/simplex.hpp"

namespace carom {

using reference::Mechanism;
using reference::Vector;

namespace {

std::string all_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

void require_positive(const char* field, double value) {
  if (!(value > 0.0 && std::isfinite(value))) {
    throw InvalidInput(std::string(field) + " is " + all_digits(value) +
                       ": must be > 0 and finite");
  }
}

// M^-1 g for the extreme rays g = Jn_i' + mu_i Jt_i' d_j of the linearised friction cone, [nv, k
// m].
Eigen::MatrixXd extreme_rays(const Mechanism& mechanism, int directions) {
  const reference::StepModel model(mechanism.dimension, mechanism.delassus, mechanism.friction,
                                   directions);
  const int k = model.directions();
  const int t = model.tangents();
  Eigen::MatrixXd rays(mechanism.velocities, k * mechanism.contacts);
  for (int i = 0; i < mechanism.contacts; ++i) {
    for (int j = 0; j < k; ++j) {
      rays.col(i * k + j) = mechanism.response.col(i) +
                            mechanism.friction[i] *
                                mechanism.response.middleCols(mechanism.contacts + i * t, t) *
                                model.fan().col(j);
    }
  }
  return rays;
}

// Bound (1), as the logarithm of its complement: log((1 - Omega)^N / Omega).
double log_miss_probability(double log_omega, double samples) {
  return samples * std::log1p(-std::exp(log_omega)) - log_omega;
}

}  // namespace

Pointedness pointedness(const ImpactProblem& problem, int friction_directions) {
  validate(problem);
  reference::check_directions(friction_directions, problem.dimension);
  const Mechanism mechanism = reference::make_mechanism(problem);
  Pointedness result;
  if (mechanism.contacts == 0) {
    result.pointed = true;
    result.direction.assign(mechanism.velocities, 0.0);
    return result;
  }
  const Eigen::MatrixXd rays = extreme_rays(mechanism, friction_directions);
  // min |r|_1 over rays' r >= 1 is the dual of: max 1'y over -1 <= rays y <= 1, y >= 0, whose
  // unboundedness is a combination of forces of the cone that cancel. Columns are brought to unit
  // size first.
  const int nv = mechanism.velocities;
  const Vector size = rays.cwiseAbs().colwise().maxCoeff();
  if (!(size.minCoeff() > 0.0)) return result;
  const Eigen::MatrixXd unit = rays * size.cwiseInverse().asDiagonal();
  Eigen::MatrixXd constraints(2 * nv, rays.cols());
  constraints << unit, -unit;
  const reference::SimplexOutcome outcome =
      reference::maximize(size.cwiseInverse(), constraints, Vector::Ones(2 * nv));
  if (outcome.status != Status::solved) return result;
  Vector r = outcome.dual.head(nv) - outcome.dual.tail(nv);
  double margin = (rays.transpose() * r).minCoeff();
  if (!(margin > 0.5)) return result;  // rounding alone costs no more than a tiny part of 1
  r /= std::min(margin, 1.0);
  margin = (rays.transpose() * r).minCoeff();
  result.pointed = true;
  result.direction.assign(r.begin(), r.end());
  result.margin = margin;
  return result;
}

TerminationBound termination_bound(const ImpactProblem& problem, double step_size, std::int64_t k,
                                   int friction_directions) {
  require_positive("step_size", step_size);
  if (k < 0) throw InvalidInput("k is " + std::to_string(k) + ": must be >= 0");
  const Pointedness cone = pointedness(problem, friction_directions);
  if (!cone.pointed) {
    throw InvalidInput("friction cone of problem \"" + problem.name +
                       "\" is not pointed: Theorem 8 does not apply");
  }
  const Mechanism mechanism = reference::make_mechanism(problem);
  const double sigma =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(mechanism.mass).eigenvalues()[0];
  const double norm = Eigen::Map<const Vector>(cone.direction.data(), mechanism.velocities).norm();
  const double speed = std::sqrt(2.0 * mechanism.kinetic_energy(mechanism.velocity));
  const double contacts = mechanism.contacts + 1.0;
  TerminationBound bound;
  bound.c = 4.0 * std::ceil(contacts * norm / (step_size * std::sqrt(sigma)));
  bound.steps = bound.c * std::ceil(speed) + static_cast<double>(k);
  bound.probability = std::exp(-static_cast<double>(k) / (contacts * contacts));
  return bound;
}

double samples_for_epsilon_net(int n, double lipschitz, double step_size, double epsilon,
                               double delta) {
  if (n < 1) throw InvalidInput("n is " + std::to_string(n) + ": must be >= 1");
  if (!(lipschitz >= 0.0 && std::isfinite(lipschitz))) {
    throw InvalidInput("lipschitz is " + all_digits(lipschitz) + ": must be >= 0 and finite");
  }
  require_positive("step_size", step_size);
  require_positive("epsilon", epsilon);
  if (!(delta > 0.0 && delta < 1.0)) {
    throw InvalidInput("delta is " + all_digits(delta) + ": must be in (0, 1)");
  }
  const double cells = std::ceil(step_size * lipschitz * std::sqrt(n) / epsilon);
  if (cells <= 1.0) return 1.0;
  // (1 - Omega)^N <= delta Omega with Omega = cells^-n
  const double log_omega = -n * std::log(cells);
  const double log_delta = std::log(delta);
  const double exact = (log_delta + log_omega) / std::log1p(-std::exp(log_omega));
  if (!(exact < 0x1.0p52)) {
    return log_omega < -700.0 ? std::numeric_limits<double>::infinity() : exact;
  }
  double samples = std::ceil(exact);
  while (samples > 1.0 && log_miss_probability(log_omega, samples - 1.0) <= log_delta) --samples;
  while (log_miss_probability(log_omega, samples) > log_delta) ++samples;
  return samples;
}

UniquenessReport check_unique_step(const ImpactProblem& problem, const ImpactSettings& settings,
                                   std::int64_t trajectories) {
  validate(problem);
  settings.validate();
  if (trajectories < 1) {
    throw InvalidInput("trajectories is " + std::to_string(trajectories) + ": must be >= 1");
  }
  const Mechanism mechanism = reference::make_mechanism(problem);
  std::vector<std::uint64_t> directions;
  if (settings.sampler == Sampler::sobol && problem.contacts > 0) {
    directions = sobol_directions(problem.contacts * settings.max_steps);
  }
  ImpactSettings followed = settings;
  followed.selection = Selection::lemke;
  const reference::Simulator simulator(mechanism, followed, 0,
                                       directions.empty() ? nullptr : directions.data());
  const std::int64_t combinations = reference::combinations(
      simulator.model(), Vector::Constant(mechanism.contacts, settings.step_size));
  if (combinations > reference::kMaxCombinations) {
    throw InvalidInput("problem \"" + problem.name + "\" has " + std::to_string(combinations) +
                       " combinations of contact modes: must be at most " +
                       std::to_string(reference::kMaxCombinations));
  }
  UniquenessReport report;
  const auto examine = [&](const Vector& velocity, const Vector& max_impulse) {
    const auto found = simulator.outcomes(velocity, max_impulse);
    ++report.steps;
    report.most_outcomes = std::max(report.most_outcomes, static_cast<int>(found.size()));
    if (found.size() < 2) return;
    if (report.nonunique++ > 0) return;
    report.velocity.assign(velocity.begin(), velocity.end());
    report.max_impulse.assign(max_impulse.begin(), max_impulse.end());
    for (const reference::StepSolution& outcome : found) {
      const Vector after = velocity + mechanism.response * outcome.impulse;
      report.outcomes.emplace_back(after.begin(), after.end());
    }
  };
  for (std::int64_t sample = 0; sample < trajectories; ++sample) {
    (void)simulator.run(settings.first_sample + sample, false, examine);
  }
  return report;
}

}  // namespace carom
