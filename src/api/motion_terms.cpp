#include <carom/motion_terms.hpp>

#include <cstddef>
#include <string>

#include <carom/error.hpp>
#include <carom/motion_tree.hpp>

#include "core/require.hpp"
#include "motion/backends.hpp"

namespace carom {

namespace {

void require_length(const MotionTerms& terms, std::span<const double> velocity) {
  require::size("velocity", velocity.size(), terms.force.size(), {.kind = "motion"});
}

/// `count` rows of contact i's, from the first-th one on.
std::span<const double> rows_of(const MotionTerms& terms, std::size_t contact, int first,
                                int count) {
  const std::size_t nv = terms.force.size();
  const std::size_t row = contact * static_cast<std::size_t>(terms.rows);
  return std::span(terms.jacobian)
      .subspan((row + static_cast<std::size_t>(first)) * nv, static_cast<std::size_t>(count) * nv);
}

}  // namespace

MotionTerms motion_terms(const MotionProblem& problem, std::span<const double> position,
                         std::span<const double> velocity, double time) {
  const MotionSizes sizes = motion_sizes(problem.mechanism, problem.parameters);
  const auto check = [](const char* field, std::size_t size, int expected) {
    if (size == static_cast<std::size_t>(expected)) return;
    throw InvalidInput(std::string("motion: ") + field + " has " + std::to_string(size) +
                       " numbers: must have " + std::to_string(expected));
  };
  check("position", position.size(), sizes.positions);
  check("velocity", velocity.size(), sizes.velocities);
  return motion::terms_of(problem, position, velocity, time);
}

ImpactProblem impact_problem(const MotionTerms& terms, std::span<const double> velocity,
                             double gap) {
  require_length(terms, velocity);
  ImpactProblem impact;
  impact.dimension = terms.rows;
  impact.velocities = static_cast<int>(velocity.size());
  impact.mass_matrix = terms.mass;
  impact.velocity.assign(velocity.begin(), velocity.end());
  const auto put = [](std::vector<double>& to, std::span<const double> rows) {
    to.insert(to.end(), rows.begin(), rows.end());
  };
  for (std::size_t i = 0; i < terms.gap.size(); ++i) {
    if (!(terms.gap[i] <= gap)) continue;
    put(impact.normal_jacobian, rows_of(terms, i, 0, 1));
    put(impact.tangent_jacobian, rows_of(terms, i, 1, terms.rows - 1));
    impact.friction.push_back(terms.friction[i]);
    ++impact.contacts;
  }
  return impact;
}

ImpactProblem impact_problem(const MotionProblem& problem, double gap) {
  validate(make_batch({&problem, 1}));
  ImpactProblem impact = impact_problem(motion_terms(problem, problem.position, problem.velocity),
                                        problem.velocity, gap);
  impact.name = problem.name;
  return impact;
}

CompliantProblem compliant_problem(const MotionTerms& terms, std::span<const double> velocity,
                                   double step_size, const ContactCompliance& compliance) {
  require_length(terms, velocity);
  CompliantProblem step;
  step.dimension = terms.rows;
  step.velocities = static_cast<int>(velocity.size());
  step.step_size = step_size;
  step.mass_matrix = terms.mass;
  step.force = terms.force;
  step.velocity.assign(velocity.begin(), velocity.end());
  for (std::size_t i = 0; i < terms.gap.size(); ++i) {
    const auto rows = static_cast<std::size_t>(terms.rows);
    const std::span<const double> jacobian = rows_of(terms, i, 0, terms.rows);
    const std::span<const double> drift = std::span(terms.drift).subspan(i * rows, rows);
    CompliantConstraint contact;
    contact.type = CompliantConstraint::Type::contact;
    contact.jacobian.assign(jacobian.begin(), jacobian.end());
    contact.jacobian_dot_v.assign(drift.begin(), drift.end());
    contact.phi.assign(rows, 0.0);
    contact.phi[0] = terms.gap[i];
    contact.stiffness = {compliance.stiffness};
    contact.damping = {compliance.damping};
    contact.friction = terms.friction[i];
    step.constraints.push_back(std::move(contact));
  }
  return step;
}

}  // namespace carom
