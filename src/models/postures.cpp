#include <carom/models/postures.hpp>

#include <carom/error.hpp>

#include "models/posture_definition.hpp"

namespace carom::models {
namespace {

struct PostureRegistry {
  std::vector<detail::PostureDefinition> definitions;
  std::vector<PostureModel> models;

  PostureRegistry() {
    for (const auto& family : {detail::planar_postures(), detail::spatial_postures()}) {
      for (const detail::PostureDefinition& definition : family) {
        definitions.push_back(definition);
        models.push_back(definition.model);
      }
    }
  }

  [[nodiscard]] const detail::PostureDefinition& find(std::string_view name) const {
    std::string known;
    for (const detail::PostureDefinition& definition : definitions) {
      if (definition.model.name == name) return definition;
      known += (known.empty() ? "" : ", ") + definition.model.name;
    }
    throw InvalidInput("unknown posture \"" + std::string(name) + "\": known are " + known);
  }
};

const PostureRegistry& posture_registry() {
  static const PostureRegistry instance;
  return instance;
}

}  // namespace

std::span<const PostureModel> postures() { return posture_registry().models; }

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
