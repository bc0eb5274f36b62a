#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <carom/impact_judge.hpp>

#include "core/buffer_slice.hpp"

namespace carom::io {

/// A problem of a file, with names of its contacts or none, the law of its restitution or none, and
/// what was measured after it, if anything.
struct NamedImpact : ImpactProblem {
  std::vector<std::string> contact_names;
  std::optional<RestitutionLaw> law;
  MeasuredImpactArrays<Values> measured;
};

/// Impact problems of a JSON file (one object or an array of objects) or of an HDF5 file (batched
/// data sets of the same names), told apart by their content. The dimension follows from the
/// tangent rows: m of them planar, 2m spatial. Shapes are checked here, numbers too.
/// Errors: InvalidInput naming file, problem, field, position and value.
std::vector<NamedImpact> read_impact_problems(const std::filesystem::path& file);

/// Entry `index` of such a file. Errors: InvalidInput, of shapes.
NamedImpact impact_problem_from_json(const nlohmann::json& object, const std::string& file,
                                     std::size_t index);

}  // namespace carom::io
