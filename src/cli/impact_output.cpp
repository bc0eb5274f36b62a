#include "cli/impact_output.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <carom/error.hpp>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/output_files.hpp"
#include "io/gnuplot.hpp"
#include "io/impact_hdf5.hpp"
#include "io/impact_picture.hpp"

namespace carom::cli {

void require_outputs(const SamplingOptions& options, const std::vector<run::ImpactTask>& tasks) {
  require_output(options.output);
  require_picture(options.plot);
  if (options.plot.empty()) return;
  if (tasks.size() > 1) {
    throw InvalidInput(fmt::format("--plot draws one problem, {} has {}: choose one with --problem",
                                   options.target, tasks.size()));
  }
  if (tasks.front().problem.contacts == 0) {
    throw InvalidInput(
        fmt::format("--plot: {} has no contact, there is nothing to draw", tasks.front().model));
  }
  io::require_gnuplot();
}

void write_outputs(const SamplingOptions& options, const std::vector<run::ImpactRun>& runs,
                   const std::string& command_line) {
  if (!options.output.empty()) io::write_impact_hdf5(options.output, runs, command_line);
  if (!options.plot.empty()) io::draw_impact(options.plot, runs.front());
}

int exit_status(const std::vector<run::ImpactRun>& runs) {
  if (interrupted()) return kInterrupted;
  const bool good = std::all_of(runs.begin(), runs.end(), [](const run::ImpactRun& run) {
    return run.summary.status == Status::solved &&
           !(run.enclosure && run.enclosure->set.status == EnclosureStatus::contradiction);
  });
  return good ? kSuccess : kUnsuccessful;
}

}  // namespace carom::cli
