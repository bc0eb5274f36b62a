#pragma once

#include <string>

#include <gtest/gtest.h>

#include <carom/impact.hpp>
#include <carom/models/models.hpp>

/// Runs of the built-in models with the settings that their sources recommend.
namespace carom::test {

inline ImpactSettings model_settings(const models::Model& model, std::int64_t samples) {
  ImpactSettings settings;
  settings.samples = samples;
  settings.keep_samples = -1;
  settings.seed = 12345;
  settings.step_size = model.step_size;
  settings.max_steps = model.max_steps;
  settings.epsilon = 0.0;
  return settings;
}
inline ImpactSettings model_settings(const std::string& name, std::int64_t samples) {
  return model_settings(models::find(name), samples);
}

inline ImpactBatch model_batch(const std::string& name, int copies = 1) {
  return make_batch(
      std::vector<ImpactProblem>(static_cast<std::size_t>(copies), models::build(name)));
}

/// Tests over all models, named after them.
class ModelTest : public ::testing::TestWithParam<std::string> {};

inline std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const models::Model& model : models::all()) names.push_back(model.name);
  return names;
}
inline std::string model_name(const ::testing::TestParamInfo<std::string>& info) {
  return info.param;
}

}  // namespace carom::test
