// Stacks of up to 100 spheres as stiff as steel stand still at 10 ms a step, and the cost of a step
// grows with the number of contacts, not with the stiffness.
#include <cmath>
#include <cstdio>
#include <exception>

#include <carom/carom.hpp>

int main() try {
  const carom::models::Scenario& scenario = carom::models::find_scenario("sphere_stack");
  bool solved = true;
  std::printf(
      "spheres  modulus [N/m2]  top sphere sinks [m]  fastest [m/s]  us a step  residual\n");
  for (const double spheres : {1.0, 10.0, 30.0, 100.0}) {
    for (const double modulus : {1e7, 1e11}) {
      carom::WorldRun run;
      run.parameters = carom::models::scenario_parameters(
          scenario, {{"spheres", spheres}, {"modulus", modulus}});
      run.steps = 500;
      const carom::WorldsResult result = carom::step_worlds(scenario, run);
      double fastest = 0.0;
      for (const double v : result.velocity) fastest = std::fmax(fastest, std::fabs(v));
      std::printf("%7.0f  %14.0e  %20.3e  %13.1e  %9.1f  %8.0e\n", spheres, modulus,
                  -result.displacement[0], fastest,
                  1e6 * result.seconds / static_cast<double>(result.steps_taken[0]),
                  result.max_residual[0]);
      solved = solved && result.status[0] == carom::Status::solved;
    }
  }
  return solved ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "sphere_stack: %s\n", error.what());
  return 1;
}
