#include <carom/error.hpp>

#include "models/definition.hpp"

namespace carom::models {
namespace {

struct Registry {
  std::vector<detail::Definition> definitions = {
      detail::rocking_block(), detail::compass_gait(), detail::box_wall(),
      detail::ramone(),        detail::disk_stack(),   detail::cube_drop(),
      detail::tripod(),        detail::bar_on_steps(), detail::ball_in_corner()};
  std::vector<Model> models;

  Registry() {
    for (const detail::Definition& definition : definitions) models.push_back(definition.model);
  }

  [[nodiscard]] const detail::Definition& find(std::string_view name) const {
    std::string known;
    for (const detail::Definition& definition : definitions) {
      if (definition.model.name == name) return definition;
      known += (known.empty() ? "" : ", ") + definition.model.name;
    }
    throw InvalidInput("unknown model \"" + std::string(name) + "\": known are " + known);
  }
};

const Registry& registry() {
  static const Registry instance;
  return instance;
}

}  // namespace

std::span<const Model> all() { return registry().models; }

const Model& find(std::string_view name) { return registry().find(name).model; }

ImpactProblem build(std::string_view name, const std::map<std::string, double>& overrides) {
  const detail::Definition& definition = registry().find(name);
  detail::Values values(definition.model);
  for (const auto& [parameter, value] : overrides) values.set(parameter, value);
  ImpactProblem problem = definition.build(values);
  problem.name = definition.model.name;
  return problem;
}

}  // namespace carom::models
