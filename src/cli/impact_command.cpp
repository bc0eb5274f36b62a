#include "cli/impact_command.hpp"

#include <memory>

#include "cli/impact_output.hpp"
#include "cli/interrupt.hpp"
#include "cli/sampling_options.hpp"

namespace carom::cli {

namespace {

int run_command(const SamplingOptions& options, const std::string& command_line,
                ImpactReport report) {
  const std::vector<run::ImpactTask> tasks = load_tasks(options);
  require_outputs(options, tasks);
  const InterruptGuard guard;
  std::vector<run::ImpactRun> runs = run_impacts(tasks, options);
  if (!options.no_check) run::examine_uniqueness(runs, {{}, interrupted});
  report(runs, options);
  write_outputs(options, runs, command_line);
  return exit_status(runs);
}

}  // namespace

void add_impact_command(Program& program, const std::string& name, const std::string& description,
                        const std::string& footer, ImpactReport report) {
  CLI::App* command = program.app.add_subcommand(name, description);
  command->footer(footer);
  const auto options = std::make_shared<SamplingOptions>();
  add_sampling_options(*command, *options);
  add_result_options(*command, *options);
  command->callback([&program, options, report] {
    program.chosen = [&program, options, report] {
      return run_command(*options, program.command_line, report);
    };
  });
}

}  // namespace carom::cli
