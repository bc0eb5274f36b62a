#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <carom/boxed_lcp.hpp>
#include <carom/certificate_boxed_lcp.hpp>
#include <carom/lcp_decision.hpp>

#include "support/exact_program.hpp"
#include "support/from_environment.hpp"

// Boxed LCPs of integers, friction rows among them, against all choices of sides in exact
// arithmetic: every problem is decided, rightly, with a proof.
namespace carom::boxed_trees {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Problem {
  int n = 0;
  std::vector<int> matrix, vector;
  std::vector<std::optional<int>> lower, upper;
  std::vector<int> findex, halves;  ///< mu = halves / 2

  [[nodiscard]] bool rubs(int i) const { return findex[static_cast<std::size_t>(i)] >= 0; }
};

class Problems {
 public:
  explicit Problems(unsigned seed) : engine_(seed) {}

  Problem next() {
    Problem problem;
    const int n = problem.n = whole(1, 4);
    const int kind = whole(0, 3);
    const auto count = static_cast<std::size_t>(n);
    problem.matrix.resize(count * count);
    for (int& entry : problem.matrix) entry = whole(-3, 3);
    if (kind == 1) {  // M = B B'
      const int rank = whole(1, n);
      std::vector<int> b(count * static_cast<std::size_t>(rank));
      for (int& entry : b) entry = whole(-2, 2);
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          int sum = 0;
          for (int k = 0; k < rank; ++k) sum += b[at(i * rank + k)] * b[at(j * rank + k)];
          problem.matrix[at(i * n + j)] = sum;
        }
      }
    }
    if (kind == 2) {  // a row, or a column, of zeros
      const int k = whole(0, n - 1), step = whole(0, 1) == 0 ? 1 : n;
      for (int j = 0; j < n; ++j) problem.matrix[at(step == 1 ? k * n + j : j * n + k)] = 0;
    }
    for (int i = 0; i < n; ++i) {
      constexpr std::array<std::array<int, 2>, 6> kBounds{
          {{0, kNone}, {kNone, kNone}, {-1, 2}, {kNone, 1}, {0, 3}, {1, 1}}};
      const auto& [low, high] = kBounds[at(whole(0, 5))];
      problem.vector.push_back(whole(-4, 4));
      problem.lower.push_back(low == kNone ? std::nullopt : std::optional(low));
      problem.upper.push_back(high == kNone ? std::nullopt : std::optional(high));
    }
    problem.findex.assign(count, -1);
    problem.halves.assign(count, 0);
    int source = 0;
    while (source < n && problem.lower[at(source)].value_or(-1) < 0) ++source;
    for (int i = source + 1; i < n; ++i) {
      if (whole(0, 2) > 0) continue;
      problem.findex[at(i)] = source;
      problem.halves[at(i)] = whole(1, 4);
      problem.lower[at(i)] = problem.upper[at(i)] = std::nullopt;
    }
    return problem;
  }

 private:
  static constexpr int kNone = 99;
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  int whole(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }

  std::mt19937 engine_;
};

std::string as_text(const Problem& problem) {
  std::string text;
  const auto add = [&](const char* name, const auto& values) {
    text += std::string(name) + " (";
    for (const auto& value : values) text += std::to_string(value) + " ";
    text += ") ";
  };
  const auto shown = [](const std::vector<std::optional<int>>& bounds) {
    std::vector<double> all;
    for (const auto& bound : bounds) all.push_back(bound ? *bound : kInfinity);
    return all;
  };
  add("M", problem.matrix);
  add("q", problem.vector);
  add("lo", shown(problem.lower));
  add("hi", shown(problem.upper));
  add("findex", problem.findex);
  add("2 mu", problem.halves);
  return text;
}

/// Whether the sides that `code` names (0: lower bound, 1: w = 0, 2: upper bound) have a point.
bool sides_have_a_point(const Problem& problem, int code, bool& known) {
  test::IntegerProgram rows;
  const int n = rows.variables = problem.n;
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  rows.hessian.assign(at(n * n), 0);
  rows.vector.assign(at(n), 0);
  const auto add = [&](const std::vector<int>& row, std::optional<int> low,
                       std::optional<int> high) {
    rows.matrix.insert(rows.matrix.end(), row.begin(), row.end());
    rows.lower.push_back(low);
    rows.upper.push_back(high);
    ++rows.rows;
  };
  for (int i = 0; i < n; ++i, code /= 3) {
    const int side = code % 3;
    const std::vector<int> w(problem.matrix.begin() + i * n, problem.matrix.begin() + (i + 1) * n);
    const int zero = -problem.vector[at(i)];
    add(w, side == 2 ? std::nullopt : std::optional(zero),
        side == 0 ? std::nullopt : std::optional(zero));
    std::vector<int> z(at(n), 0);
    if (problem.rubs(i)) {
      const int j = problem.findex[at(i)];
      z[at(i)] = 2;
      z[at(j)] = -problem.halves[at(i)];  // 2 z_i - 2 mu z_j <= 0
      add(z, side == 2 ? std::optional(0) : std::nullopt, 0);
      z[at(j)] = problem.halves[at(i)];
      add(z, 0, side == 0 ? std::optional(0) : std::nullopt);
      continue;
    }
    const auto &low = problem.lower[at(i)], &high = problem.upper[at(i)];
    if ((side == 0 && !low) || (side == 2 && !high)) return false;
    z[at(i)] = 1;
    add(z, side == 2 ? high : low, side == 0 ? low : high);
  }
  const Status status = test::decide(rows).status;
  known = known && (status == Status::solved || status == Status::infeasible);
  return status == Status::solved;
}

