// A rimless wheel rolls down a slope: a user-defined mechanism as a function of its state.
//   rimless_wheel [SLOPE]     in degrees, default 8
#include <carom/motion_function.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numbers>
#include <vector>

namespace {

constexpr int kSpokes = 8;
constexpr double kMass = 1.0;     // at the hub, with the inertia [kg]
constexpr double kInertia = 0.2;  // [kg m2]
constexpr double kSpoke = 1.0;    // [m]
constexpr double kGravity = 9.81;

// q = (hub along the slope, hub above it, angle counter-clockwise).
carom::OwnMechanism wheel(double slope) {
  carom::OwnMechanism own;
  own.name = "rimless wheel";
  own.positions = own.velocities = 3;
  own.contacts = kSpokes;
  own.terms = [slope](const carom::MechanismState& at, carom::MechanismAnswer& out) {
    const double down = kMass * kGravity * std::sin(slope);
    const double into = kMass * kGravity * std::cos(slope);
    out.mass[0] = out.mass[4] = kMass;
    out.mass[8] = kInertia;
    out.force[0] = down;
    out.force[1] = -into;
    out.potential = into * at.position[1] - down * at.position[0];
    for (std::size_t j = 0; j < 3; ++j) out.rates[j] = at.velocity[j];
    for (std::size_t i = 0; i < kSpokes; ++i) {
      const double angle =
          at.position[2] + 2.0 * std::numbers::pi * static_cast<double>(i) / kSpokes;
      const double arm[2] = {kSpoke * std::sin(angle), -kSpoke * std::cos(angle)};
      const double square = at.velocity[2] * at.velocity[2];
      out.gap[i] = at.position[1] + arm[1];
      out.friction[i] = 2.0;
      double* normal = &out.jacobian[6 * i];
      double* tangent = normal + 3;
      normal[1] = tangent[0] = 1.0;
      normal[2] = arm[0];
      tangent[2] = -arm[1];
      out.drift[2 * i] = -square * arm[1];
      out.drift[2 * i + 1] = -square * arm[0];
    }
  };
  return own;
}

}  // namespace

int main(int argc, char** argv) try {
  const double slope = (argc > 1 ? std::atof(argv[1]) : 8.0) * std::numbers::pi / 180.0;
  const std::vector<double> position{0.0, kSpoke, 0.0};
  const std::vector<double> velocity{kSpoke, 0.0, -1.0};  // about the foot, downhill
  carom::MotionSettings settings;
  settings.duration = 8.0;
  settings.keep_samples = 1;
  settings.keep_events = 200;
  const carom::MotionResult result =
      carom::simulate_motions(wheel(slope), position, velocity, settings);
  double speed = 0.0;
  int steps = 0;
  for (int i = 0; i < result.event_count.host()[0]; ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (result.event_kind.host()[row] != carom::MotionEventKind::impact) continue;
    speed = -result.event_state.host()[6 * row + 5];
    ++steps;
    std::printf("step %2d at %.6f s, turns on with %.6f rad/s\n", steps,
                result.event_time.host()[row], speed);
  }
  // Angular momentum about the new foot stays in the impact, energy between two.
  const double half = std::numbers::pi / kSpokes;
  const double about = kInertia + kMass * kSpoke * kSpoke;
  const double kept = (kInertia + kMass * kSpoke * kSpoke * std::cos(2.0 * half)) / about;
  const double gained = 2.0 * kMass * kGravity * kSpoke * std::sin(half) * std::sin(slope);
  const double steady = std::sqrt(2.0 * gained / about * kept * kept / (1.0 - kept * kept));
  std::printf("steady: %.6f rad/s after an impact; residual %.1e, energy balance to %.1e J\n",
              steady, result.residual.host()[0], result.energy_error.host()[0]);
  return steps > 0 && std::abs(speed - steady) < 1e-3 * steady ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return EXIT_FAILURE;
}
