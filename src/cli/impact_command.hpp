#pragma once

#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/sampling_options.hpp"
#include "run/impact_run.hpp"

namespace carom::cli {

/// Prints the runs, after adding results that the command computes besides the samples.
using ImpactReport = void (*)(std::vector<run::ImpactRun>& runs, const SamplingOptions& options);

/// A command that samples impacts, reports them and writes the files that were asked for.
void add_impact_command(Program& program, const std::string& name, const std::string& description,
                        const std::string& footer, ImpactReport report,
                        void (*add_more)(CLI::App&, SamplingOptions&) = nullptr);

}  // namespace carom::cli
