#include "cli/validate_postures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_output.hpp"
#include "cli/table.hpp"

namespace carom::cli {

namespace {

constexpr double kIncomparable = std::numeric_limits<double>::infinity();
constexpr std::size_t kTabulated = 32;

// What two backends say about one posture.
struct Comparison {
  std::string name;
  Status status[2] = {Status::cancelled, Status::cancelled};
  double difference = 0.0;  ///< largest of the lengths compared, relative
  bool agrees = false;
};

// 0 where both are NaN or the same infinity.
double apart(double a, double b) {
  if (std::isnan(a) && std::isnan(b)) return 0.0;
  if (a == b) return 0.0;
  const double difference = std::fabs(a - b);
  return std::isnan(difference) ? kIncomparable : difference;
}

double extent_of(const Posture& posture) {
  double scale = 0.0;
  for (const double x : posture.position) scale = std::max(scale, std::fabs(x));
  for (const double length : posture.length) scale = std::max(scale, length);
  return scale > 0.0 ? scale : 1.0;
}

double planar_difference(const run::PlanarRegion& a, const run::PlanarRegion& b) {
  double worst = std::max(apart(a.lower, b.lower), apart(a.upper, b.upper));
  if (a.robust_status != b.robust_status) return kIncomparable;
  for (std::size_t v = 0; v < std::min(a.strips.size(), b.strips.size()); ++v) {
    worst = std::max(
        {worst, apart(a.strips[v][2], b.strips[v][2]), apart(a.strips[v][3], b.strips[v][3])});
  }
  return worst;
}

// How far proven bounds contradict each other, over the directions that both probed.
double spatial_difference(const SpatialRegion& a, const SpatialRegion& b) {
  if (a.dimension != b.dimension) return kIncomparable;
  double worst = 0.0;
  for (const RegionSupport& one : a.support) {
    const auto same = std::find_if(b.support.begin(), b.support.end(), [&](const auto& other) {
      return apart(one.direction[0], other.direction[0]) < 1e-12 &&
             apart(one.direction[1], other.direction[1]) < 1e-12;
    });
    if (same == b.support.end()) continue;
    worst = std::max({worst, one.lower - same->upper, same->lower - one.upper});
  }
  return worst;
}

// `inaccurate` leaves a region open that the other closed; its bounds must still agree.
bool compatible(Status a, Status b) {
  const auto bounded = [](Status status) {
    return status == Status::solved || status == Status::inaccurate;
  };
  return a == b || (bounded(a) && bounded(b));
}

std::vector<Comparison> compare(const std::vector<run::EquilibriumRun>& first,
                                const std::vector<run::EquilibriumRun>& second, double tolerance) {
  std::vector<Comparison> comparisons;
  for (std::size_t i = 0; i < first.size(); ++i) {
    Comparison comparison;
    comparison.name = first[i].name;
    comparison.status[0] = first[i].status();
    comparison.status[1] = second[i].status();
    const double difference = first[i].posture.dimension == 2
                                  ? planar_difference(first[i].planar, second[i].planar)
                                  : spatial_difference(first[i].spatial, second[i].spatial);
    comparison.difference = difference / extent_of(first[i].posture);
    comparison.agrees = compatible(comparison.status[0], comparison.status[1]) &&
                        comparison.difference <= tolerance;
    comparisons.push_back(std::move(comparison));
  }
  return comparisons;
}

void print_json(const std::vector<Comparison>& comparisons, Backend first, Backend second,
                std::int64_t disagreements) {
  nlohmann::ordered_json result;
  result["backends"] = {to_string(first), to_string(second)};
  result["postures"] = comparisons.size();
  result["disagreements"] = disagreements;
  result["status_differences"] = std::count_if(
      comparisons.begin(), comparisons.end(),
      [](const Comparison& comparison) { return comparison.status[0] != comparison.status[1]; });
  const auto worst =
      std::max_element(comparisons.begin(), comparisons.end(),
                       [](const auto& a, const auto& b) { return a.difference < b.difference; });
  result["max_difference"] =
      std::isfinite(worst->difference) ? nlohmann::ordered_json(worst->difference) : nullptr;
  result["worst"] = {{"name", worst->name},
                     {"index", worst - comparisons.begin()},
                     {"status", {to_string(worst->status[0]), to_string(worst->status[1])}}};
  print_document(result);
}

void print_text(const std::vector<Comparison>& comparisons, Backend first, Backend second,
                std::int64_t disagreements, double tolerance) {
  fmt::print("{} against {}: {} postures, {} disagreements at {:g} of the contacts' extent\n\n",
             to_string(first), to_string(second), comparisons.size(), disagreements, tolerance);
  TextTable table({"posture", "status", "", "difference", "agrees"});
  std::size_t shown = 0;
  for (const Comparison& comparison : comparisons) {
    if (comparison.agrees && comparisons.size() > kTabulated) continue;  // only what is wrong
    if (++shown > kTabulated) break;
    table.add({comparison.name, std::string(to_string(comparison.status[0])),
               std::string(to_string(comparison.status[1])),
               fmt::format("{:.2e}", comparison.difference),
               !comparison.agrees                             ? "NO"
               : comparison.status[0] == comparison.status[1] ? "yes"
                                                              : "in their bounds"});
  }
  if (shown > 0) fmt::print("{}", table.text());
}

}  // namespace

int validate_postures(const EquilibriumOptions& options, Backend first, Backend second,
                      double tolerance) {
  const std::vector<run::PostureTask> tasks = load_postures(options);
  const InterruptGuard guard;
  const std::vector<run::EquilibriumRun> a = run_postures(tasks, options, first);
  const std::vector<run::EquilibriumRun> b = run_postures(tasks, options, second);
  if (interrupted()) return kInterrupted;
  const std::vector<Comparison> comparisons = compare(a, b, tolerance);
  const auto disagreements = static_cast<std::int64_t>(
      std::count_if(comparisons.begin(), comparisons.end(),
                    [](const Comparison& comparison) { return !comparison.agrees; }));
  if (options.json) {
    print_json(comparisons, first, second, disagreements);
  } else if (!options.quiet) {
    print_text(comparisons, first, second, disagreements, tolerance);
  }
  return disagreements == 0 ? kSuccess : kUnsuccessful;
}

}  // namespace carom::cli
