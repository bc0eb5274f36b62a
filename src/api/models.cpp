#include <carom/models/models.hpp>
#include <carom/models/motions.hpp>
#include <carom/models/postures.hpp>

#include "models/registries.hpp"

namespace carom::models {

std::span<const Model> all() { return detail::impact_registry().models(); }

const Model& find(std::string_view name) { return detail::impact_registry().find(name).model; }

ImpactProblem build(std::string_view name, const std::map<std::string, double>& overrides) {
  const detail::Definition& definition = detail::impact_registry().find(name);
  detail::Values values(definition.model);
  for (const auto& [parameter, value] : overrides) values.set(parameter, value);
  ImpactProblem problem = definition.build(values);
  problem.name = definition.model.name;
  return problem;
}

std::span<const MotionModel> motions() { return detail::motion_registry().models(); }

const MotionModel& find_motion(std::string_view name) {
  return detail::motion_registry().find(name).model;
}

MotionProblem build_motion(std::string_view name, const std::map<std::string, double>& overrides) {
  const detail::MotionDefinition& definition = detail::motion_registry().find(name);
  detail::Values values(definition.model);
  for (const auto& [parameter, value] : overrides) values.set(parameter, value);
  MotionProblem problem = definition.build(values);
  problem.name = definition.model.name;
  return problem;
}

std::span<const PostureModel> postures() { return detail::posture_registry().models(); }

const PostureModel& find_posture(std::string_view name) {
  return detail::posture_registry().find(name).model;
}

Posture build_posture(std::string_view name, const std::map<std::string, double>& overrides) {
  const detail::PostureDefinition& definition = detail::posture_registry().find(name);
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
