#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/folders.hpp"
#include "support/lcp_residual.hpp"

/// The stored linear complementarity problems of tests/data/lcp.
namespace carom::test {

struct LcpCase {
  std::string name;
  int order = 0;
  std::vector<double> matrix;
  std::vector<double> vector;
  std::string outcome;  ///< of exact lexicographic Lemke: solved or ray
  int pivots = 0;
  std::vector<double> solution;  ///< its z, empty on a ray
  bool solvable = false;

  /// Of these, a ray without an answer has no point either.
  [[nodiscard]] std::string status() const {
    return outcome == "ray" && !solvable ? "infeasible" : outcome;
  }
};

inline std::vector<LcpCase> lcp_cases() {
  std::vector<std::filesystem::path> files;
  const std::filesystem::path folder = data_folder() / "lcp";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<LcpCase> cases;
  for (const auto& file : files) {
    const nlohmann::json json = nlohmann::json::parse(std::ifstream(file));
    LcpCase item;
    item.name = json.at("name");
    item.order = json.at("n");
    for (const auto& row : json.at("M")) {
      for (const auto& value : row) item.matrix.push_back(value);
    }
    item.vector = json.at("q").get<std::vector<double>>();
    const nlohmann::json& exact = json.at("exact_lemke");
    item.outcome = exact.at("outcome");
    item.pivots = exact.at("pivots");
    if (exact.contains("z")) item.solution = exact.at("z").get<std::vector<double>>();
    item.solvable = json.at("solvable");
    cases.push_back(std::move(item));
  }
  return cases;
}

}  // namespace carom::test
