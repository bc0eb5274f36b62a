#pragma once

#include <span>
#include <string>
#include <vector>

#include "run/impact_run.hpp"

namespace carom::cli {

/// The enclosure of a run as text for the terminal.
std::string enclosure_report(const run::ImpactRun& run);

/// The same in a line of a table of several runs: its titles, its cells, and what all of them make
/// together. Empty where `run` has no enclosure.
std::vector<std::string> enclosure_titles(const run::ImpactRun& run);
std::vector<std::string> enclosure_cells(const run::ImpactRun& run);
std::string enclosure_totals(std::span<const run::ImpactRun> runs);

}  // namespace carom::cli
