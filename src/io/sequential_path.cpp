#include "io/sequential_path.hpp"

#include <cstddef>

#include <carom/impact_models.hpp>

#include "impact/single_contact.hpp"
#include "run/impact_run.hpp"

namespace carom::io {

std::vector<std::vector<double>> sequential_path(const ImpactProblem& problem,
                                                 std::span<const int> order,
                                                 int friction_directions, int max_impacts) {
  ImpactModelSettings settings;
  settings.friction_directions = friction_directions;
  std::vector<ImpactProblem> singles;
  for (const int contact : order) singles.push_back(single_contact(problem, contact));

  std::vector<std::vector<double>> path = {problem.velocity};
  std::size_t idle = 0;  // contacts in a row that did not approach
  for (std::size_t turn = 0; idle < order.size(); turn = (turn + 1) % order.size()) {
    const std::vector<double> contact = run::contact_velocity(problem, path.back().data());
    const auto index = static_cast<std::size_t>(order[turn]);
    if (contact[index] >= -settings.velocity_tolerance) {
      ++idle;
      continue;
    }
    idle = 0;
    singles[turn].velocity = path.back();
    const ImpactOutcome outcome = simultaneous_impact(singles[turn], settings);
    if (outcome.status != Status::solved) break;
    path.push_back(outcome.velocity);
    if (path.size() > static_cast<std::size_t>(max_impacts)) break;
  }
  return path;
}

}  // namespace carom::io
