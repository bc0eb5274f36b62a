#include <carom/models/models.hpp>
#include <carom/models/motions.hpp>
#include <carom/models/postures.hpp>
#include <carom/models/scenarios.hpp>
#include <carom/models/stances.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <carom/error.hpp>

#include "cli/commands.hpp"
#include "cli/json_output.hpp"

namespace carom::cli {

namespace {

struct ModelsOptions {
  std::string name;
  bool json = false;
};

nlohmann::ordered_json parameters_json(const std::vector<models::Parameter>& parameters) {
  nlohmann::ordered_json result = nlohmann::ordered_json::array();
  for (const models::Parameter& parameter : parameters) {
    nlohmann::ordered_json entry;
    entry["name"] = parameter.name;
    entry["unit"] = parameter.unit;
    entry["default"] = parameter.value;
    entry["minimum"] = parameter.minimum;
    entry["minimum_open"] = parameter.minimum_open;
    entry["maximum"] = parameter.maximum;
    entry["meaning"] = parameter.meaning;
    result.push_back(entry);
  }
  return result;
}

void print_parameters(const std::vector<models::Parameter>& parameters) {
  for (const models::Parameter& parameter : parameters) {
    const std::string range = fmt::format("{}{:g}, {:g}]", parameter.minimum_open ? "(" : "[",
                                          parameter.minimum, parameter.maximum);
    fmt::print("    {:<22} {:>12} {:<6} {:<18} {}\n", parameter.name,
               fmt::format("{:.6g}", parameter.value), parameter.unit, range, parameter.meaning);
  }
}

const char* dimension_word(int dimension) { return dimension == 2 ? "planar" : "spatial"; }

// What the models of all families have in common.
template <class Model>
nlohmann::ordered_json common_json(const Model& model, const char* command) {
  nlohmann::ordered_json result;
  result["name"] = model.name;
  result["command"] = command;
  result["summary"] = model.summary;
  result["source"] = model.source;
  result["dimension"] = model.dimension;
  result["contacts"] = model.contact_names;
  return result;
}

template <class Model>
void print_common(const Model& model) {
  fmt::print("{}  ({}, {} {}: {})\n  {}\n  source: {}", model.name, dimension_word(model.dimension),
             model.contact_names.size(), model.contact_names.size() == 1 ? "contact" : "contacts",
             fmt::join(model.contact_names, ", "), model.summary, model.source);
}

nlohmann::ordered_json to_json(const models::Model& model) {
  nlohmann::ordered_json result = common_json(model, "impact");
  result["step_size"] = model.step_size;
  result["max_steps"] = model.max_steps;
  result["parameters"] = parameters_json(model.parameters);
  return result;
}

void print(const models::Model& model) {
  print_common(model);
  fmt::print("; its source takes --step {:g} --max-steps {}\n", model.step_size, model.max_steps);
  print_parameters(model.parameters);
}

nlohmann::ordered_json to_json(const models::PostureModel& model) {
  nlohmann::ordered_json result = common_json(model, "equilibrium");
  result["parameters"] = parameters_json(model.parameters);
  return result;
}

void print(const models::PostureModel& model) {
  print_common(model);
  fmt::print("\n");
  print_parameters(model.parameters);
}

nlohmann::ordered_json to_json(const models::Scenario& scenario) {
  nlohmann::ordered_json result;
  result["name"] = scenario.name;
  result["command"] = "step";
  result["summary"] = scenario.summary;
  result["source"] = scenario.source;
  result["positions"] = scenario.positions;
  result["velocities"] = scenario.velocities;
  result["displacement"] = scenario.displacement;
  result["dt"] = scenario.step_size;
  result["steps"] = scenario.steps;
  result["parameters"] = parameters_json(scenario.parameters);
  return result;
}

void print(const models::Scenario& scenario) {
  fmt::print("{}  (q = ({}))\n  {}\n", scenario.name, fmt::join(scenario.positions, ", "),
             scenario.summary);
  fmt::print("  source: {}; {} steps of {:g} s; displacement: {}\n", scenario.source,
             scenario.steps, scenario.step_size, scenario.displacement);
  print_parameters(scenario.parameters);
}

nlohmann::ordered_json to_json(const models::StanceModel& model) {
  nlohmann::ordered_json result;
  result["name"] = model.name;
  result["command"] = "stability";
  result["summary"] = model.summary;
  result["source"] = model.source;
  result["contacts"] = {"1", "2"};
  nlohmann::ordered_json axes = nlohmann::ordered_json::array();
  for (const models::ChartAxis& axis : model.axes) {
    axes.push_back({{"parameter", axis.parameter}, {"low", axis.low}, {"high", axis.high}});
  }
  result["axes"] = std::move(axes);
  result["parameters"] = parameters_json(model.parameters);
  return result;
}

void print(const models::StanceModel& model) {
  fmt::print("{}  (chart over", model.name);
  const char* before = " ";
  for (const models::ChartAxis& axis : model.axes) {
    fmt::print("{}{} in [{:g}, {:g}]", before, axis.parameter, axis.low, axis.high);
    before = ", ";
  }
  fmt::print(")\n  {}\n  source: {}\n", model.summary, model.source);
  print_parameters(model.parameters);
}

nlohmann::ordered_json to_json(const models::MotionModel& model) {
  nlohmann::ordered_json result = common_json(model, "motion");
  result["positions"] = model.positions;
  result["velocities"] = model.velocities;
  result["duration"] = model.duration;
  result["coefficient"] = model.coefficient;
  result["step_size"] = model.step_size;
  result["parameters"] = parameters_json(model.parameters);
  return result;
}

void print(const models::MotionModel& model) {
  print_common(model);
  fmt::print("; q = ({}); {:g} s, e = {:g}; its source takes --step-size {:g}\n",
             fmt::join(model.positions, ", "), model.duration, model.coefficient, model.step_size);
  print_parameters(model.parameters);
}

// Calls visit(heading, models) for every family.
template <class Visit>
void for_each_family(Visit&& visit) {
  visit("carom impact, impact-models, validate, bench", models::all());
  visit("carom equilibrium, validate", models::postures());
  visit("carom step, validate", models::scenarios());
  visit("carom stability, validate", models::stances());
  visit("carom motion", models::motions());
}

int run_models(const ModelsOptions& options) {
  nlohmann::ordered_json result = nlohmann::ordered_json::array();
  std::string names;
  bool found = options.name.empty();
  for_each_family([&](const char* heading, const auto& family) {
    bool first = true;
    for (const auto& model : family) {
      names += names.empty() ? model.name : ", " + model.name;
      if (!options.name.empty() && model.name != options.name) continue;
      found = true;
      if (options.json) {
        result.push_back(to_json(model));
        continue;
      }
      if (options.name.empty() && first) fmt::print("For {}\n", heading);
      if (options.name.empty()) fmt::print("\n");
      print(model);
      first = false;
    }
    if (options.name.empty() && !options.json) fmt::print("\n");
  });
  if (!found) {
    throw InvalidInput(
        fmt::format("model \"{}\" is unknown: must be one of {}", options.name, names));
  }
  if (options.json) print_document(options.name.empty() ? result : result[0]);
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
