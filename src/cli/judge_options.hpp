#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/setting_options.hpp"
#include "run/judge_run.hpp"

namespace carom::cli {

std::span<const OptionForm> judge_forms();
std::span<const OptionForm> identify_forms();

/// --measured, --identify and their settings.
struct JudgeOptions {
  bool measured = false;
  bool relative = false;  ///< covariances of the file are not taken
  std::vector<std::string> identify;
  SettingOptions judge{judge_forms()};
  SettingOptions identifying{identify_forms()};

  [[nodiscard]] bool asked() const { return measured || !identify.empty(); }
};

void add_judge_options(CLI::App& command, JudgeOptions& options);

/// enclose: whether an enclosure is asked for. Errors: InvalidInput naming the option.
run::JudgeRequest judge_request(const JudgeOptions& options, bool enclose);

}  // namespace carom::cli
