#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <carom/certificate_lp.hpp>
#include <carom/lp.hpp>

#include "support/bits.hpp"
#include "support/folders.hpp"
#include "support/random_problems.hpp"

/// Linear programs for tests: the stored ones and random families.
namespace carom::test {

/// One program, minimised.
struct Lp {
  int rows = 0;
  int columns = 0;
  std::vector<double> cost, matrix, row_lower, row_upper, column_lower, column_upper;

  [[nodiscard]] certificate::LpData data() const {
    return {rows,
            columns,
            cost.data(),
            matrix.data(),
            row_lower.data(),
            row_upper.data(),
            column_lower.data(),
            column_upper.data()};
  }
};

/// Problems of one shape.
inline LpBatch batch_of(const std::vector<Lp>& problems) {
  const auto joined = [&](const std::vector<double> Lp::*field) {
    std::vector<double> values;
    for (const Lp& lp : problems) {
      values.insert(values.end(), (lp.*field).begin(), (lp.*field).end());
    }
    return Buffer<double>::from(values);
  };
  LpBatch batch;
  batch.problems = static_cast<std::int64_t>(problems.size());
  batch.rows = problems.front().rows;
  batch.columns = problems.front().columns;
  batch.cost = joined(&Lp::cost);
  batch.matrix = joined(&Lp::matrix);
  batch.row_lower = joined(&Lp::row_lower);
  batch.row_upper = joined(&Lp::row_upper);
  batch.column_lower = joined(&Lp::column_lower);
  batch.column_upper = joined(&Lp::column_upper);
  return batch;
}

/// The certificate on the host, with memory of its own.
class LpJudge {
 public:
  explicit LpJudge(const Lp& lp)
      : memory_(
            static_cast<std::size_t>(certificate::lp_certificate_workspace(lp.rows, lp.columns))),
        judge_(lane_, lp.rows, lp.columns, memory_.data()) {
    usable_ = judge_.load(lp.data()) && judge_.load_cost(lp.cost.data());
  }
  [[nodiscard]] bool usable() const { return usable_; }
  certificate::LpCertificate<kernels::SingleLane>& operator*() { return judge_; }
  certificate::LpCertificate<kernels::SingleLane>* operator->() { return &judge_; }

 private:
  kernels::SingleLane lane_;
  std::vector<double> memory_;
  certificate::LpCertificate<kernels::SingleLane> judge_;
  bool usable_ = false;
};

struct LpCase {
  std::string name;
  Lp lp;  ///< minimised: costs of a maximised one are turned around
  bool optimal = false;
  double objective = 0.0;  ///< of `lp`, without the file's offset
};

/// A stored program, minimised.
inline Lp lp_from(const nlohmann::json& json) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const auto numbers = [&](const char* key, double absent) {
    std::vector<double> values;
    for (const auto& value : json.at(key)) {
      values.push_back(value.is_null() ? absent : value.get<double>());
    }
    return values;
  };
  Lp lp;
  lp.cost = numbers("c", 0.0);
  for (double& value : lp.cost) value *= json.at("sense") == "max" ? -1.0 : 1.0;
  for (const auto& row : json.at("A")) {
    for (const auto& value : row) lp.matrix.push_back(value);
  }
  lp.row_lower = numbers("row_lower", -kInf);
  lp.row_upper = numbers("row_upper", kInf);
  lp.column_lower = numbers("col_lower", -kInf);
  lp.column_upper = numbers("col_upper", kInf);
  lp.rows = static_cast<int>(lp.row_lower.size());
  lp.columns = static_cast<int>(lp.cost.size());
  return lp;
}

