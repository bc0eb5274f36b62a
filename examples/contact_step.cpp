// One compliant step from plain arrays: a ball of 1 kg rests on a stiff floor and is pushed along
// it. Mass matrix and Jacobians are written by hand, as your own simulator would provide them.
// Below the friction limit the ball sticks, above it slides.
#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <carom/carom.hpp>

namespace {

constexpr double kMass = 1.0;      // [kg]
constexpr double kGravity = 9.81;  // [m/s2]
constexpr double kFriction = 0.5;

// A point mass (x, y, z) that presses on the floor z = 0 and is pushed along x.
carom::CompliantProblem pushed(double push) {
  carom::CompliantProblem problem;
  problem.name = "push of " + std::to_string(push) + " N";
  problem.dimension = 3;
  problem.velocities = 3;
  problem.step_size = 0.01;  // h [s]
  problem.mass_matrix = {kMass, 0, 0, 0, kMass, 0, 0, 0, kMass};
  problem.force = {push, 0, -kMass * kGravity};
  problem.velocity = {0, 0, 0};

  carom::CompliantConstraint contact;
  contact.type = carom::CompliantConstraint::Type::contact;
  contact.jacobian = {0, 0, 1,        // normal
                      1, 0, 0,        // two tangents
                      0, 1, 0};       //
  contact.stiffness = {1e9, 0, 0};    // K [N/m]: stiff along the normal
  contact.damping = {1e3, 1e8, 1e8};  // B [N s/m]: tangential dampers hold up to the cone
  contact.friction = kFriction;
  problem.constraints = {contact};
  return problem;
}

}  // namespace

int main() try {
  std::vector<carom::CompliantProblem> problems;
  for (const double push : {0.0, 2.0, 4.0, 6.0, 8.0}) problems.push_back(pushed(push));

  const carom::CompliantResult result = carom::solve_compliant(carom::make_batch(problems));

  std::printf("friction limit %.3f N\n", kFriction * kMass * kGravity);
  bool solved = true;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const double* v = result.velocity.host().data() + 3 * i;
    const double* force = result.force.host().data() + 3 * i;
    std::printf("%-20s v' = (%.3e, %.3e, %.3e) m/s  normal %.3f N, friction %.3f N  %s %.0e\n",
                problems[i].name.c_str(), v[0], v[1], v[2], force[0], force[1],
                std::string(carom::to_string(result.status.host()[i])).c_str(),
                result.residual.host()[i]);
    solved = solved && result.status.host()[i] == carom::Status::solved;
  }
  return solved ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "contact_step: %s\n", error.what());
  return 1;
}
