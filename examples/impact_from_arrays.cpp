// An impact from plain arrays: a block lands flat on two corners. The mass matrix and the contact
// Jacobians are written by hand, as your own simulator would provide them.
#include <cstdio>
#include <exception>

#include <carom/carom.hpp>

namespace {

carom::ImpactProblem block() {
  constexpr double kMass = 1.0;        // [kg]
  constexpr double kHalfWidth = 0.5;   // [m]
  constexpr double kHalfHeight = 1.0;  // [m]
  constexpr double kInertia =          // [kg m^2], a homogeneous rectangle's
      kMass * (kHalfWidth * kHalfWidth + kHalfHeight * kHalfHeight) / 3.0;

  carom::ImpactProblem problem;
  problem.name = "block";
  problem.dimension = 2;
  problem.velocities = 3;                  // x, y of the centre, rotation
  problem.contacts = 2;                    // A: lower left corner, B: lower right
  problem.mass_matrix = {kMass, 0,     0,  //
                         0,     kMass, 0,  //
                         0,     0,     kInertia};
  // Corner at r = (-+w, -h): its velocity is (x' + h rot', y' -+ w rot').
  problem.normal_jacobian = {0, 1, -kHalfWidth,  //
                             0, 1, kHalfWidth};
  problem.tangent_jacobian = {1, 0, kHalfHeight,  //
                              1, 0, kHalfHeight};
  problem.friction = {1.0, 1.0};
  problem.velocity = {0.0, -1.0, 0.0};  // falling at 1 m/s
  return problem;
}

}  // namespace

int main() try {
  const carom::ImpactProblem problem = block();

  carom::ImpactSettings settings;
  settings.samples = 10000;  // trajectories: each draws its own order of impulses
  settings.step_size = 0.5;  // h [N s]
  settings.max_steps = 100;
  settings.keep_samples = 5;  // rows to look at; the summary covers all samples
  const carom::ImpactResult result =
      carom::sample_impacts(carom::make_batch({&problem, 1}), settings);
  const carom::ImpactSummary& summary = result.summary[0];

  std::printf("first samples, velocity after the impact [m/s, m/s, rad/s]:\n");
  for (std::size_t s = 0; s < 5; ++s) {
    const double* v = result.samples.velocity.host().data() + 3 * s;
    const std::string modes = carom::mode_words(result.samples.modes.host()[s], 2, 2);
    std::printf("  (%9.6f, %9.6f, %9.6f)  %s\n", v[0], v[1], v[2], modes.c_str());
  }

  std::printf("all %lld samples:\n", static_cast<long long>(summary.samples));
  for (std::size_t i = 0; i < 2; ++i) {
    std::printf("  corner %c leaves at %.4f .. %.4f m/s\n", i == 0 ? 'A' : 'B',
                summary.normal_velocity_min[i], summary.normal_velocity_max[i]);
  }
  for (const auto& [modes, count] : summary.mode_counts) {
    std::printf("  %-24s %lld\n", carom::mode_words(modes, 2, 2).c_str(),
                static_cast<long long>(count));
  }

  // Every step was certified against the problem's own numbers before it was counted.
  std::printf("largest residual %.1e, largest kinetic energy ratio %.6f\n", summary.max_residual,
              summary.max_energy_ratio);
  return summary.status == carom::Status::solved ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "impact_from_arrays: %s\n", error.what());
  return 1;
}
