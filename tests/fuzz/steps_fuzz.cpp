#include <cmath>
#include <limits>
#include <vector>

#include <carom/impact.hpp>

#include "fuzz/input.hpp"
#include "support/step_problem.hpp"

// Mechanisms with small, often degenerate numbers: every step solved and certified.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using carom::fuzz::require;
  using carom::test::Matrix;
  carom::fuzz::Input input(data, size);
  carom::test::StepProblem step;
  step.dimension = input.integer(2, 3);
  step.contacts = input.integer(1, 4);
  step.directions = input.integer(4, 8);
  const int nv = input.integer(1, 8);
  const int rows = step.rows();
  step.mass = Matrix::Identity(nv, nv);
  for (int i = 0; i < nv; ++i) step.mass(i, i) = 0.25 + std::fabs(input.small());
  const std::vector<double> jacobian = input.numbers(static_cast<std::size_t>(rows * nv), false);
  step.jacobian = Eigen::Map<const Matrix>(jacobian.data(), rows, nv);
  const bool bounded = input.integer(0, 1) == 1;
  step.friction.resize(step.contacts);
  step.limit.resize(step.contacts);
  for (int i = 0; i < step.contacts; ++i) {
    step.friction[i] = std::fabs(input.small());
    const double limit = input.small();
    step.limit[i] =
        bounded || limit >= 0.0 ? std::fabs(limit) : std::numeric_limits<double>::infinity();
  }
  step.velocity.resize(nv);
  for (double& v : step.velocity) v = input.small();
  // Velocities that cancel leave rounding alone to be relative to.
  if (step.contact_velocity().cwiseAbs().maxCoeff() < 1e-9) return 0;
  carom::StepSettings settings;
  settings.friction_directions = step.directions;
  settings.threads = 1;
  const carom::StepResult result =
      carom::solve_steps(carom::test::step_batch({step}), settings, carom::Backend::cpu);
  require(result.status.host()[0] == carom::Status::solved, "every step is solved");
  const Eigen::Map<const carom::test::Vector> impulse(result.impulse.data(), rows);
  require(carom::test::full_residual(step, impulse) <= 1e-8, "a small residual of (75)");
  return 0;
}
