#include "cli/validate_stability.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include <carom/models/stances.hpp>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_output.hpp"
#include "cli/progress.hpp"
#include "cli/table.hpp"
#include "cli/target.hpp"
#include "io/printable.hpp"

namespace carom::cli {

namespace {

constexpr std::int64_t kSide = 12;        // of a model's chart
constexpr double kLeastTolerance = 1e-6;  // of margins that one side finds by golden section

struct StanceComparison {
  std::int64_t points = 0, verdicts = 0, one_decides = 0, contradictions = 0, modes = 0,
               margins = 0;
  double worst_margin = 0.0;
  double seconds[2] = {};

  [[nodiscard]] std::int64_t disagreements() const { return contradictions + modes + margins; }
};

bool contradict(StabilityVerdict a, StabilityVerdict b) {
  if (a == b || a == StabilityVerdict::undecided || b == StabilityVerdict::undecided) return false;
  const auto proven = [](StabilityVerdict v) { return v == StabilityVerdict::stable; };
  return proven(a) || proven(b) || a == StabilityVerdict::no_equilibrium ||
         b == StabilityVerdict::no_equilibrium || a == StabilityVerdict::ambiguous ||
         b == StabilityVerdict::ambiguous;
}

StanceComparison compare(const run::StabilityRun& a, const run::StabilityRun& b, double tolerance) {
  StanceComparison result;
  result.points = a.done;
  result.seconds[0] = a.seconds, result.seconds[1] = b.seconds;
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.done); ++i) {
    const auto one = a.result.verdict.host()[i], two = b.result.verdict.host()[i];
    result.verdicts += one != two ? 1 : 0;
    result.contradictions += contradict(one, two) ? 1 : 0;
    result.one_decides += one != two && !contradict(one, two) ? 1 : 0;
    const bool same = a.result.ambiguous_modes.host()[i] == b.result.ambiguous_modes.host()[i];
    result.modes += same ? 0 : 1;
    const double x = a.result.force_margin.host()[i], y = b.result.force_margin.host()[i];
    if (x == y) continue;  // infinite ones, too
    const double off = std::fabs(x - y) / a.points.stances[i].force;
    result.worst_margin = std::max(result.worst_margin, std::isfinite(off) ? off : 1.0);
    result.margins += off <= tolerance ? 0 : 1;
  }
  return result;
}

}  // namespace

int validate_stances(const StabilityOptions& options, Backend first, Backend second,
                     double tolerance) {
  const InterruptGuard guard;
  StabilityOptions chosen = options;
  VariationOptions& varied = chosen.variations;
  if (varied.sweep.empty() && varied.random.empty() &&
      is_named(models::stances(), options.target)) {
    for (const models::ChartAxis& axis : models::find_stance(options.target).axes) {
      varied.sweep.push_back(
          fmt::format("{}={}:{}:{}", axis.parameter, axis.low, axis.high, kSide));
    }
  }
  StabilitySettings settings;
  chosen.settings.read(settings);
  ProgressBar bar(options, "stances");
  const auto judged = [&](Backend backend) {
    return run::run_stability(stance_points(chosen), settings, backend, {}, follow(bar));
  };
  const run::StabilityRun a = judged(first), b = judged(second);
  const StanceComparison result = compare(a, b, std::max(tolerance, kLeastTolerance));
  if (options.json) {
    nlohmann::ordered_json entry = {{"model", a.points.name},
                                    {"backends", {to_string(first), to_string(second)}},
                                    {"points", result.points},
                                    {"verdict_differences", result.verdicts},
                                    {"decided_by_one", result.one_decides},
                                    {"disagreements", result.disagreements()},
                                    {"max_margin_difference", result.worst_margin},
                                    {"seconds", {result.seconds[0], result.seconds[1]}}};
    print_document(nlohmann::ordered_json::array({entry}));
  } else if (!options.quiet) {
    fmt::print("{}: {} against {}\n\n", io::printable(a.points.name), to_string(first),
               to_string(second));
    TextTable table({"compared", "decided by only one", "contradictions", "other modes",
                     "other margins", "largest difference", "time", "time of the other"});
    table.add({fmt::format("{}", result.points), fmt::format("{}", result.one_decides),
               fmt::format("{}", result.contradictions), fmt::format("{}", result.modes),
               fmt::format("{}", result.margins), fmt::format("{:.2e}", result.worst_margin),
               time_words(result.seconds[0]), time_words(result.seconds[1])});
    fmt::print("{}", table.text());
  }
  if (interrupted()) return kInterrupted;
  return result.disagreements() > 0 ? kUnsuccessful : kSuccess;
}

}  // namespace carom::cli
