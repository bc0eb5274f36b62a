#include <fmt/format.h>

#include <vector>

#include "cli/impact_command.hpp"
#include "cli/impact_report.hpp"
#include "cli/json_output.hpp"
#include "cli/sampling_options.hpp"
#include "io/impact_json.hpp"

namespace carom::cli {

namespace {

nlohmann::ordered_json to_json(const run::ImpactRun& run) {
  nlohmann::ordered_json result;
  result["model"] = run.model;
  result["approaching"] = run::approaching_contacts(run);
  result.update(io::models_json(*run.models));
  result["sampled"] = io::impact_json(run);
  return result;
}

void report_models(std::vector<run::ImpactRun>& runs, const SamplingOptions& options) {
  for (run::ImpactRun& run : runs) run.models = run::compare_models(run.problem, run.settings);
  if (options.json) return print_documents(runs, to_json);
  if (options.quiet) return;
  for (const run::ImpactRun& run : runs)
    fmt::print("{}\n{}\n", run_report(run, options.verbose), models_report(run));
}

}  // namespace

void add_impact_models(Program& program) {
  add_impact_command(program, "impact-models",
                     "Compare simultaneous and sequential impact models with the sampled set",
                     "Example: carom impact-models compass_gait --plot gait.svg", report_models);
}

}  // namespace carom::cli
