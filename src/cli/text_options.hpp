#pragma once

#include <CLI/CLI.hpp>

/// Options for the amount of text on the terminal: --json, --quiet, --verbose.
namespace carom::cli {

struct TextOptions {
  bool json = false;
  bool quiet = false;
  bool verbose = false;
};

/// --json and --quiet.
inline void add_text_options(CLI::App& command, TextOptions& options) {
  command.add_flag("--json", options.json, "One JSON document instead of text");
  command.add_flag("--quiet", options.quiet, "No text, no progress bar");
}

/// Of commands whose report has such counters.
inline void add_verbose_option(CLI::App& command, TextOptions& options) {
  command.add_flag("--verbose", options.verbose,
                   "Also print the solvers' counters: pivots, fallbacks, ..");
}

}  // namespace carom::cli
