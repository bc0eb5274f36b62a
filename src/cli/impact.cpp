#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <carom/error.hpp>

#include "cli/commands.hpp"
#include "cli/impact_output.hpp"
#include "cli/impact_report.hpp"
#include "cli/impact_runner.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_output.hpp"
#include "io/impact_json.hpp"

namespace carom::cli {

namespace {

constexpr std::size_t kReportedInFull = 4;  // problems; more get one line each
constexpr std::size_t kComparedProblems = 64;

void report(const std::vector<io::ImpactRun>& runs, const SamplingOptions& options) {
  if (options.json) {
    nlohmann::ordered_json result = nlohmann::ordered_json::array();
    for (const io::ImpactRun& run : runs) result.push_back(io::impact_json(run));
    print_document(runs.size() == 1 ? result[0] : result);
    return;
  }
  if (options.quiet) return;
  if (runs.size() <= kReportedInFull) {
    for (const io::ImpactRun& run : runs) fmt::print("{}\n", run_report(run));
  }
  if (runs.size() > 1) fmt::print("{}", runs_table(runs));
}

int run_impact(const SamplingOptions& options, const std::string& command_line) {
  const std::vector<ImpactTask> tasks = load_tasks(options);
  require_outputs(options, tasks);
  const InterruptGuard guard;
  std::vector<io::ImpactRun> runs = run_impacts(tasks, options);
  if (!options.no_check) examine_uniqueness(runs);
  const bool wanted = !options.output.empty() || !options.plot.empty();
  if (wanted && runs.size() <= kComparedProblems) {
    for (io::ImpactRun& run : runs) {
      if (!interrupted()) run.models = compare_models(run.problem, run.settings);
    }
  }
  report(runs, options);
  write_outputs(options, runs, command_line);
  return exit_status(runs);
}

}  // namespace

void add_impact(Program& program) {
  CLI::App* command =
      program.app.add_subcommand("impact", "Sample the set of post-impact velocities");
  command->footer(
      "Example: carom impact rocking_block --samples 2^16 --set friction=0.5 --plot block.svg");
  const auto options = std::make_shared<SamplingOptions>();
  add_sampling_options(*command, *options);
  add_result_options(*command, *options);
  command->callback([&program, options] {
    program.chosen = [&program, options] { return run_impact(*options, program.command_line); };
  });
}

}  // namespace carom::cli
