#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <carom/impact.hpp>

namespace carom::cli {

/// Texts of --restitution and --friction: a number or LOW:HIGH for all contacts, or of some by
/// name.
struct IntervalOptions {
  std::string restitution;
  std::string friction;
};

void add_interval_options(CLI::App& command, IntervalOptions& options);

/// Puts what was given in place of the problem's own. Errors: InvalidInput naming the option.
void set_intervals(const IntervalOptions& options, const std::vector<std::string>& contact_names,
                   ImpactProblem& problem);

}  // namespace carom::cli
