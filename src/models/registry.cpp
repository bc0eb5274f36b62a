#include "models/definition.hpp"
#include "models/named_definitions.hpp"

namespace carom::models {
namespace {

using ImpactRegistry = detail::NamedDefinitions<detail::Definition>;

const ImpactRegistry& impact_registry() {
  static const ImpactRegistry instance(
      "model", {detail::rocking_block(), detail::compass_gait(), detail::box_wall(),
                detail::ramone(), detail::disk_stack(), detail::cube_drop(), detail::tripod(),
                detail::bar_on_steps(), detail::ball_in_corner()});
  return instance;
}

}  // namespace

std::span<const Model> all() { return impact_registry().models(); }

const Model& find(std::string_view name) { return impact_registry().find(name).model; }

ImpactProblem build(std::string_view name, const std::map<std::string, double>& overrides) {
  const detail::Definition& definition = impact_registry().find(name);
  detail::Values values(definition.model);
  for (const auto& [parameter, value] : overrides) values.set(parameter, value);
  ImpactProblem problem = definition.build(values);
  problem.name = definition.model.name;
  return problem;
}

}  // namespace carom::models
