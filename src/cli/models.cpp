#include <carom/models/models.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands.hpp"

namespace carom::cli {

namespace {

struct ModelsOptions {
  std::string name;
  bool json = false;
};

nlohmann::ordered_json model_json(const models::Model& model) {
  nlohmann::ordered_json result;
  result["name"] = model.name;
  result["summary"] = model.summary;
  result["source"] = model.source;
  result["dimension"] = model.dimension;
  result["contacts"] = model.contact_names;
  result["step_size"] = model.step_size;
  result["max_steps"] = model.max_steps;
  result["parameters"] = nlohmann::ordered_json::array();
  for (const models::Parameter& parameter : model.parameters) {
    nlohmann::ordered_json entry;
    entry["name"] = parameter.name;
    entry["unit"] = parameter.unit;
    entry["default"] = parameter.value;
    entry["minimum"] = parameter.minimum;
    entry["minimum_open"] = parameter.minimum_open;
    entry["maximum"] = parameter.maximum;
    entry["meaning"] = parameter.meaning;
    result["parameters"].push_back(entry);
  }
  return result;
}

void print_model(const models::Model& model) {
  fmt::print("{}  ({}, {} contacts: {})\n", model.name, model.dimension == 2 ? "planar" : "spatial",
             model.contact_names.size(), fmt::join(model.contact_names, ", "));
  fmt::print("  {}\n  source: {}; step size {:g} N s, at most {} steps\n", model.summary,
             model.source, model.step_size, model.max_steps);
  for (const models::Parameter& parameter : model.parameters) {
    const std::string range = fmt::format("{}{:g}, {:g}]", parameter.minimum_open ? "(" : "[",
                                          parameter.minimum, parameter.maximum);
    fmt::print("    {:<22} {:>12} {:<6} {:<18} {}\n", parameter.name,
               fmt::format("{:.6g}", parameter.value), parameter.unit, range, parameter.meaning);
  }
}

int run_models(const ModelsOptions& options) {
  std::vector<const models::Model*> chosen;
  if (options.name.empty()) {
    for (const models::Model& model : models::all()) chosen.push_back(&model);
  } else {
    chosen.push_back(&models::find(options.name));
  }
  if (options.json) {
    nlohmann::ordered_json result = nlohmann::ordered_json::array();
    for (const models::Model* model : chosen) result.push_back(model_json(*model));
    fmt::print("{}\n", (options.name.empty() ? result : result[0]).dump(2));
    return kSuccess;
  }
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (i > 0) fmt::print("\n");
    print_model(*chosen[i]);
  }
  return kSuccess;
}

}  // namespace

void add_models(Program& program) {
  CLI::App* command =
      program.app.add_subcommand("models", "The built-in models and their parameters");
  command->footer("Example: carom models rocking_block");
  const auto options = std::make_shared<ModelsOptions>();
  command->add_option("name", options->name, "Show this model only")->type_name("MODEL");
  command->add_flag("--json", options->json, "One JSON document instead of text");
  command->callback(
      [&program, options] { program.chosen = [options] { return run_models(*options); }; });
}

}  // namespace carom::cli
