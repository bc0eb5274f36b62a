#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <carom/qp.hpp>

#include "support/folders.hpp"

/// The stored quadratic programs of tests/data/qp and tests/data/socp, one batch each.
namespace carom::test {

struct QpCase {
  std::string name;
  QpBatch batch;
  double constant = 0.0;  ///< r, added to the objective
  std::string status;     ///< solved, infeasible or unbounded
  std::optional<double> objective;
};

inline QpCase read_qp_case(const std::filesystem::path& file) {
  const nlohmann::json json = nlohmann::json::parse(std::ifstream(file));
  QpCase item;
  item.name = file.stem().string();
  std::vector<double> hessian;
  for (const auto& row : json.at("P")) {
    for (const auto& value : row) hessian.push_back(value);
  }
  const auto vector = json.at("q").get<std::vector<double>>();
  std::vector<double> matrix;
  for (const auto& row : json.at("A")) {
    for (const auto& value : row) matrix.push_back(value);
  }
  QpBatch& batch = item.batch;
  batch.problems = 1;
  batch.variables = static_cast<int>(vector.size());
  batch.hessian = Buffer<double>::from(hessian);
  batch.vector = Buffer<double>::from(vector);
  if (json.at("kind") == "qp") {
    const auto bounds = [&](const char* key, double absent) {
      std::vector<double> values;
      for (const auto& value : json.at(key)) {
        values.push_back(value.is_null() ? absent : value.get<double>());
      }
      return values;
    };
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    batch.rows = static_cast<int>(json.at("A").size());
    batch.matrix = Buffer<double>::from(matrix);
    batch.lower = Buffer<double>::from(bounds("l", -kInfinity));
    batch.upper = Buffer<double>::from(bounds("u", kInfinity));
  } else {
    batch.cone_matrix = Buffer<double>::from(matrix);
    batch.cone_vector = Buffer<double>::from(json.at("b").get<std::vector<double>>());
    for (const auto& cone : json.at("cones")) {
      const std::string kind = cone.at(0);
      batch.cones.push_back({kind == "nonneg" ? ConeKind::nonnegative
                             : kind == "zero" ? ConeKind::zero
                                              : ConeKind::second_order,
                             cone.at(1).get<int>()});
    }
  }
  item.constant = json.value("r", 0.0);
  const std::string expected = json.value("expected_status", std::string("solved"));
  item.status = expected == "dual_infeasible"     ? "unbounded"
                : expected == "primal_infeasible" ? "infeasible"
                                                  : "solved";
  if (json.contains("reference")) item.objective = json.at("reference").at("objective");
  if (json.contains("shipped_objective") && json.at("shipped_objective").is_number()) {
    item.objective = json.at("shipped_objective");
  }
  return item;
}

inline std::vector<QpCase> qp_cases() {
  std::vector<std::filesystem::path> files;
  for (const char* folder : {"qp", "socp"}) {
    for (const auto& entry : std::filesystem::directory_iterator(data_folder() / folder)) {
      if (entry.path().extension() == ".json") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<QpCase> cases;
  for (const auto& file : files) cases.push_back(read_qp_case(file));
  return cases;
}

}  // namespace carom::test
