// Ten thousand blocks on a slope, each with its own friction coefficient, stepped for a second. At
// which friction do they stop sliding, and how far do the others come?
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numbers>
#include <string>

#include <carom/carom.hpp>

int main(int argc, char** argv) try {
  const std::int64_t worlds = argc > 1 ? std::atoll(argv[1]) : 10000;
  if (worlds < 2) {
    std::fprintf(stderr, "inclined_blocks: the number of worlds must be 2 or more\n");
    return 2;
  }
  const carom::models::Scenario& scenario = carom::models::find_scenario("inclined_block");
  const std::size_t friction = carom::models::parameter_index(scenario, "friction");

  carom::WorldRun run;
  run.worlds = worlds;
  for (std::int64_t world = 0; world < worlds; ++world) {
    std::vector<double> values = carom::models::scenario_parameters(scenario);
    values[friction] = 0.4 * static_cast<double>(world) / static_cast<double>(worlds - 1);
    run.parameters.insert(run.parameters.end(), values.begin(), values.end());
  }
  const carom::WorldsResult result = carom::step_worlds(scenario, run);

  // A rigid block slides 1/2 g (sin a - mu cos a) t^2.
  const std::vector<double> defaults = carom::models::scenario_parameters(scenario);
  const double angle =
      defaults[carom::models::parameter_index(scenario, "angle")] * std::numbers::pi / 180.0;
  const double gravity = defaults[carom::models::parameter_index(scenario, "gravity")];
  const double time = static_cast<double>(result.steps) * result.step_size;
  double worst_residual = 0.0;
  std::int64_t failed = 0;
  double first_holding = -1.0;
  const std::size_t count = scenario.parameters.size();
  for (std::size_t world = 0; world < result.displacement.size(); ++world) {
    const double mu = run.parameters[world * count + friction];
    worst_residual = std::fmax(worst_residual, result.max_residual[world]);
    if (result.status[world] != carom::Status::solved) ++failed;
    if (first_holding < 0.0 && result.displacement[world] < 1e-6) first_holding = mu;
    if (world % (result.displacement.size() / 8 + 1) != 0) continue;
    const double rigid =
        std::fmax(0.0, 0.5 * gravity * (std::sin(angle) - mu * std::cos(angle)) * time * time);
    std::printf("friction %.4f: %.6f m downhill, a rigid block %.6f m\n", mu,
                result.displacement[world], rigid);
  }
  std::printf("the blocks hold from friction %.4f on; tan of the slope is %.4f\n", first_holding,
              std::tan(angle));
  std::printf("%lld worlds of %lld steps in %.3f s on %s, largest residual %.1e, %lld failed\n",
              static_cast<long long>(result.worlds), static_cast<long long>(result.steps),
              result.seconds, std::string(carom::to_string(result.backend)).c_str(), worst_residual,
              static_cast<long long>(failed));
  return failed == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "inclined_blocks: %s\n", error.what());
  return 1;
}
