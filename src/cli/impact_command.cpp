#include "cli/impact_command.hpp"

#include <fmt/format.h>

#include <memory>

#include <carom/error.hpp>

#include "cli/impact_output.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/sampling_options.hpp"
#include "io/printable.hpp"
#include "run/enclosure_run.hpp"

namespace carom::cli {

namespace {

void require_questions(const SamplingOptions& options, const std::vector<run::ImpactTask>& tasks) {
  for (std::size_t p = 0; p < tasks.size(); ++p) {
    const run::ImpactTask& task = tasks[p];
    try {
      run::require_questions(task.problem, task.contact_names, options.enclosure.never);
    } catch (const InvalidInput& error) {
      if (tasks.size() == 1) throw;
      throw InvalidInput(
          fmt::format("problem {} (\"{}\"): {}", p, io::printable(task.model), error.what()));
    }
  }
}

void enclose(const SamplingOptions& options, std::vector<run::ImpactRun>& runs) {
  ImpactSettings sampling;
  options.settings.read(sampling);
  ProgressBar bar(options, "enclosures");
  run::enclose_runs(runs, enclosure_settings(options.enclosure, sampling.threads),
                    options.enclosure.never, follow(bar));
}

int run_command(const SamplingOptions& options, const std::string& command_line,
                ImpactReport report) {
  const std::vector<run::ImpactTask> tasks = load_tasks(options);
  require_outputs(options, tasks);
  if (options.enclosure.asked()) require_questions(options, tasks);
  const run::JudgeRequest measured = judge_request(options.judging, options.enclosure.asked());
  if (options.judging.asked()) run::require_measured(tasks, options.target);
  const InterruptGuard guard;
  std::vector<run::ImpactRun> runs = run_impacts(tasks, options);
  if (!options.no_check) run::examine_uniqueness(runs, {{}, interrupted});
  if (options.enclosure.asked()) enclose(options, runs);
  if (options.judging.asked()) {
    ProgressBar bar(options);
    run::judge_runs(request_of(options), measured, runs, follow(bar));
  }
  report(runs, options);
  write_outputs(options, runs, command_line);
  return exit_status(runs);
}

}  // namespace

void add_impact_command(Program& program, const std::string& name, const std::string& description,
                        const std::string& footer, ImpactReport report,
                        void (*add_more)(CLI::App&, SamplingOptions&)) {
  CLI::App* command = program.app.add_subcommand(name, description);
  command->footer(footer);
  const auto options = std::make_shared<SamplingOptions>();
  add_sampling_options(*command, *options);
  add_verbose_option(*command, *options);
  add_result_options(*command, *options);
  add_enclosure_options(*command, options->enclosure);
  add_judge_options(*command, options->judging);
  if (add_more != nullptr) add_more(*command, *options);
  command->callback([&program, options, report] {
    program.chosen = [&program, options, report] {
      return run_command(*options, program.command_line, report);
    };
  });
}

}  // namespace carom::cli
