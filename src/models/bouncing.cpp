#include <cmath>
#include <cstddef>

#include "models/definition.hpp"

// Impacts that restitution is looked at with (docs/explanation/restitution.md).
namespace carom::models::detail {

namespace {

constexpr int kMostBalls = 6;

Parameter restitution() { return {"restitution", "-", 0.0, 0.0, false, 1.0, "e of every contact"}; }

void set_restitution(ImpactProblem& problem, double e) {
  if (!(e > 0.0)) return;
  problem.restitution_low.assign(static_cast<std::size_t>(problem.contacts), e);
  problem.restitution_high = problem.restitution_low;
}

/// Each contact pushes its ball and the next apart; nothing slips.
ImpactProblem cradle(const Values& values) {
  const double balls = values("balls");
  values.require(balls == std::floor(balls), "balls", "a whole number");
  const auto n = static_cast<std::size_t>(balls), m = n - 1;
  ImpactProblem problem;
  problem.velocities = static_cast<int>(n);
  problem.contacts = static_cast<int>(m);
  problem.mass_matrix.assign(n * n, 0.0);
  problem.normal_jacobian.assign(m * n, 0.0);
  problem.tangent_jacobian.assign(m * n, 0.0);
  problem.friction.assign(m, values("friction"));
  problem.velocity.assign(n, 0.0);
  problem.velocity[0] = values("speed");
  for (std::size_t i = 0; i < n; ++i) problem.mass_matrix[i * n + i] = values("mass");
  for (std::size_t i = 0; i < m; ++i) {
    problem.normal_jacobian[i * n + i] = -1.0;
    problem.normal_jacobian[i * n + i + 1] = 1.0;
  }
  set_restitution(problem, values("restitution"));
  return problem;
}

/// Toss 539 of the 570, at frame 16.57: contact points from the centre of mass [m], and the motion.
constexpr double kCorner[2][3] = {{-0.02436, 0.04631, -0.06535}, {-0.01710, -0.05024, -0.06461}};
constexpr double kMotion[6] = {-1.24107, 0.22429, -1.37643, 0.54465, -2.14406, 0.22822};

ImpactProblem tossed_cube(const Values& values) {
  ImpactProblem problem;
  problem.dimension = 3;
  problem.velocities = 6;
  problem.contacts = 2;
  problem.mass_matrix.assign(36, 0.0);
  for (std::size_t i = 0; i < 6; ++i) {
    problem.mass_matrix[7 * i] = values(i < 3 ? "mass" : "inertia");
  }
  for (const auto& p : kCorner) {  // rows e, p x e
    problem.normal_jacobian.insert(problem.normal_jacobian.end(), {0, 0, 1, p[1], -p[0], 0});
    problem.tangent_jacobian.insert(problem.tangent_jacobian.end(), {1, 0, 0, 0, p[2], -p[1]});
    problem.tangent_jacobian.insert(problem.tangent_jacobian.end(), {0, 1, 0, -p[2], 0, p[0]});
  }
  problem.friction.assign(2, values("friction"));
  problem.velocity.assign(kMotion, kMotion + 6);
  problem.velocity[2] = -values("downward_velocity");
  set_restitution(problem, values("restitution"));
  return problem;
}

}  // namespace

Definition newtons_cradle() {
  Model model;
  model.name = "newtons_cradle";
  model.summary =
      "equal balls in a row that touch, hit by the first; v = their speeds along it; contact A "
      "between the first two, and so on";
  model.source = "closed forms, docs/explanation/restitution.md";
  model.dimension = 2;
  model.contact_names = {"A", "B"};
  model.parameters = {{"balls", "-", 3.0, 2.0, false, kMostBalls, "how many, a whole number"},
                      mass(1.0, "each ball"),
                      positive("speed", "m/s", 1.0, 1e3, "of the first ball before the impact"),
                      restitution(),
                      friction(0.0)};
  model.step_size = 0.5;
  model.max_steps = 40;
  return {model, cradle};
}

Definition cube_two_corners() {
  Model model;
  model.name = "cube_two_corners";
  model.summary =
      "measured impact of an acrylic cube at two corners, its centre of mass 6 mm away from the "
      "middle; it ended at (-1.019, 0.152, 0.268) m/s, (-0.315, 5.472, 1.130) rad/s";
  model.source = "toss 539 of DAIRLab/contact-nets, examples/data/cube_tosses";
  model.dimension = 3;
  model.contact_names = {"A", "B"};
  model.parameters = {mass(0.37, "the cube"),
                      inertia("inertia", 0.000989, "of the cube, about each axis"),
                      downward_velocity(1.37643, "the cube"), restitution(), friction(0.16)};
  model.step_size = 0.05;
  model.max_steps = 40;
  return {model, tossed_cube};
}

}  // namespace carom::models::detail
