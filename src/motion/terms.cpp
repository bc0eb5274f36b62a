#include <carom/types/error.hpp>

#include "motion/backends.hpp"
#include "motion/kernels/contact_forces.hpp"
#include "motion/mechanisms.hpp"

namespace carom::motion {

MotionTerms terms_of(const MotionProblem& problem, std::span<const double> position,
                     std::span<const double> velocity, double time) {
  return with_mechanism(problem.mechanism, [&]<class T>() {
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
    if constexpr (kernels::TurningMechanism<T, const double*>) {
      terms.quaternions.resize(kernels::kMostQuaternions);
      terms.quaternions.resize(
          static_cast<std::size_t>(T::quaternions(p, terms.quaternions.data())));
    }
    for (int i = 0; i < size.constraints; ++i) {
      terms.gap.push_back(at.gap[i]);
      terms.friction.push_back(at.friction[i]);
      terms.jacobian.insert(terms.jacobian.end(), at.rows[i], at.rows[i] + T::kRows * nv);
      terms.drift.insert(terms.drift.end(), at.drift[i], at.drift[i] + T::kRows);
    }
    return terms;
  });
}

}  // namespace carom::motion
