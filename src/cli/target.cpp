#include "cli/target.hpp"

#include <cstdint>
#include <filesystem>
#include <system_error>

#include "cli/numbers.hpp"

namespace carom::cli {

void add_target_options(CLI::App& command, TargetOptions& options, const TargetWords& words) {
  command
      .add_option("target", options.target,
                  fmt::format("Name of a built-in {}, or {}", words.built_in, words.files))
      ->required()
      ->type_name(words.type);
  command
      .add_option("--set", options.set,
                  fmt::format("Set a parameter of the {}; repeat for several", words.built_in))
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command
      .add_option("--problem", options.problem,
                  fmt::format("Take only this {} of the file, from 0", words.problem))
      ->type_name("N");
}

bool file_exists(const std::string& name) {
  std::error_code ignored;
  return std::filesystem::exists(name, ignored);
}

std::map<std::string, double> overrides_of(const TargetOptions& options) {
  return parse_assignments("--set", options.set);
}

void refuse_overrides(const TargetOptions& options) {
  if (options.set.empty()) return;
  throw InvalidInput(fmt::format("--set changes a model's parameters, {} is a file: edit the file",
                                 options.target));
}

std::size_t chosen_problem(const TargetOptions& options, std::size_t count) {
  const auto last = static_cast<std::int64_t>(count) - 1;
  return static_cast<std::size_t>(parse_count("--problem", options.problem, 0, last));
}

}  // namespace carom::cli
