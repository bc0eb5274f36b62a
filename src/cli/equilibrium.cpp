#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <carom/error.hpp>

#include "cli/backend_options.hpp"
#include "cli/choices.hpp"
#include "cli/commands.hpp"
#include "cli/equilibrium_report.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_output.hpp"
#include "cli/output_files.hpp"
#include "cli/posture_options.hpp"
#include "cli/table.hpp"
#include "io/equilibrium_hdf5.hpp"
#include "io/equilibrium_json.hpp"
#include "io/equilibrium_picture.hpp"
#include "io/gnuplot.hpp"

namespace carom::cli {

namespace {

constexpr std::size_t kReportedInFull = 4;  // postures; more get one line each
constexpr std::size_t kTabulated = 64;      // more are counted

// What an empty or an unbounded region is: an answer, proven like any other.
bool answered(Status status) {
  return status == Status::solved || status == Status::infeasible || status == Status::unbounded;
}

bool good(const run::EquilibriumRun& run) {
  return answered(run.status()) &&
         (!run.planar.robust_status || answered(*run.planar.robust_status)) &&
         (!run.robust || answered(run.robust->region.status));
}

void require_outputs(const EquilibriumOptions& options, std::size_t postures) {
  require_output(options.output);
  require_picture(options.plot);
  if (options.plot.empty()) return;
  if (postures > 1) {
    throw InvalidInput(fmt::format("--plot draws one posture, {} has {}: choose one with --problem",
                                   options.target, postures));
  }
  io::require_gnuplot();
}

void print_counts(const std::vector<run::EquilibriumRun>& runs) {
  std::map<std::string, std::int64_t> counts;
  double residual = 0.0;
  for (const run::EquilibriumRun& run : runs) {
    ++counts[std::string(to_string(run.status()))];
    const double own = run.residual();
    residual = std::max(residual, own);
  }
  fmt::print("{} postures on the {} backend\n", runs.size(), to_string(runs.front().backend));
  for (const auto& [status, count] : counts) fmt::print("  {:<18} {}\n", status, count);
  fmt::print("  largest residual   {:.2e}\n", residual);
  if (!runs.front().probe) return;
  std::int64_t held = 0;
  std::int64_t not_held = 0;
  for (const run::EquilibriumRun& run : runs) {
    const std::optional<bool> verdict = run.probe ? run.probe->held() : std::nullopt;
    if (verdict) ++(*verdict ? held : not_held);
  }
  fmt::print("  held {}, not held {}, undecided {}\n", held, not_held,
             static_cast<std::int64_t>(runs.size()) - held - not_held);
}

void report(const std::vector<run::EquilibriumRun>& runs, const EquilibriumOptions& options) {
  if (options.json) {
    const bool varied = !runs.front().parameters.empty();
    return print_documents(runs, varied ? io::varied_equilibrium_json : io::equilibrium_json);
  }
  if (options.quiet) return;
  const bool varied = !runs.front().parameters.empty();
  if (runs.size() <= kReportedInFull && !varied) {
    for (const run::EquilibriumRun& run : runs)
      fmt::print("{}", posture_report(run, options.verbose));
  } else if (runs.size() <= kTabulated) {
    fmt::print("{}", postures_table(runs));
  } else {
    print_counts(runs);
  }
}

int run_equilibrium(const EquilibriumOptions& options, const std::string& command_line) {
  const Backend backend = backend_named("--backend", options.backend);
  const std::vector<run::PostureTask> tasks = load_postures(options);
  require_outputs(options, tasks.size());
  const InterruptGuard guard;
  std::vector<run::EquilibriumRun> runs = run_postures(tasks, options, backend);
  find_critical(runs, options, backend);
  report(runs, options);
  if (!options.output.empty()) io::write_equilibrium_hdf5(options.output, runs, command_line);
  if (!options.plot.empty()) io::draw_equilibrium(options.plot, runs.front());
  if (interrupted()) return kInterrupted;
  return std::all_of(runs.begin(), runs.end(), good) ? kSuccess : kUnsuccessful;
}

}  // namespace

void add_posture_options(CLI::App& command, EquilibriumOptions& options) {
  add_target_options(command, options, {"posture", "posture", "NAME|FILE"});
  command.add_option("--p", options.p, "Planar wrenches to resist: f_x / f_y from LOW to HIGH")
      ->type_name("LOW:HIGH");
  command
      .add_option("--q", options.q, "Planar wrenches to resist: torque / f_y from LOW to HIGH [m]")
      ->type_name("LOW:HIGH");
  command
      .add_option("--centre-of-mass", options.centre_of_mass,
                  "Is this centre of mass held, and with what margin? [m]")
      ->type_name("X,Y[,Z]");
  options.settings.add(command, PlanarSettings{},
                       [](std::string_view setting) { return setting == "method"; });
  options.settings.add(command, SpatialSettings{});
  add_text_options(command, options);
}

void add_equilibrium(Program& program) {
  CLI::App* command = program.app.add_subcommand(
      "equilibrium", "Find where the centre of mass may be so that contacts hold the body");
  command->footer(
      "Example: carom equilibrium two_contacts --p=-0.3:0.3 --q=0:0.1 --plot region.svg\n"
      "         carom equilibrium tripod_flat --centre-of-mass 0.1,0,0.4 --sweep "
      "friction=0.1:1:10\n"
      "         carom equilibrium tripod_flat --centre-of-mass 0.1,0,0.4 --critical friction");
  const auto options = std::make_shared<EquilibriumOptions>();
  add_posture_options(*command, *options);
  add_verbose_option(*command, *options);
  add_variation_options(*command, options->variations, true);
  command
      ->add_option(
          "--critical", options->critical,
          "The value of a parameter at which --centre-of-mass begins or ceases to be held, "
          "bisected with proofs")
      ->type_name("NAME[=LO:HI]");
  add_backend_options(*command, options->backend);
  command->add_option("--output", options->output, "Write everything to this HDF5 file")
      ->type_name("FILE.h5");
  command->add_option("--plot", options->plot, "Draw contacts, cones and region (needs gnuplot)")
      ->type_name("FILE.svg|.png");
  command->callback([&program, options] {
    program.chosen = [&program, options] {
      return run_equilibrium(*options, program.command_line);
    };
  });
}

}  // namespace carom::cli
