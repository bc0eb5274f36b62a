#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <carom/error.hpp>

#include "cli/wrong_command.hpp"

/// The first word behind a command: a built-in model, posture or scenario, or a file of problems.
namespace carom::cli {

/// Texts of the options that say what is computed.
struct TargetOptions {
  std::string target;
  std::vector<std::string> set;
  std::string problem;
};

/// What the help calls the built-in ones and the problems of a file.
struct TargetWords {
  const char* built_in;  ///< e.g. "model"
  const char* problem;   ///< e.g. "problem"
  const char* type;      ///< e.g. "MODEL|FILE"
  const char* files = "a JSON or HDF5 file";
};

/// TARGET, --set and --problem.
void add_target_options(CLI::App& command, TargetOptions& options, const TargetWords& words);

/// known: models::all(), models::postures() or models::scenarios().
template <class Known>
bool is_named(const Known& known, std::string_view name) {
  return std::any_of(known.begin(), known.end(),
                     [name](const auto& model) { return model.name == name; });
}

/// "rocking_block, compass_gait, ..."
template <class Known>
std::string names_of(const Known& known) {
  std::vector<std::string_view> names;
  for (const auto& model : known) names.push_back(model.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Errors: those of build(NAME -> 0) where the model has no such parameter, which name the known
/// ones.
template <class Model, class Build>
void require_parameter(const Model& model, const std::string& name, Build&& build) {
  const bool known = std::any_of(model.parameters.begin(), model.parameters.end(),
                                 [&](const auto& parameter) { return parameter.name == name; });
  if (!known) build(std::map<std::string, double>{{name, 0.0}});
}

bool file_exists(const std::string& name);

/// Errors: InvalidInput, always; `word` is "model", "posture" or "scenario".
template <class Known>
[[noreturn]] void refuse_target(const std::string& target, const Known& known, const char* word) {
  if (const std::string hint = right_command(target); !hint.empty()) throw InvalidInput(hint);
  throw InvalidInput(fmt::format("{} is neither a file nor a {}; known {}s are {}", target, word,
                                 word, names_of(known)));
}

/// The values of --set. Errors: InvalidInput.
std::map<std::string, double> overrides_of(const TargetOptions& options);

/// Errors: InvalidInput where --set is given, which a file has no use for.
void refuse_overrides(const TargetOptions& options);

/// The place that --problem names among `count`. Errors: InvalidInput.
std::size_t chosen_problem(const TargetOptions& options, std::size_t count);

/// The tasks of a file, read(), of which --problem takes one. Errors: InvalidInput; the message
/// for a target that is no file lists the built-in ones.
template <class Known, class Read>
auto tasks_of_file(const TargetOptions& options, const Known& known, const char* word, Read&& read)
    -> decltype(read()) {
  if (!file_exists(options.target)) refuse_target(options.target, known, word);
  refuse_overrides(options);
  decltype(read()) tasks = read();
  if (options.problem.empty()) return tasks;
  return {std::move(tasks[chosen_problem(options, tasks.size())])};
}

}  // namespace carom::cli
