#include <cstddef>

#include <carom/motion_tree.hpp>

#include "motion/body/contact_forces.hpp"
#include "motion/mechanisms.hpp"

namespace carom {

ImpactProblem impact_problem(const MotionProblem& problem, double gap) {
  validate(make_batch({&problem, 1}));
  return motion::with_mechanism(problem.mechanism, [&]<class T>() {
    const kernels::MechanismSizes size = T::sizes(problem.parameters.data());
    kernels::motion::LocalState<T> at;
    at.evaluate(problem.parameters.data(), size, 0.0, problem.position.data(),
                problem.velocity.data(), nullptr, ~0U);
    const int nv = size.velocities;
    ImpactProblem impact;
    impact.name = problem.name;
    impact.dimension = T::kRows;
    impact.velocities = nv;
    impact.mass_matrix.assign(at.mass, at.mass + static_cast<std::ptrdiff_t>(nv) * nv);
    impact.velocity = problem.velocity;
    for (int i = 0; i < size.constraints; ++i) {
      if (!(at.gap[i] <= gap)) continue;
      const double* rows = at.rows[i];
      impact.normal_jacobian.insert(impact.normal_jacobian.end(), rows, rows + nv);
      impact.tangent_jacobian.insert(impact.tangent_jacobian.end(), rows + nv,
                                     rows + static_cast<std::ptrdiff_t>(T::kRows) * nv);
      impact.friction.push_back(at.friction[i]);
      ++impact.contacts;
    }
    return impact;
  });
}

}  // namespace carom
