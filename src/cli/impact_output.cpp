#include "cli/impact_output.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <carom/error.hpp>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "io/gnuplot.hpp"
#include "io/hdf5_file.hpp"
#include "io/impact_hdf5.hpp"
#include "io/impact_picture.hpp"
#include "io/pending_file.hpp"

namespace carom::cli {

void require_outputs(const SamplingOptions& options, const std::vector<ImpactTask>& tasks) {
  if (!options.output.empty()) {
    if (!io::hdf5_available()) {
      throw InvalidInput("--output " + options.output +
                         ": this carom was built without HDF5 (CAROM_HDF5=OFF); use --json");
    }
    io::require_writable(options.output, "--output", {".h5", ".hdf5"});
  }
  if (options.plot.empty()) return;
  io::require_writable(options.plot, "--plot", {".svg", ".png"});
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

void write_outputs(const SamplingOptions& options, const std::vector<io::ImpactRun>& runs,
                   const std::string& command_line) {
  if (!options.output.empty()) io::write_impact_hdf5(options.output, runs, command_line);
  if (!options.plot.empty()) io::draw_impact(options.plot, runs.front());
}

int exit_status(const std::vector<io::ImpactRun>& runs) {
  if (interrupted()) return kInterrupted;
  const bool good = std::all_of(runs.begin(), runs.end(), [](const io::ImpactRun& run) {
    return run.summary.status == Status::solved;
  });
  return good ? kSuccess : kUnsuccessful;
}

}  // namespace carom::cli
