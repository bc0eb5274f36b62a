#pragma once

#include <string>
#include <vector>

#include "run/impact_run.hpp"

/// Runs as text for people.
namespace carom::cli {

/// Everything about one run: performance as in the paper's Table 3, velocities, modes, net;
/// verbose: with the solvers' counters.
std::string run_report(const run::ImpactRun& run, bool verbose);
/// One line per run.
std::string runs_table(const std::vector<run::ImpactRun>& runs);
/// Outcomes of the other models compared with the range of the sampled set.
std::string models_report(const run::ImpactRun& run);
/// Outcomes of models that bounce, and how far from the set; empty without.
std::string bounces_report(const run::ImpactRun& run);

}  // namespace carom::cli
