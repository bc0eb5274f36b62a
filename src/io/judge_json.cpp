#include "io/judge_json.hpp"

#include "io/member_values.hpp"

namespace carom::io {

using nlohmann::ordered_json;

namespace {

/// `rows` lists of equal length.
ordered_json rows_of(std::span<const double> values, std::size_t rows) {
  ordered_json list = ordered_json::array();
  const std::size_t each = rows > 0 ? values.size() / rows : 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = values.subspan(i * each, each);
    list.push_back(std::vector<double>(row.begin(), row.end()));
  }
  return list;
}

}  // namespace

ordered_json judgement_json(const run::ImpactRun& run) {
  const ImpactProblem& problem = run.problem;
  const ImpactSizes sizes{1, problem.dimension, problem.velocities, problem.contacts};
  ordered_json result;
  const auto add = [&result](const char* name, const Extents& extents, const auto& values) {
    if (extents.rank() == 1) {
      result[name] = json_value(values.front());
    } else if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(values.front())>>) {
      result[name] = values;
    }
  };
  ImpactJudgementArrays<Values>::each_array(sizes, add, run.judgement->samples);
  ImpactFloorArrays<Values>::each_array(sizes, add, run.judgement->floor);
  const std::vector<double>& path = run.judgement->nearest_path;
  result["nearest_path"] = rows_of(path, path.size() / problem.velocity.size());
  return result;
}

ordered_json identify_json(const run::IdentifiedRun& found) {
  ordered_json result;
  result["restitution"] = found.restitution;
  result["friction"] = found.friction;
  result["distance"] = rows_of(found.distance, found.restitution.size());
  result["tolerance"] = found.tolerance;
  result["explains"] = ordered_json::array();
  for (std::size_t a = 0; a < found.restitution.size(); ++a) {
    for (std::size_t b = 0; b < found.friction.size(); ++b) {
      if (found.distance[a * found.friction.size() + b] <= found.tolerance) {
        result["explains"].push_back({found.restitution[a], found.friction[b]});
      }
    }
  }
  result["smallest_interval"] = rows_of(found.smallest_interval, 2);
  result["bounds"] = rows_of(found.bounds, 4);
  return result;
}

}  // namespace carom::io
