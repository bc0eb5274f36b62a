#pragma once

#include <span>
#include <string>
#include <vector>

#include "run/impact_run.hpp"

namespace carom::cli {

/// The verdict on a run's measured outcome as text for the terminal.
std::string judge_report(const run::ImpactRun& run);

/// The same in a line of a table of several runs: its titles, its cells, and what all of them make
/// together. Empty where `run` has no judgement.
std::vector<std::string> judge_titles(const run::ImpactRun& run);
std::vector<std::string> judge_cells(const run::ImpactRun& run);
std::string judge_totals(std::span<const run::ImpactRun> runs);

/// The smallest interval that explains the outcomes of the runs; empty where none was asked for.
std::string identify_report(std::span<const run::ImpactRun> runs);

}  // namespace carom::cli
