#include "cli/judge_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/words.hpp"

namespace carom::cli {

namespace {

/// "not reached"
std::string verdict_text(const run::ImpactRun& run) {
  std::string text(word_of(run.judgement->samples.verdict.front()));
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

/// "0.28" or "0.28, 0.31"
std::string list(const std::vector<double>& values) {
  return fmt::format("{:.3g}", fmt::join(values, ", "));
}

}  // namespace

std::string judge_report(const run::ImpactRun& run) {
  if (!run.judgement) return "";
  const auto& [floor, found, path] = *run.judgement;
  std::string text = fmt::format(
      "  measured outcome: {}; distance {:.4g} (allowed {:.3g}, between samples {:.2g})\n"
      "  floor, the distance to what impulses in the friction cones reach: {:.4g}\n",
      verdict_text(run), found.distance.front(), found.allowed.front(), found.resolution.front(),
      floor.floor.front());
  if (found.nearest_sample.front() < 0) return text;
  text += fmt::format("  nearest sample: v {}; restitution {}, friction {}\n",
                      list(found.nearest_velocity), list(found.nearest_restitution),
                      list(found.nearest_friction));
  return text;
}

std::vector<std::string> judge_titles(const run::ImpactRun& run) {
  if (!run.judgement) return {};
  return {"measured", "distance", "between", "floor"};
}

std::vector<std::string> judge_cells(const run::ImpactRun& run) {
  if (!run.judgement) return {};
  return {verdict_text(run), fmt::format("{:.4f}", run.judgement->samples.distance.front()),
          fmt::format("{:.4f}", run.judgement->samples.resolution.front()),
          fmt::format("{:.4f}", run.judgement->floor.floor.front())};
}

std::string judge_totals(std::span<const run::ImpactRun> runs) {
  std::map<std::string, int> counts;
  std::vector<double> distance;
  for (const run::ImpactRun& run : runs) {
    if (!run.judgement) continue;
    ++counts[verdict_text(run)];
    distance.push_back(run.judgement->samples.distance.front());
  }
  if (distance.empty()) return "";
  const auto middle = distance.begin() + static_cast<std::ptrdiff_t>(distance.size() / 2);
  std::nth_element(distance.begin(), middle, distance.end());
  std::string text = "  measured outcomes: ";
  for (const auto& [verdict, count] : counts) text += fmt::format("{} {}, ", count, verdict);
  return text + fmt::format("median distance {:.4g}\n", *middle);
}

std::string identify_report(std::span<const run::ImpactRun> runs) {
  if (runs.empty() || !runs.front().identified) return "";
  const run::IdentifiedRun& found = *runs.front().identified;
  const std::array<double, 4>& box = found.smallest_interval;
  if (std::isnan(box[0])) {
    return "  no restitution and friction of the grids explain that share of the impacts\n";
  }
  return fmt::format(
      "  smallest interval that explains the impacts within {:.3g}:\n"
      "    restitution {:.4g} to {:.4g} (5 to 95 % of resampled impacts: {:.4g} .. {:.4g}, {:.4g} "
      ".. "
      "{:.4g})\n"
      "    friction    {:.4g} to {:.4g} ({:.4g} .. {:.4g}, {:.4g} .. {:.4g})\n",
      found.tolerance, box[0], box[1], found.bounds[0], found.bounds[1], found.bounds[2],
      found.bounds[3], box[2], box[3], found.bounds[4], found.bounds[5], found.bounds[6],
      found.bounds[7]);
}

}  // namespace carom::cli
