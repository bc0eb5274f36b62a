#include <carom/models/postures.hpp>

#include "models/named_definitions.hpp"
#include "models/posture_definition.hpp"

namespace carom::models {
namespace {

using PostureRegistry = detail::NamedDefinitions<detail::PostureDefinition>;

const PostureRegistry& posture_registry() {
  static const PostureRegistry instance("posture", [] {
    std::vector<detail::PostureDefinition> all;
    for (const auto& family : {detail::planar_postures(), detail::spatial_postures()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    return all;
  }());
  return instance;
}

}  // namespace

std::span<const PostureModel> postures() { return posture_registry().models(); }

const PostureModel& find_posture(std::string_view name) {
  return posture_registry().find(name).model;
}

Posture build_posture(std::string_view name, const std::map<std::string, double>& overrides) {
  const detail::PostureDefinition& definition = posture_registry().find(name);
  // Values reads a model's name and parameters only.
  Model described;
  described.name = definition.model.name;
  described.parameters = definition.model.parameters;
  detail::Values values(described);
  for (const auto& [parameter, value] : overrides) values.set(parameter, value);
  Posture posture = definition.build(values);
  posture.name = definition.model.name;
  posture.dimension = definition.model.dimension;
  return posture;
}

}  // namespace carom::models
