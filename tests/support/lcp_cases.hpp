#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

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
};

inline std::vector<LcpCase> lcp_cases() {
  std::vector<std::filesystem::path> files;
  const std::filesystem::path folder = std::filesystem::path(CAROM_TEST_DATA) / "lcp";
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

/// max|min(z, M z + q)| / max|q|, in long double.
inline double lcp_residual(const std::vector<double>& matrix, const std::vector<double>& vector,
                           const double* z) {
  const std::size_t n = vector.size();
  long double worst = 0.0L;
  long double scale = 1e-300L;
  for (std::size_t i = 0; i < n; ++i) {
    long double w = vector[i];
    for (std::size_t j = 0; j < n; ++j) {
      w += static_cast<long double>(matrix[i * n + j]) * z[j];
    }
    const long double gap = std::fabs(std::min(w, static_cast<long double>(z[i])));
    if (std::isnan(w) || std::isnan(z[i])) return static_cast<double>(NAN);
    worst = std::max(worst, gap);
    scale = std::max(scale, static_cast<long double>(std::fabs(vector[i])));
  }
  return static_cast<double>(worst / scale);
}

}  // namespace carom::test
