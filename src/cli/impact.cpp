#include <fmt/format.h>

#include <vector>

#include "cli/impact_command.hpp"
#include "cli/impact_report.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_output.hpp"
#include "cli/judge_report.hpp"
#include "cli/sampling_options.hpp"
#include "io/impact_json.hpp"

namespace carom::cli {

namespace {

constexpr std::size_t kReportedInFull = 4;  // problems; more get one line each
constexpr std::size_t kComparedProblems = 64;

void report_impacts(std::vector<run::ImpactRun>& runs, const SamplingOptions& options) {
  const bool wanted = !options.output.empty() || !options.plot.empty();
  if (wanted && runs.size() <= kComparedProblems) {
    for (run::ImpactRun& run : runs) {
      if (!interrupted()) run.models = run::compare_models(run.problem, run.settings);
    }
  }
  if (options.json) return print_documents(runs, io::impact_json);
  if (options.quiet) return;
  if (runs.size() <= kReportedInFull && runs.front().parameters.empty()) {
    for (const run::ImpactRun& run : runs) fmt::print("{}\n", run_report(run, options.verbose));
  }
  if (runs.size() > 1 || !runs.front().parameters.empty()) fmt::print("{}", runs_table(runs));
  fmt::print("{}", identify_report(runs));
}

}  // namespace

void add_impact(Program& program) {
  add_impact_command(
      program, "impact", "Sample the set of post-impact velocities",
      "Example: carom impact rocking_block --samples 2^16 --set friction=0.5 --plot block.svg\n"
      "         carom impact rocking_block --sweep friction=0:1:11",
      report_impacts);
}

}  // namespace carom::cli