/// The objects of the .json files of a folder of the tests' data, by names of files.
inline std::vector<nlohmann::json> stored(const char* folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(data_folder() / folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<nlohmann::json> objects;
  for (const auto& file : files) objects.push_back(nlohmann::json::parse(std::ifstream(file)));
  return objects;
}

inline std::vector<LpCase> lp_cases() {
  std::vector<LpCase> cases;
  for (const nlohmann::json& json : stored("lp")) {
    LpCase item;
    item.name = json.at("name");
    item.lp = lp_from(json);
    const double sign = json.at("sense") == "max" ? -1.0 : 1.0;
    item.optimal = json.at("expected_status") == "optimal";
    if (item.optimal) {
      const double stated = json.contains("shipped_objective")
                                ? json.at("shipped_objective").get<double>()
                                : json.at("reference").at("objective_highs").get<double>();
      item.objective = sign * (stated - json.value("offset", 0.0));
    }
    cases.push_back(std::move(item));
  }
  return cases;
}

/// What a random program is made to be.
enum class LpFlavour {
  feasible,    ///< boxes, ranges, equations and free columns around a known point; bounded
  infeasible,  ///< two rows that contradict each other
  unbounded,   ///< a known ray along which the cost falls
  degenerate,  ///< small integers, many ties, repeated rows and columns; anything may come out
  anything,    ///< unrelated random numbers
};
inline constexpr LpFlavour kLpFlavours[] = {LpFlavour::feasible, LpFlavour::infeasible,
                                            LpFlavour::unbounded, LpFlavour::degenerate,
                                            LpFlavour::anything};

inline std::string_view to_string(LpFlavour flavour) {
  constexpr std::string_view kNames[] = {"feasible", "infeasible", "unbounded", "degenerate",
                                         "anything"};
  return kNames[static_cast<int>(flavour)];
}

inline Lp random_lp(Generator& random, LpFlavour flavour, int m, int n) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const bool whole = flavour == LpFlavour::degenerate;
  const auto number = [&] {
    return whole ? static_cast<double>(random.integer(-2, 2)) : random.normal();
  };
  Lp lp;
  lp.rows = m;
  lp.columns = n;
  const auto at = [&](int i, int j) -> double& {
    return lp.matrix[static_cast<std::size_t>(i * n + j)];
  };
  for (int e = 0; e < m * n; ++e) lp.matrix.push_back(number());
  for (int j = 0; j < n; ++j) lp.cost.push_back(number());
  std::vector<double> point;
  for (int j = 0; j < n; ++j) point.push_back(whole ? random.integer(0, 1) : random.normal());
  for (int j = 0; j < n; ++j) {
    const int kind = random.integer(0, 3);
    const double low = whole ? 0.0 : point[static_cast<std::size_t>(j)] - random.unit();
    const double high =
        whole ? random.integer(1, 2) : point[static_cast<std::size_t>(j)] + random.unit();
    lp.column_lower.push_back(kind == 0 ? -kInf : low);
    lp.column_upper.push_back(kind == 1 ? kInf : high);
    // The cost presses against a bound that is there: the optimum is finite.
    if (flavour == LpFlavour::feasible && kind == 0) {
      lp.cost[static_cast<std::size_t>(j)] = -std::fabs(lp.cost[static_cast<std::size_t>(j)]);
    }
    if (flavour == LpFlavour::feasible && kind == 1) {
      lp.cost[static_cast<std::size_t>(j)] = std::fabs(lp.cost[static_cast<std::size_t>(j)]);
    }
  }
  for (int i = 0; i < m; ++i) {
    if (whole && i > 0 && random.unit() < 0.3) {
      const int copied = random.integer(0, i - 1);
      for (int j = 0; j < n; ++j) at(i, j) = at(copied, j);
    }
    double activity = 0.0;
    for (int j = 0; j < n; ++j) activity += at(i, j) * point[static_cast<std::size_t>(j)];
    if (flavour == LpFlavour::anything) activity += random.normal();
    if (whole && random.unit() < 0.1) activity += random.integer(-1, 1);
    const int kind = random.integer(0, 3);
    const double slack = whole ? random.integer(0, 1) : random.unit();
    lp.row_lower.push_back(kind == 0 ? -kInf : (kind == 3 ? activity : activity - slack));
    lp.row_upper.push_back(kind == 1 ? kInf : (kind == 3 ? activity : activity + slack));
  }
  if (flavour == LpFlavour::infeasible && m > 1) {
    // The last row asks for more than twice the first row allows.
    for (int j = 0; j < n; ++j) at(m - 1, j) = 2.0 * at(0, j);
    lp.row_upper[0] = 1.0;
    lp.row_lower[0] = -kInf;
    lp.row_lower[static_cast<std::size_t>(m - 1)] = 2.5;
    lp.row_upper[static_cast<std::size_t>(m - 1)] = kInf;
  }
  if (flavour == LpFlavour::unbounded) {
    // The last column is a free way out: no row feels it against its bounds.
    for (int i = 0; i < m; ++i) {
      const auto row = static_cast<std::size_t>(i);
      double& entry = at(i, n - 1);
      const bool lower = lp.row_lower[row] > -kInf;
      const bool upper = lp.row_upper[row] < kInf;
      entry = lower && upper ? 0.0 : (lower ? std::fabs(entry) : -std::fabs(entry));
    }
    lp.column_lower.back() = point.back() - 1.0;
    lp.column_upper.back() = kInf;
    lp.cost.back() = -1.0;
    for (int i = 0; i < m; ++i) {
      double activity = 0.0;
      for (int j = 0; j < n; ++j) activity += at(i, j) * point[static_cast<std::size_t>(j)];
      const auto row = static_cast<std::size_t>(i);
      if (lp.row_lower[row] > -kInf) lp.row_lower[row] = activity;
      if (lp.row_upper[row] < kInf) lp.row_upper[row] = activity;
    }
  }
  return lp;
}

