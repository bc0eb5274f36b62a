#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/impact_output.hpp"
#include "cli/impact_report.hpp"
#include "cli/impact_runner.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_output.hpp"
#include "io/impact_json.hpp"

namespace carom::cli {

namespace {

nlohmann::ordered_json to_json(const io::ImpactRun& run) {
  nlohmann::ordered_json result;
  result["model"] = run.model;
  result["approaching"] = io::approaching_contacts(run);
  result.update(io::models_json(*run.models));
  result["sampled"] = io::impact_json(run);
  return result;
}

int run_impact_models(const SamplingOptions& options, const std::string& command_line) {
  const std::vector<ImpactTask> tasks = load_tasks(options);
  require_outputs(options, tasks);
  const InterruptGuard guard;
  std::vector<io::ImpactRun> runs = run_impacts(tasks, options);
  if (!options.no_check) examine_uniqueness(runs);
  for (io::ImpactRun& run : runs) run.models = compare_models(run.problem, run.settings);
  if (options.json) {
    nlohmann::ordered_json result = nlohmann::ordered_json::array();
    for (const io::ImpactRun& run : runs) result.push_back(to_json(run));
    print_document(runs.size() == 1 ? result[0] : result);
  } else if (!options.quiet) {
    for (const io::ImpactRun& run : runs) {
      fmt::print("{}\n{}\n", run_report(run), models_report(run));
    }
  }
  write_outputs(options, runs, command_line);
  return exit_status(runs);
}

}  // namespace

void add_impact_models(Program& program) {
  CLI::App* command = program.app.add_subcommand(
      "impact-models", "Simultaneous and sequential outcomes beside the sampled set");
  command->footer("Example: carom impact-models compass_gait --plot gait.svg");
  const auto options = std::make_shared<SamplingOptions>();
  add_sampling_options(*command, *options);
  add_result_options(*command, *options);
  command->callback([&program, options] {
    program.chosen = [&program, options] {
      return run_impact_models(*options, program.command_line);
    };
  });
}

}  // namespace carom::cli
