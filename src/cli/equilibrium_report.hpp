#pragma once

#include <string>
#include <vector>

#include "run/equilibrium_run.hpp"

/// Postures as text for people.
namespace carom::cli {

/// Everything about one posture; verbose: with the solvers' counters.
std::string posture_report(const run::EquilibriumRun& run, bool verbose);
/// One line per posture.
std::string postures_table(const std::vector<run::EquilibriumRun>& runs);

}  // namespace carom::cli
