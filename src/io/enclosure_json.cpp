#include "io/enclosure_json.hpp"

#include <algorithm>
#include <cmath>

namespace carom::io {

using nlohmann::ordered_json;

namespace {

ordered_json rows_of(const std::vector<double>& values, std::size_t columns) {
  ordered_json rows = ordered_json::array();
  for (std::size_t at = 0; at < values.size(); at += columns) {
    rows.push_back(std::vector<double>(values.begin() + static_cast<std::ptrdiff_t>(at),
                                       values.begin() + static_cast<std::ptrdiff_t>(at + columns)));
  }
  return rows;
}

std::int64_t sampled(const run::ImpactRun& run, std::uint64_t modes) {
  const auto& counts = run.summary.mode_counts;
  const auto found = std::find_if(counts.begin(), counts.end(),
                                  [&](const auto& count) { return count.first == modes; });
  return found == counts.end() ? 0 : found->second;
}

/// Numbers, or pairs where some differ.
ordered_json intervals(const std::vector<double>& low, const std::vector<double>& high) {
  if (high.empty() || high == low) return low;
  ordered_json pairs = ordered_json::array();
  for (std::size_t i = 0; i < low.size(); ++i) pairs.push_back({low[i], high[i]});
  return pairs;
}

ordered_json comparison_json(const OutsideSamples& samples) {
  return {
      {"compared", samples.compared}, {"outside", samples.outside}, {"largest", samples.largest}};
}

}  // namespace

ordered_json enclosure_json(const run::ImpactRun& run) {
  const ImpactEnclosure& set = run.enclosure->set;
  const int m = run.problem.contacts;
  const auto rows = 2 * static_cast<std::size_t>(m);
  ordered_json result;
  result["status"] = to_string(set.status);
  if (!run.problem.restitution_high.empty()) result["law"] = to_string(set.law);
  result["exact"] = set.exact;
  if (std::isfinite(set.rounding)) result["rounding"] = set.rounding;
  result["data_rounding"] = set.data_rounding;
  result["polyhedra"] = set.made;
  result["faces"] = set.faces;
  result["normal_velocity_min"] = set.normal_velocity_min;
  result["normal_velocity_max"] = set.normal_velocity_max;
  result["tangent_velocity_min"] = set.tangent_velocity_min;
  result["tangent_velocity_max"] = set.tangent_velocity_max;
  result["modes"] = ordered_json::array();
  for (const EnclosedMode& mode : set.modes) {
    result["modes"].push_back({{"modes", mode_words(mode.modes, m, 2)},
                               {"sampled", sampled(run, mode.modes)},
                               {"vertices", rows_of(mode.vertices, rows)},
                               {"constraints", rows_of(mode.constraints, rows + 1)}});
  }
  result["impossible_modes"] = ordered_json::array();
  for (const std::uint64_t modes : set.impossible_modes) {
    result["impossible_modes"].push_back(mode_words(modes, m, 2));
  }
  result["mode_tolerance"] = run.settings.mode_tolerance;
  result["modes_within_tolerance"] = ordered_json::array();
  for (const std::uint64_t modes : run.enclosure->within_tolerance) {
    result["modes_within_tolerance"].push_back(
        {{"modes", mode_words(modes, m, run.problem.dimension)}, {"sampled", sampled(run, modes)}});
  }
  result["filled"] = run.enclosure->filled;
  result["samples"] = comparison_json(run.enclosure->samples);
  result["followed"] = comparison_json(run.enclosure->followed);
  if (!run.enclosure->answers.empty()) {
    result["never"] = ordered_json::array();
    for (const run::NeverAnswer& answer : run.enclosure->answers) {
      ordered_json entry{{"event", answer.question}, {"answer", run::answer_word(answer)}};
      if (answer.sample) entry["sample"] = *answer.sample;
      result["never"].push_back(std::move(entry));
    }
  }
  result["seconds"] = set.seconds;
  const ImpactProblem& problem = run.problem;
  const auto columns = static_cast<std::size_t>(problem.velocities);
  result["problem"] = {{"mass_matrix", rows_of(problem.mass_matrix, columns)},
                       {"normal_jacobian", rows_of(problem.normal_jacobian, columns)},
                       {"tangent_jacobian", rows_of(problem.tangent_jacobian, columns)},
                       {"friction", intervals(problem.friction, problem.friction_high)},
                       {"velocity", problem.velocity},
                       {"contact_names", run.contact_names}};
  if (!problem.restitution_high.empty()) {
    result["problem"]["restitution"] = intervals(problem.restitution_low, problem.restitution_high);
  }
  result["invariant"] = set.invariant;
  return result;
}

}  // namespace carom::io
