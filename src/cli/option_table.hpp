#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

/// The options of a command as its parser stores them, for manual pages and completion.
namespace carom::cli {

struct OptionRow {
  std::vector<std::string> names;  ///< with their dashes; of a positional only its name
  std::string type;                ///< what stands for its value; empty: a flag
  std::string initial;             ///< default, empty: none
  std::string meaning;
  std::vector<std::string> values;  ///< every word it takes, where its meaning lists them
  bool positional = false;
  bool several = false;
  bool required = false;
  [[nodiscard]] bool takes_file() const {
    return type == "DIR" || type.find("FILE") != std::string::npos;
  }
};

/// Without those that help leaves out, in help's order.
std::vector<OptionRow> option_table(const CLI::App& command);

/// In the order of the program's help.
std::vector<const CLI::App*> commands_of(const CLI::App& program);

/// Built-in models that the command's target may name, empty where it takes none.
std::vector<std::string> target_names(const std::string& command);

}  // namespace carom::cli
