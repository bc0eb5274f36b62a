#include <cmath>

#include <carom/impact.hpp>

#include "fuzz/input.hpp"

// Any numbers in a problem: refused by name, or counted and certified.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using carom::fuzz::require;
  carom::fuzz::Input input(data, size);
  const bool bits = input.integer(0, 1) == 1;
  carom::ImpactProblem problem;
  problem.dimension = input.integer(2, 3);
  problem.velocities = input.integer(1, 5);
  problem.contacts = input.integer(0, 3);
  const auto nv = static_cast<std::size_t>(problem.velocities);
  const auto m = static_cast<std::size_t>(problem.contacts);
  problem.mass_matrix.assign(nv * nv, 0.0);
  for (std::size_t i = 0; i < nv; ++i) {
    problem.mass_matrix[i * nv + i] = bits ? input.any() : 0.25 + std::fabs(input.small());
  }
  problem.normal_jacobian = input.numbers(m * nv, bits);
  problem.tangent_jacobian =
      input.numbers(m * nv * static_cast<std::size_t>(problem.dimension - 1), bits);
  for (std::size_t i = 0; i < m; ++i) {
    problem.friction.push_back(bits ? input.any() : std::fabs(input.small()));
  }
  problem.velocity = input.numbers(nv, bits);
  carom::ImpactSettings settings;
  settings.samples = 16;
  settings.threads = 1;
  settings.bad_problem = carom::BadProblem::isolate;
  const carom::ImpactResult result =
      carom::sample_impacts(carom::make_batch({&problem, 1}), settings, carom::Backend::cpu);
  const carom::ImpactSummary& summary = result.summary[0];
  if (summary.status == carom::Status::invalid_input) return 0;
  require(summary.samples == 16, "every sample is computed");
  require(summary.terminated + summary.max_steps_reached + summary.failed == 16, "counts add up");
  require(summary.max_residual <= settings.residual_tolerance, "certified residuals");
  require(bits || summary.failed == 0, "healthy numbers do not fail");
  return 0;
}
