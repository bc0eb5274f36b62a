#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Dense>

#include <carom/error.hpp>

#include "analysis/dense_models.hpp"
#include "core/random.hpp"
#include "impact/mechanism.hpp"
#include "impact/prepare.hpp"
#include "impact/step_solutions.hpp"
#include "programs/lp/dense_simplex.hpp"

namespace carom::dense {

namespace {

// M^-1 g for the extreme rays g = Jn_i' + mu_i Jt_i' d_j of the linearised friction cone, [nv, k
// m].
Eigen::MatrixXd extreme_rays(const Mechanism& mechanism, int directions) {
  const StepModel model(mechanism.dimension, mechanism.delassus, mechanism.friction, directions);
  const int k = model.directions();
  const int t = model.tangents();
  Eigen::MatrixXd rays(mechanism.velocities, k * mechanism.contacts);
  for (int i = 0; i < mechanism.contacts; ++i) {
    for (int j = 0; j < k; ++j) {
      rays.col(i * k + j) = mechanism.response.col(i) +
                            mechanism.friction[i] *
                                mechanism.response.middleCols(mechanism.contacts + i * t, t) *
                                model.polygon().col(j);
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
  const Mechanism mechanism = make_mechanism(problem);
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
  const SimplexOutcome outcome = maximize(size.cwiseInverse(), constraints, Vector::Ones(2 * nv));
  if (outcome.status != Status::solved) return result;
  Vector r = outcome.dual.head(nv) - outcome.dual.tail(nv);
  double margin = (rays.transpose() * r).minCoeff();
  if (!(margin > 0.5)) return result;  // rounding costs no more than a tiny part of 1
  r /= std::min(margin, 1.0);
  margin = (rays.transpose() * r).minCoeff();
  result.pointed = true;
  result.direction.assign(r.begin(), r.end());
  result.margin = margin;
  return result;
}

TerminationBound termination_bound(const ImpactProblem& problem, double step_size, std::int64_t k,
                                   int friction_directions) {
  const Pointedness cone = dense::pointedness(problem, friction_directions);
  if (!cone.pointed) {
    throw InvalidInput(Refusal{.field = "friction cone",
                               .whole = "problem \"" + problem.name + "\"",
                               .value = "not pointed",
                               .rule = "Theorem 8 does not apply"});
  }
  const Mechanism mechanism = make_mechanism(problem);
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
  const Mechanism mechanism = make_mechanism(problem);
  const StepModel model(mechanism.dimension, mechanism.delassus, mechanism.friction,
                        settings.friction_directions);
  const int m = mechanism.contacts;
  const ImpactBatch batch = make_batch({&problem, 1});
  const double step_size = PreparedImpacts(batch, settings).view(0).step_size;
  const std::int64_t count = combinations(model, Vector::Constant(m, step_size));
  if (count > kMaxCombinations) {
    throw InvalidInput(Refusal{.field = "problem \"" + problem.name + "\"",
                               .relation = "has",
                               .value = std::to_string(count) + " combinations of contact modes",
                               .rule = "must be at most " + std::to_string(kMaxCombinations)});
  }
  std::vector<std::uint64_t> directions;
  if (settings.sampler == Sampler::sobol && m > 0) {
    directions =
        sobol_directions(m * (settings.max_steps > 0 ? settings.max_steps : kDerivedSteps));
  }
  ImpactSettings followed = settings;
  followed.selection = Selection::lemke;
  followed.bad_problem = BadProblem::refuse;
  followed.result_space = MemorySpace::host;
  followed.epsilon = 0.0;
  followed.problem_epsilon = {};
  followed.progress = nullptr;
  UniquenessReport report;
  const auto examine = [&](std::int64_t sample, int step, const Vector& velocity) {
    Vector max_impulse(m);
    for (int i = 0; i < m; ++i) {
      const auto index = static_cast<std::uint64_t>(sample);
      const auto number = static_cast<std::uint32_t>(step * m + i);
      max_impulse[i] = step_size * (directions.empty() ? uniform(settings.seed, 0, index, number)
                                                       : sobol(directions.data(), settings.seed, 0,
                                                               index, number));
    }
    const auto velocity_of = [&](const Vector& impulse) -> Vector {
      return velocity + mechanism.response * impulse;
    };
    const auto found = enumerate_step(model, mechanism.jacobian * velocity, max_impulse,
                                      settings.residual_tolerance, velocity_of,
                                      kDistinct * velocity.cwiseAbs().maxCoeff());
    ++report.steps;
    report.most_outcomes = std::max(report.most_outcomes, static_cast<int>(found.size()));
    if (found.size() < 2) return;
    if (report.nonunique++ > 0) return;
    report.velocity.assign(velocity.begin(), velocity.end());
    report.max_impulse.assign(max_impulse.begin(), max_impulse.end());
    for (const StepSolution& outcome : found) {
      const Vector after = velocity_of(outcome.impulse);
      report.outcomes.emplace_back(after.begin(), after.end());
    }
  };
  constexpr std::int64_t kAtOnce = 256;  // trajectories whose paths are held
  for (std::int64_t begin = 0; begin < trajectories; begin += kAtOnce) {
    followed.first_sample = settings.first_sample + begin;
    followed.samples = std::min(kAtOnce, trajectories - begin);
    followed.keep_paths = followed.samples;
    followed.keep_samples = 0;
    const ImpactPaths paths = sample_impacts(batch, followed, Backend::cpu).paths[0];
    for (std::int64_t s = 0; s < followed.samples; ++s) {
      const std::int64_t first = paths.offset[static_cast<std::size_t>(s)];
      const std::int64_t last = paths.offset[static_cast<std::size_t>(s) + 1] - 1;
      for (std::int64_t at = first; at < last; ++at) {
        examine(followed.first_sample + s, static_cast<int>(at - first),
                Eigen::Map<const Vector>(paths.velocity.data() + at * mechanism.velocities,
                                         mechanism.velocities));
      }
    }
  }
  return report;
}

}  // namespace carom::dense
