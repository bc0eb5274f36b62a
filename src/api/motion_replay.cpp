#include <carom/motion_replay.hpp>

#include <cmath>
#include <cstddef>
#include <string>

#include <carom/error.hpp>

#include "core/backends.hpp"
#include "core/message.hpp"
#include "motion/backends.hpp"
#include "motion/body/contact_forces.hpp"
#include "motion/mechanisms.hpp"

namespace carom {

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
  return motion::with_mechanism(problem.mechanism, [&]<class T>() {
    const double* p = problem.parameters.data();
    const kernels::MechanismSizes size = T::sizes(p);
    kernels::motion::LocalState<T> at;
    if (!at.evaluate(p, size, time, position.data(), velocity.data(), nullptr, ~0U)) {
      throw InvalidInput("motion: mass_matrix is singular: must be positive definite");
    }
    const auto nv = static_cast<std::ptrdiff_t>(size.velocities);
    MotionTerms terms;
    terms.rows = T::kRows;
    terms.mass.assign(at.mass, at.mass + nv * nv);
    const T mechanism(p, time, position.data());
    terms.force.resize(static_cast<std::size_t>(nv));
    mechanism.force(velocity.data(), terms.force.data());
    terms.rates.resize(position.size());
    mechanism.rates(velocity.data(), terms.rates.data());
    terms.energy = at.kinetic(size.velocities, velocity.data()) + at.potential;
    for (int i = 0; i < size.constraints; ++i) {
      terms.gap.push_back(at.gap[i]);
      terms.friction.push_back(at.friction[i]);
      terms.jacobian.insert(terms.jacobian.end(), at.rows[i], at.rows[i] + T::kRows * nv);
      terms.drift.insert(terms.drift.end(), at.drift[i], at.drift[i] + T::kRows);
    }
    return terms;
  });
}

void ReplaySettings::validate() const {
  const auto check = [](const char* field, double value) {
    if (std::isfinite(value) && value > 0.0) return;
    throw InvalidInput(std::string("replay: ") + field + " is " + message::number(value) +
                       ": must be finite and > 0");
  };
  check("step", step);
  check("tolerance", tolerance);
  check("longest", longest);
}

MotionReplay replay_motion(const MotionProblem& problem, const MotionResult& result,
                           std::int64_t sample, const ReplaySettings& settings) {
  settings.validate();
  entries(Backend::reference);  // refuses where the build leaves it out
  if (result.problems != 1 || sample < 0 || sample >= result.kept || result.event_rows == 0) {
    throw InvalidInput("replay: sample is " + std::to_string(sample) +
                       ": must be one of the motions of one problem whose events were kept (" +
                       std::to_string(result.kept) + ")");
  }
  return reference::replay_motion(problem, result, sample, settings);
}

}  // namespace carom