/// A cone cut off by a box: m rows a.x <= 0 of real numbers, x = 0 feasible, every vertex but for
/// the box's of more rows than columns. Rows are sparse, and sums and multiples of others.
inline Lp random_cone_lp(Generator& random, int m, int n) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  Lp lp;
  lp.rows = m;
  lp.columns = n;
  const auto at = [&](int i, int j) -> double& {
    return lp.matrix[static_cast<std::size_t>(i * n + j)];
  };
  lp.matrix.assign(static_cast<std::size_t>(m) * static_cast<std::size_t>(n), 0.0);
  const int last =
      n - 1;  // the margin of every other row, as programmes for the sign of a form have
  for (int i = 0; i < m; ++i) {
    if (i > 1 && random.unit() < 0.4) {
      const int one = random.integer(0, i - 1);
      const int other = random.integer(0, i - 1);
      const double a = random.unit();
      const double b = random.unit() < 0.5 ? 0.0 : random.unit();
      for (int j = 0; j < n; ++j) at(i, j) = a * at(one, j) + b * at(other, j);
    } else {
      const int entries = random.integer(1, 6);
      for (int e = 0; e < entries; ++e) at(i, random.integer(0, n - 2)) = random.normal() / 3.0;
      at(i, last) = random.integer(0, 1);
    }
    lp.row_lower.push_back(-kInf);
    lp.row_upper.push_back(0.0);
  }
  for (int j = 0; j < n; ++j) {
    lp.cost.push_back(random.unit() < 0.4 ? random.normal() : 0.0);
    lp.column_lower.push_back(j == last ? 0.0 : -32.0);
    lp.column_upper.push_back(j == last ? 1.0 : 32.0);
  }
  lp.cost.back() = -1.0;
  return lp;
}

/// Recomputes what answer k of the problem claims; `tolerance` as the solver's.
inline void expect_proven(const Lp& lp, const LpResult& result, std::size_t k,
                          double tolerance = 1e-9) {
  const auto n = static_cast<std::size_t>(lp.columns);
  const auto m = static_cast<std::size_t>(lp.rows);
  LpJudge judge(lp);
  ASSERT_TRUE(judge.usable());
  const Status status = result.status.host()[k];
  if (status == Status::solved) {
    EXPECT_LE(judge->residual(result.solution.data() + k * n, result.dual.data() + k * m),
              tolerance);
    double value = 0.0;
    for (std::size_t j = 0; j < n; ++j) value += lp.cost[j] * result.solution.data()[k * n + j];
    EXPECT_NEAR(result.objective.host()[k], value, 1e-12 * (1.0 + std::fabs(value)));
  } else {
    EXPECT_TRUE(std::isnan(result.solution.data()[k * n]));
    EXPECT_TRUE(std::isnan(result.dual.data()[k * m]));
    EXPECT_TRUE(std::isnan(result.objective.host()[k]));
  }
  if (status == Status::infeasible) {
    EXPECT_LE(judge->farkas_residual(result.farkas.data() + k * m), tolerance);
  } else {
    EXPECT_TRUE(std::isnan(result.farkas.data()[k * m]));
  }
  if (status == Status::unbounded) {
    EXPECT_LE(judge->ray_residual(result.ray.data() + k * n), tolerance);
  } else {
    EXPECT_TRUE(std::isnan(result.ray.data()[k * n]));
  }
}

inline std::vector<Lp> random_lps(Generator& random, LpFlavour flavour, int m, int n, int count) {
  std::vector<Lp> problems;
  for (int p = 0; p < count; ++p) problems.push_back(random_lp(random, flavour, m, n));
  return problems;
}

}  // namespace carom::test
