#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <carom/impact_enclosure.hpp>

#include "cli/setting_options.hpp"

namespace carom::cli {

std::span<const OptionForm> enclosure_forms();

/// --enclose and its settings.
struct EnclosureOptions {
  bool wanted = false;
  SettingOptions settings{enclosure_forms()};
  std::vector<std::string> never;

  [[nodiscard]] bool asked() const { return wanted || !never.empty(); }
};

void add_enclosure_options(CLI::App& command, EnclosureOptions& options);

/// threads: of the command. Errors: InvalidInput.
EnclosureSettings enclosure_settings(const EnclosureOptions& options, int threads);

}  // namespace carom::cli
