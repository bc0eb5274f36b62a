#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include <carom/error.hpp>
#include <carom/models/scenarios.hpp>

#include "cli/choices.hpp"
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_output.hpp"
#include "cli/output_files.hpp"
#include "cli/progress.hpp"
#include "cli/step_options.hpp"
#include "cli/step_report.hpp"
#include "cli/target.hpp"
#include "io/gnuplot.hpp"
#include "io/step_hdf5.hpp"
#include "io/step_input.hpp"
#include "io/step_json.hpp"
#include "io/step_picture.hpp"
#include "run/step_array_runner.hpp"

namespace carom::cli {

namespace {

// Refuses files that could not be written, before anything is computed.
void require_outputs(const StepOptions& options) {
  require_output(options.output);
  require_picture(options.plot);
  if (options.plot.empty()) return;
  io::require_gnuplot();
}

int step_scenario(const StepOptions& options, const std::string& command_line) {
  const run::StepWorlds worlds = step_worlds_of(options);
  const CompliantSettings settings = step_settings(options);
  const Backend backend = backend_named("--backend", options.backend);
  require_outputs(options);
  const InterruptGuard guard;
  run::StepRun run = run_worlds(worlds, settings, options, backend);
  const bool wanted = !options.output.empty() || !options.plot.empty();
  if (wanted && run.scenario->kind == models::ScenarioKind::compliant_block_impact) {
    run.routh = run::sample_routh_set(run);
  }
  if (options.json) {
    print_document(io::step_json(run));
  } else if (!options.quiet) {
    fmt::print("{}", step_report(run, options.verbose));
  }
  if (!options.output.empty()) io::write_step_hdf5(options.output, run, command_line);
  if (!options.plot.empty()) io::draw_step(options.plot, run);
  if (interrupted()) return kInterrupted;
  return run.failed_worlds() > 0 ? kUnsuccessful : kSuccess;
}

int step_file(const StepOptions& options, const std::string& command_line) {
  refuse_world_options(options);
  const CompliantSettings settings = step_settings(options);
  const Backend backend = backend_named("--backend", options.backend);
  require_outputs(options);
  std::vector<CompliantProblem> problems =
      read_as(options.target, io::FileKind::step, [&] { return io::read_steps(options.target); });
  const InterruptGuard guard;
  ProgressBar bar(options, "steps");
  const run::ArrayStepRun run =
      run::run_array_steps(std::move(problems), settings, backend, follow(bar));
  if (options.json) {
    nlohmann::ordered_json result = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < run.problems.size(); ++i) {
      result.push_back(io::array_step_json(run, i));
    }
    print_document(result.size() == 1 ? result[0] : result);
  } else if (!options.quiet) {
    fmt::print("{}", array_step_report(run));
  }
  if (!options.output.empty()) io::write_array_step_hdf5(options.output, run, command_line);
  if (interrupted()) return kInterrupted;
  for (std::size_t i = 0; i < run.problems.size(); ++i) {
    if (run.status_of(i) != Status::solved) return kUnsuccessful;
  }
  return kSuccess;
}

int run_step(const StepOptions& options, const std::string& command_line) {
  const auto scenarios = models::scenarios();
  if (is_named(scenarios, options.target)) return step_scenario(options, command_line);
  std::error_code ignored;
  if (std::filesystem::is_directory(options.target, ignored)) {
    throw InvalidInput(
        fmt::format("{} is a folder: a file or a scenario is needed; known "
                    "scenarios are {}",
                    options.target, names_of(scenarios)));
  }
  if (file_exists(options.target)) return step_file(options, command_line);
  refuse_target(options.target, scenarios, "scenario");
}

}  // namespace

void add_step(Program& program) {
  CLI::App* command =
      program.app.add_subcommand("step", "Compliant time steps of many worlds, or steps of arrays");
  command->footer(
      "Example: carom step inclined_block --sweep friction=0:0.375:4 --plot blocks.svg");
  const auto options = std::make_shared<StepOptions>();
  add_step_options(*command, *options);
  add_verbose_option(*command, *options);
  command->callback([&program, options] {
    program.chosen = [&program, options] { return run_step(*options, program.command_line); };
  });
}

}  // namespace carom::cli
