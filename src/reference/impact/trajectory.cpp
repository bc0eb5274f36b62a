#include "reference/impact/trajectory.hpp"

#include <algorithm>
#include <cmath>

#include <carom/certificate.hpp>

#include "core/random.hpp"

namespace carom::reference {
namespace {

// By J v', component after component, equal within `tie`.
bool ordered_before(const StepSolution& a, const StepSolution& b, double tie) {
  for (int i = 0; i < a.contact_velocity.size(); ++i) {
    const double difference = a.contact_velocity[i] - b.contact_velocity[i];
    if (std::fabs(difference) > tie) return difference < 0.0;
  }
  return false;
}

// Insertion sort: a comparison with a tolerance is no strict weak order for std::sort.
void sort_outcomes(std::vector<StepSolution>& outcomes, double tie) {
  for (std::size_t i = 1; i < outcomes.size(); ++i) {
    for (std::size_t j = i; j > 0 && ordered_before(outcomes[j], outcomes[j - 1], tie); --j) {
      std::swap(outcomes[j], outcomes[j - 1]);
    }
  }
}

}  // namespace

Simulator::Simulator(const Mechanism& mechanism, const ImpactSettings& settings, double step_size,
                     double epsilon, std::uint32_t problem, const std::uint64_t* sobol)
    : mechanism_(mechanism),
      settings_(settings),
      step_size_(step_size),
      epsilon_(epsilon),
      problem_(problem),
      sobol_(sobol),
      model_(mechanism.problem.dimension, mechanism.delassus, mechanism.friction,
             settings.friction_directions) {
  enumeration_.friction_directions = settings.friction_directions;
  enumeration_.residual_tolerance = settings.residual_tolerance;
}

Vector Simulator::draw(std::int64_t sample, int step) const {
  Vector max_impulse(mechanism_.contacts());
  const auto index = static_cast<std::uint64_t>(sample);
  for (int i = 0; i < mechanism_.contacts(); ++i) {
    const auto number = static_cast<std::uint32_t>(step * mechanism_.contacts() + i);
    const double unit = settings_.sampler == Sampler::sobol
                            ? sobol(sobol_, settings_.seed, problem_, index, number)
                            : uniform(settings_.seed, problem_, index, number);
    max_impulse[i] = step_size_ * unit;
  }
  return max_impulse;
}

std::vector<StepSolution> Simulator::outcomes(const Vector& velocity,
                                              const Vector& max_impulse) const {
  const int m = mechanism_.contacts();
  ImpactProblem problem = mechanism_.problem;
  problem.velocity.assign(velocity.begin(), velocity.end());
  std::vector<StepSolution> found;
  for (const ImpactOutcome& outcome : dense::step_outcomes(
           problem, {max_impulse.data(), static_cast<std::size_t>(m)}, enumeration_)) {
    StepSolution& solution = found.emplace_back();
    solution.status = outcome.status;
    solution.residual = outcome.residual;
    solution.impulse = Eigen::Map<const Vector>(outcome.impulse.data(), mechanism_.rows());
    solution.contact_velocity.resize(mechanism_.rows());
    solution.contact_velocity << Eigen::Map<const Vector>(outcome.normal_velocity.data(), m),
        Eigen::Map<const Vector>(outcome.tangent_velocity.data(), mechanism_.rows() - m);
  }
  if (found.size() > 1) {
    sort_outcomes(found, enumeration_.distinct_tolerance *
                             (mechanism_.jacobian * velocity).cwiseAbs().maxCoeff());
  }
  return found;
}

StepSolution Simulator::choose(const Vector& max_impulse, std::int64_t sample, int step,
                               Trajectory& trajectory) const {
  if (settings_.selection == Selection::random) {
    const std::vector<StepSolution> found = outcomes(trajectory.velocity, max_impulse);
    if (!found.empty()) {
      ++trajectory.examined;
      if (found.size() > 1) ++trajectory.nonunique;
      const double unit = uniform(settings_.seed, problem_, static_cast<std::uint64_t>(sample),
                                  kChoiceDraws + static_cast<std::uint32_t>(step));
      const auto index = static_cast<std::size_t>(unit * static_cast<double>(found.size()));
      return found[index];
    }
  }
  return model_.solve(trajectory.contact_velocity, max_impulse, settings_.residual_tolerance);
}

bool Simulator::advance(const Vector& max_impulse, std::int64_t sample, int step,
                        Trajectory& trajectory) const {
  const StepSolution solution = choose(max_impulse, sample, step, trajectory);
  trajectory.pivots += solution.pivots;
  if (std::isnan(solution.residual) || solution.residual > trajectory.residual) {
    trajectory.residual = solution.residual;
  }
  if (solution.status != Status::solved) return false;
  trajectory.velocity += mechanism_.response * solution.impulse;
  trajectory.contact_velocity = mechanism_.jacobian * trajectory.velocity;
  trajectory.impulse += solution.impulse;
  return true;
}

Trajectory Simulator::run(std::int64_t sample, bool keep_path) const {
  Trajectory trajectory;
  trajectory.velocity = mechanism_.velocity;
  trajectory.contact_velocity = mechanism_.jacobian * mechanism_.velocity;
  trajectory.impulse = Vector::Zero(mechanism_.rows());
  if (keep_path) trajectory.path.push_back(trajectory.velocity);
  while (mechanism_.approaches(trajectory.contact_velocity, settings_.velocity_tolerance)) {
    if (trajectory.steps == settings_.max_steps) {
      trajectory.status = TrajectoryStatus::max_steps;
      return trajectory;
    }
    const Vector max_impulse = draw(sample, trajectory.steps);
    const bool certified = advance(max_impulse, sample, trajectory.steps, trajectory);
    ++trajectory.steps;
    if (!certified) {
      trajectory.status = TrajectoryStatus::failed;
      return trajectory;
    }
    if (keep_path) trajectory.path.push_back(trajectory.velocity);
  }
  trajectory.status = TrajectoryStatus::terminated;
  return trajectory;
}

bool Simulator::close(std::int64_t sample, Trajectory& trajectory) const {
  const int m = mechanism_.contacts();
  const int t = mechanism_.tangents();
  const int k = model_.directions();
  // psi = |M^-1 Jbar'| m (1 + max mu) + 1, Frobenius norm
  Eigen::MatrixXd wide(mechanism_.problem.velocities, (k + 1) * m);
  wide.leftCols(m) = mechanism_.response.leftCols(m);
  for (int i = 0; i < m; ++i) {
    wide.middleCols(m + i * k, k) = mechanism_.response.middleCols(m + i * t, t) * model_.polygon();
  }
  const double psi = wide.norm() * m * (1.0 + mechanism_.friction.maxCoeff()) + 1.0;
  const Vector max_impulse = Vector::Constant(m, epsilon_ / (3.0 * psi));
  if (!advance(max_impulse, sample, trajectory.steps, trajectory)) return false;
  return !mechanism_.approaches(trajectory.contact_velocity, settings_.velocity_tolerance);
}

}  // namespace carom::reference
