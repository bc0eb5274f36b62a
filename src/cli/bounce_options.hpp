#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "run/bounce_run.hpp"

namespace carom::cli {

/// Options of other impact models with restitution: --sequential, --rounds, --lzb.
struct BounceOptions {
  bool sequential = false;
  std::vector<std::string> rounds;
  std::string springs, exponent = "1.5", gaps;

  [[nodiscard]] bool asked() const { return sequential || !rounds.empty() || !springs.empty(); }
};

void add_bounce_options(CLI::App& command, BounceOptions& options);

/// Of a problem with so many contacts. Errors: InvalidInput naming the option.
run::BounceRequest bounce_request(const BounceOptions& options, int contacts);

}  // namespace carom::cli
