#pragma once

#include <string>
#include <vector>

#include "cli/sampling_options.hpp"
#include "run/impact_run.hpp"

namespace carom::cli {

/// Refuses --output and --plot that cannot be written, before anything is computed.
/// Errors: InvalidInput, FileError where gnuplot is missing.
void require_outputs(const SamplingOptions& options, const std::vector<run::ImpactTask>& tasks);

/// Writes what --output and --plot ask for. Errors: FileError.
void write_outputs(const SamplingOptions& options, const std::vector<run::ImpactRun>& runs,
                   const std::string& command_line);

/// 130 after an interrupt, 1 where a sample failed, 0 otherwise.
int exit_status(const std::vector<run::ImpactRun>& runs);

}  // namespace carom::cli