TEST(BoxedTrees, DecideAsExactArithmeticDoes) {
  Problems problems(static_cast<unsigned>(test::from_environment("CAROM_TRUST_SEED", 1)));
  const int count = 10 * test::from_environment("CAROM_TRUST_PROBLEMS", 100);
  int by_tree = 0, without_answer = 0, unknown = 0;
  for (int trial = 0; trial < count; ++trial) {
    const Problem problem = problems.next();
    const int n = problem.n;
    bool solvable = false, known = true;
    int choices = 1;
    for (int i = 0; i < n; ++i) choices *= 3;
    for (int code = 0; code < choices && !solvable; ++code) {
      solvable = sides_have_a_point(problem, code, known);
    }
    if (!solvable && !known) {
      ++unknown;
      continue;
    }
    auto batch = allocate<BoxedLcpBatch>({1, n}, MemorySpace::host, true);
    for (int i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const auto bound = [](const std::optional<int>& value, double absent) {
        return value ? static_cast<double>(*value) : absent;
      };
      for (int j = 0; j < n; ++j) {
        batch.matrix.data()[i * n + j] = problem.matrix[static_cast<std::size_t>(i * n + j)];
      }
      batch.vector.data()[i] = problem.vector[k];
      batch.lower.data()[i] = bound(problem.lower[k], -kInfinity);
      batch.upper.data()[i] = bound(problem.upper[k], kInfinity);
      batch.findex.data()[i] = problem.findex[k];
      batch.friction.data()[i] = 0.5 * problem.halves[k];
    }
    const LcpDecision decision = decide_boxed_lcp(batch).front();
    EXPECT_EQ(to_string(decision.status), solvable ? "solved" : "infeasible")
        << trial << ": " << as_text(problem);
    if ((decision.status == Status::solved) != solvable || decision.status == Status::ray) continue;
    const certificate::BoxedLcpData data{n,
                                         batch.matrix.data(),
                                         batch.vector.data(),
                                         batch.lower.data(),
                                         batch.upper.data(),
                                         batch.findex.data(),
                                         batch.friction.data()};
    if (!solvable) {
      EXPECT_EQ(decision.bound, kInfinity) << trial;
      EXPECT_LE(boxed_lcp_tree_residual(data, decision), 1e-9) << trial;
      by_tree += decision.tree.empty() ? 0 : 1;
      ++without_answer;
      continue;
    }
    for (int i = 0; i < n; ++i) {  // by the law itself
      const auto k = static_cast<std::size_t>(i);
      const std::vector<double>& z = decision.solution;
      double w = problem.vector[k], low = data.lower[i], high = data.upper[i];
      for (int j = 0; j < n; ++j) w += data.matrix[i * n + j] * z[static_cast<std::size_t>(j)];
      if (problem.rubs(i)) {
        high = data.friction[i] * z[static_cast<std::size_t>(problem.findex[k])];
        low = -high;
      }
      EXPECT_TRUE(z[k] >= low && z[k] <= high) << trial << " " << i;
      // A limit mu z_j that is zero but for rounding counts as reached on both of its sides.
      if (z[k] > low + 1e-12) EXPECT_LE(w, 1e-9) << trial << " " << i;
      if (z[k] < high - 1e-12) EXPECT_GE(w, -1e-9) << trial << " " << i;
    }
  }
  EXPECT_LE(unknown, count / 100);
  EXPECT_GE(without_answer, count / 10);
  EXPECT_GE(by_tree, count / 50);
}

// z_1 is at its limit z_0, and of the two only z_1 is in a row with a number of its own: 3 z_1 = 4.
TEST(BoxedTrees, AForceAtItsLimitTellsTheNormalForce) {
  BoxedLcpBatch batch;
  batch.problems = 1;
  batch.order = 2;
  batch.matrix = Buffer<double>::from({0, 3, -1, 0});
  batch.vector = Buffer<double>::from({-4, 0});
  batch.lower = Buffer<double>::from({0, -kInfinity});
  batch.upper = Buffer<double>::from({3, kInfinity});
  batch.findex = Buffer<std::int32_t>::from({-1, 0});
  batch.friction = Buffer<double>::from({0, 1});
  for (const Backend backend : {Backend::cpu, Backend::reference}) {
    const BoxedLcpResult result = solve_boxed_lcp(batch, {}, backend);
    EXPECT_EQ(to_string(result.status.host()[0]), "solved") << to_string(backend);
    for (const double z : result.solution.host()) EXPECT_NEAR(z, 4.0 / 3.0, 1e-15);
  }
  batch.friction.data()[1] = 0.0;  // then z_1 says nothing of z_0
  const LcpDecision decision = decide_boxed_lcp(batch).front();
  EXPECT_EQ(to_string(decision.status), "solved");
  EXPECT_EQ(decision.solution, (std::vector<double>{3.0, 0.0}));
}

}  // namespace
}  // namespace carom::boxed_trees
