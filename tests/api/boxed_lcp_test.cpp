#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <carom/boxed_lcp.hpp>
#include <carom/certificate_boxed_lcp.hpp>
#include <carom/lcp_decision.hpp>

#include "support/folders.hpp"
#include "support/message.hpp"

namespace carom {
namespace {

using test::expect_names;
using test::refusal;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

struct Problem {
  Matrix matrix;
  Vector vector, lower, upper;
  std::vector<int> findex{};  // empty: none
  std::vector<double> friction{};

  [[nodiscard]] int order() const { return static_cast<int>(vector.size()); }
};

BoxedLcpBatch batch_of(const std::vector<Problem>& problems) {
  BoxedLcpBatch batch = allocate<BoxedLcpBatch>(
      {static_cast<std::int64_t>(problems.size()), problems.front().order()}, MemorySpace::host,
      !problems.front().findex.empty());
  for (std::size_t p = 0; p < problems.size(); ++p) {
    const Problem& own = problems[p];
    const auto n = static_cast<std::size_t>(own.order());
    std::copy_n(own.matrix.data(), n * n, batch.matrix.data() + p * n * n);
    std::copy_n(own.vector.data(), n, batch.vector.data() + p * n);
    std::copy_n(own.lower.data(), n, batch.lower.data() + p * n);
    std::copy_n(own.upper.data(), n, batch.upper.data() + p * n);
    if (own.findex.empty()) continue;
    std::copy_n(own.findex.data(), n, batch.findex.data() + p * n);
    std::copy_n(own.friction.data(), n, batch.friction.data() + p * n);
  }
  return batch;
}

certificate::BoxedLcpData data_of(const BoxedLcpBatch& batch) {
  const bool rubs = !batch.findex.empty();
  return {batch.order,
          batch.matrix.data(),
          batch.vector.data(),
          batch.lower.data(),
          batch.upper.data(),
          rubs ? batch.findex.data() : nullptr,
          rubs ? batch.friction.data() : nullptr};
}

/// How far z is from the definition, in plain sums: the largest distance from its box and wrong w.
double law_error(const Problem& problem, const double* z, const double* limit = nullptr) {
  double worst = 0.0;
  for (int i = 0; i < problem.order(); ++i) {
    double w = problem.vector[i];
    for (int j = 0; j < problem.order(); ++j) w += problem.matrix(i, j) * z[j];
    double low = problem.lower[i], high = problem.upper[i];
    if (!problem.findex.empty() && problem.findex[static_cast<std::size_t>(i)] >= 0) {
      const auto k = static_cast<std::size_t>(i);
      high = limit != nullptr ? limit[i] : problem.friction[k] * z[problem.findex[k]];
      low = -high;
    }
    worst = std::max({worst, low - z[i], z[i] - high});
    const double room = 1e-9 * (1.0 + std::fabs(z[i]));
    const bool at_low = z[i] - low <= room, at_high = high - z[i] <= room;
    if (!at_low) worst = std::max(worst, w);
    if (!at_high) worst = std::max(worst, -w);
  }
  return worst;
}

/// Whether any choice of lower, upper and free rows has an answer; integers of a few digits.
bool has_answer_by_enumeration(const Problem& problem) {
  const int n = problem.order();
  int combinations = 1;
  for (int i = 0; i < n; ++i) combinations *= 3;
  for (int code = 0; code < combinations; ++code) {
    Vector z = Vector::Zero(n);
    std::vector<int> between;
    bool possible = true;
    for (int i = 0, rest = code; i < n; ++i, rest /= 3) {
      if (rest % 3 == 2) between.push_back(i);
      if (rest % 3 != 2) z[i] = rest % 3 == 0 ? problem.lower[i] : problem.upper[i];
      possible = possible && std::isfinite(z[i]);
    }
    if (!possible) continue;
    if (!between.empty()) {
      // Any point of the flat w = 0 within the box; its corners are other choices' answers.
      const Vector w = problem.matrix * z + problem.vector;
      const Eigen::MatrixXd block = problem.matrix(between, between);
      const Vector x = block.completeOrthogonalDecomposition().solve(-w(between).eval());
      z(between) = x;
    }
    bool good = true;
    const Vector w = problem.matrix * z + problem.vector;
    for (int i = 0; i < n && good; ++i) {
      constexpr double kRoom = 1e-9;
      good = z[i] >= problem.lower[i] - kRoom && z[i] <= problem.upper[i] + kRoom &&
             (std::fabs(w[i]) <= kRoom || (w[i] > 0.0 && z[i] <= problem.lower[i] + kRoom) ||
              (w[i] < 0.0 && z[i] >= problem.upper[i] - kRoom));
    }
    if (good) return true;
  }
  return false;
}

/// y'(M z + q) < 0 over the box, for a y with y'w >= 0 for every answer.
void expect_farkas(const Problem& problem, const double* y) {
  double most = 0.0;
  for (int i = 0; i < problem.order(); ++i) {
    EXPECT_TRUE(y[i] <= 0.0 || problem.upper[i] == kInfinity) << i;
    EXPECT_TRUE(y[i] >= 0.0 || problem.lower[i] == -kInfinity) << i;
    most += problem.vector[i] * y[i];
  }
  for (int j = 0; j < problem.order(); ++j) {
    double pull = 0.0, size = 0.0;
    for (int i = 0; i < problem.order(); ++i) {
      pull += problem.matrix(i, j) * y[i];
      size += std::fabs(problem.matrix(i, j) * y[i]);
    }
    if (std::fabs(pull) <= 1e-14 * size) continue;
    most += pull * (pull > 0.0 ? problem.upper[j] : problem.lower[j]);
  }
  EXPECT_LT(most, 0.0);
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double whole(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  bool chance(double share) { return uniform(0.0, 1.0) < share; }
  Matrix integers(int rows, int columns, int most) {
    Matrix result(rows, columns);
    for (double& value : result.reshaped()) value = whole(-most, most);
    return result;
  }

 private:
  std::mt19937 engine_;
};

enum class Kind { any, semidefinite, monotone, skew };

Problem integer_problem(Random& random, int n, Kind kind) {
  Problem problem;
  const Matrix root = random.integers(n, static_cast<int>(random.whole(1, n)), 2);
  const Matrix half = random.integers(n, n, 2);
  if (kind == Kind::any) problem.matrix = random.integers(n, n, 3);
  if (kind == Kind::semidefinite) problem.matrix = root * root.transpose();
  if (kind == Kind::monotone) problem.matrix = root * root.transpose() + half - half.transpose();
  if (kind == Kind::skew) problem.matrix = half - half.transpose();
  problem.vector = random.integers(n, 1, 4);
  problem.lower.resize(n);
  problem.upper.resize(n);
  for (int i = 0; i < n; ++i) {
    problem.lower[i] = random.chance(0.3) ? -kInfinity : random.whole(-2, 0);
    const double from = std::isfinite(problem.lower[i]) ? problem.lower[i] : 0.0;
    problem.upper[i] = random.chance(0.4) ? kInfinity : from + random.whole(0, 3);
  }
  return problem;
}

/// An answer or a tree, judged, where paths give neither.
void expect_decided(const Problem& problem, bool solvable) {
  const BoxedLcpBatch batch = batch_of({problem});
  const LcpDecision decision = decide_boxed_lcp(batch).front();
  ASSERT_EQ(to_string(decision.status), solvable ? "solved" : "infeasible");
  if (solvable) {
    EXPECT_LE(law_error(problem, decision.solution.data()), 1e-9);
    return;
  }
  EXPECT_EQ(decision.bound, kInfinity);
  EXPECT_LE(boxed_lcp_tree_residual(data_of(batch), decision), 1e-9);
}

TEST(BoxedLcp, VerdictsOfIntegerProblemsAgreeWithEnumeration) {
  Random random(7);
  int infeasible = 0;
  for (const Kind kind : {Kind::any, Kind::semidefinite, Kind::monotone, Kind::skew}) {
    for (int trial = 0; trial < 300; ++trial) {
      const Problem problem = integer_problem(random, static_cast<int>(random.whole(1, 4)), kind);
      const BoxedLcpResult result = solve_boxed_lcp(batch_of({problem}));
      const Status status = result.status.host()[0];
      const bool solvable = has_answer_by_enumeration(problem);
      if (status == Status::solved) {
        EXPECT_LE(law_error(problem, result.solution.data()), 1e-9);
      } else if (status == Status::infeasible) {
        EXPECT_FALSE(solvable);
        expect_farkas(problem, result.farkas.data());
        ++infeasible;
      } else {
        EXPECT_EQ(status, Status::ray);
        EXPECT_EQ(kind, Kind::any) << "monotone problems are decided";
      }
      EXPECT_TRUE(kind == Kind::any || (status == Status::solved) == solvable);
    }
  }
  EXPECT_GT(infeasible, 100);
}

TEST(BoxedLcp, FiniteBoxesAlwaysHaveAnAnswer) {
  Random random(11);
  for (const int n : {1, 3, 8, 20, 40}) {
    for (int trial = 0; trial < 40; ++trial) {
      Problem problem = integer_problem(random, n, Kind::any);
      for (int i = 0; i < n; ++i) {
        problem.lower[i] = random.whole(-2, 0);
        problem.upper[i] = problem.lower[i] + random.whole(0, 3);
      }
      const BoxedLcpResult result = solve_boxed_lcp(batch_of({problem}));
      ASSERT_EQ(result.status.host()[0], Status::solved) << n << ", " << trial;
      EXPECT_LE(law_error(problem, result.solution.data()), 1e-9);
    }
  }
}

TEST(BoxedLcp, ByHand) {
  Problem problem{.matrix = Matrix{{2, 1}, {1, 2}},
                  .vector = Vector{{-5, -6}},
                  .lower = Vector{{0, -1}},
                  .upper = Vector{{kInfinity, 1}}};
  const BoxedLcpResult at_bound = solve_boxed_lcp(batch_of({problem}));
  EXPECT_EQ(at_bound.solution.host()[0], 2.0);
  EXPECT_EQ(at_bound.solution.host()[1], 1.0);
  EXPECT_EQ(at_bound.slack.host()[1], -2.0);
  // Equations of a saddle point with a zero block: x = 1 and the multiplier is 2.
  problem = {.matrix = Matrix{{2, -1}, {1, 0}},
             .vector = Vector{{0, -1}},
             .lower = Vector::Constant(2, -kInfinity),
             .upper = Vector::Constant(2, kInfinity)};
  const BoxedLcpResult equations = solve_boxed_lcp(batch_of({problem}));
  EXPECT_NEAR(equations.solution.host()[0], 1.0, 1e-15);
  EXPECT_NEAR(equations.solution.host()[1], 2.0, 1e-15);
  problem.lower[0] = 3.0;
  problem.upper[0] = 2.0;
  const BoxedLcpResult crossed = solve_boxed_lcp(batch_of({problem}));
  EXPECT_EQ(crossed.status.host()[0], Status::infeasible);
  EXPECT_EQ(crossed.residual.host()[0], 0.0);
}

/// Contacts of one body with a normal and two friction rows each; redundant beyond two contacts.
Problem contact_problem(Random& random, int contacts) {
  const int n = 3 * contacts;
  Matrix rows(n, 6);
  for (int c = 0; c < contacts; ++c) {
    const Eigen::Vector3d at(random.whole(-1, 1), random.whole(-1, 1), -1.0);
    for (int d = 0; d < 3; ++d) {
      const Eigen::Vector3d direction = Eigen::Vector3d::Unit((d + 2) % 3);
      rows.row(3 * c + d) << direction.transpose(), at.cross(direction).transpose();
    }
  }
  Problem problem;
  problem.matrix = rows * rows.transpose();
  Vector velocity(6);
  for (double& v : velocity) v = random.uniform(-1.0, 1.0);
  problem.vector = rows * velocity;
  problem.lower = Vector::Zero(n);
  problem.upper = Vector::Constant(n, kInfinity);
  for (int i = 0; i < n; ++i) {
    problem.findex.push_back(i % 3 == 0 ? -1 : i - i % 3);
    problem.friction.push_back(i % 3 == 0 ? 0.0 : 0.5);
    if (i % 3 != 0) problem.lower[i] = -kInfinity;
  }
  return problem;
}

TEST(BoxedLcp, FrictionRowsObeyTheirOwnNormalForces) {
  Random random(5);
  int slides = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Problem problem = contact_problem(random, 4 + 2 * (trial % 2));
    const BoxedLcpResult result = solve_boxed_lcp(batch_of({problem}));
    ASSERT_EQ(result.status.host()[0], Status::solved) << trial;
    const double* z = result.solution.data();
    EXPECT_LE(law_error(problem, z), 1e-9);
    EXPECT_EQ(result.limit_error.host()[0], 0.0);
    for (std::size_t i = 0; i < problem.findex.size(); ++i) {
      if (problem.findex[i] < 0) continue;
      EXPECT_EQ(result.limit.host()[i], 0.5 * z[problem.findex[i]]);
      slides += z[i] != 0.0 && std::fabs(z[i]) == result.limit.host()[i] ? 1 : 0;
    }
  }
  EXPECT_GT(slides, 100);
}

/// The law of ODE's dSolveLCP by its definition: the box from the rows without index, solved alone.
TEST(BoxedLcp, LimitsAreFrozenAsOdeHasThem) {
  Random random(9);
  BoxedLcpSettings settings;
  settings.friction_law = FrictionLaw::ode;
  double largest = 0.0;
  for (int trial = 0; trial < 100; ++trial) {
    Problem problem = contact_problem(random, 4);
    problem.matrix.diagonal().array() += 10.0;  // dominant: every box has one answer
    const BoxedLcpResult result = solve_boxed_lcp(batch_of({problem}), settings);
    ASSERT_EQ(result.status.host()[0], Status::solved);
    Problem frozen = problem;
    frozen.findex.clear();
    for (int i = 0; i < problem.order(); ++i) {
      if (i % 3 != 0) frozen.lower[i] = frozen.upper[i] = 0.0;
    }
    const BoxedLcpResult normals = solve_boxed_lcp(batch_of({frozen}));
    double most = 0.0, error = 0.0;
    for (int i = 0; i < problem.order(); ++i) {
      if (i % 3 == 0) continue;
      const int j = i - i % 3;
      const double limit = 0.5 * normals.solution.host()[static_cast<std::size_t>(j)];
      const double own = 0.5 * result.solution.host()[static_cast<std::size_t>(j)];
      EXPECT_NEAR(result.limit.host()[static_cast<std::size_t>(i)], limit, 1e-15);
      frozen.lower[i] = -limit;
      frozen.upper[i] = limit;
      most = std::max({most, limit, own});
      error = std::max(error, std::fabs(own - limit));
    }
    const BoxedLcpResult again = solve_boxed_lcp(batch_of({frozen}));
    for (std::size_t i = 0; i < again.solution.size(); ++i) {
      EXPECT_NEAR(result.solution.host()[i], again.solution.host()[i], 1e-12);
    }
    const double said = result.limit_error.host()[0];
    EXPECT_NEAR(said, most > 0.0 ? error / most : 0.0, 1e-12);
    largest = std::max(largest, said);
  }
  EXPECT_GT(largest, 1e-3);
}

TEST(BoxedLcp, ContactsThatPressAgainstEachOtherAreNamed) {
  // Two walls that close on a slab; friction on the first.
  const Problem problem{.matrix = Matrix{{1, -1, 0}, {-1, 1, 0}, {0, 0, 1}},
                        .vector = Vector{{-1, -1, 0.2}},
                        .lower = Vector{{0, 0, -kInfinity}},
                        .upper = Vector::Constant(3, kInfinity),
                        .findex = {-1, -1, 0},
                        .friction = {0.0, 0.0, 0.5}};
  for (const Backend backend : {Backend::cpu, Backend::reference}) {
    const BoxedLcpResult result = solve_boxed_lcp(batch_of({problem}), {}, backend);
    ASSERT_EQ(result.status.host()[0], Status::infeasible);
    const auto y = result.farkas.host();
    EXPECT_GT(y[0], 0.0);
    EXPECT_EQ(y[0], y[1]);
    EXPECT_EQ(y[2], 0.0);
    EXPECT_TRUE(std::isnan(result.solution.host()[0]));
  }
}

TEST(BoxedLcp, ReferenceSaysTheSame) {
  Random random(3);
  for (int trial = 0; trial < 200; ++trial) {
    const Kind kind = trial % 2 == 0 ? Kind::semidefinite : Kind::skew;
    const Problem problem = integer_problem(random, 4, kind);
    const BoxedLcpResult own = solve_boxed_lcp(batch_of({problem}));
    const BoxedLcpResult other = solve_boxed_lcp(batch_of({problem}), {}, Backend::reference);
    EXPECT_EQ(own.status.host()[0], other.status.host()[0]) << trial;
    if (other.status.host()[0] == Status::solved) {
      EXPECT_LE(law_error(problem, other.solution.data()), 1e-9);
    }
  }
}

TEST(BoxedLcp, ProblemsOnWhichOthersFailed) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::data_folder() / "boxed_lcp")) {
    SCOPED_TRACE(entry.path().filename());
    const nlohmann::json json = nlohmann::json::parse(std::ifstream(entry.path()));
    if (entry.path().stem() == "closing_walls" || entry.path().stem() == "no_side") {
      continue;  // have no answer
    }
    const auto n = static_cast<Eigen::Index>(json["q"].size());
    Problem problem;
    problem.matrix.resize(n, n);
    problem.vector.resize(n);
    problem.lower.resize(n);
    problem.upper.resize(n);
    problem.findex = json["findex"].get<std::vector<int>>();
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      for (Eigen::Index j = 0; j < n; ++j) {
        problem.matrix(i, j) = json["M"][k][static_cast<std::size_t>(j)];
      }
      problem.vector[i] = json["q"][k];
      const bool rubs = problem.findex[k] >= 0;
      problem.friction.push_back(rubs ? json["hi"][k].get<double>() : 0.0);
      problem.lower[i] = rubs ? -kInfinity : json["lo"][k].get<double>();
      problem.upper[i] = kInfinity;
    }
    const BoxedLcpResult result = solve_boxed_lcp(batch_of({problem}));
    EXPECT_EQ(result.status.host()[0], Status::solved);
    EXPECT_LE(result.residual.host()[0], 1e-15);
    EXPECT_LE(law_error(problem, result.solution.data()), 1e-9);
    ++files;
  }
  EXPECT_EQ(files, 3);
}

// Diodes: free unknowns whose equations are singular, complementarity that is not monotone.
TEST(DecideBoxedLcp, CircuitsOfOthers) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::data_folder() / "mixed_lcp")) {
    SCOPED_TRACE(entry.path().filename());
    const nlohmann::json json = nlohmann::json::parse(std::ifstream(entry.path()));
    const auto n = static_cast<Eigen::Index>(json["q"].size());
    const auto bound = [](const nlohmann::json& value, double absent) {
      return value.is_null() ? absent : value.get<double>();
    };
    Problem problem{Matrix(n, n), Vector(n), Vector(n), Vector(n)};
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      for (Eigen::Index j = 0; j < n; ++j) {
        problem.matrix(i, j) = json["M"][k][static_cast<std::size_t>(j)];
      }
      problem.vector[i] = json["q"][k];
      problem.lower[i] = bound(json["lo"][k], -kInfinity);
      problem.upper[i] = bound(json["hi"][k], kInfinity);
    }
    expect_decided(problem, json["expected_status"] == "solved");
    ++files;
  }
  EXPECT_EQ(files, 6);
}

TEST(DecideBoxedLcp, TreesOfFrictionRowsAndNoneThatIsChanged) {
  // |z_1| <= z_0, w_0 = 5 (z_0 + z_1) - 4 and w_1 = w_0 + 1: z_1 = z_0 asks for w_1 <= 0, and w_0
  // is -1 then; w_1 = 0 has w_0 = -1, too; z_1 = -z_0 has w_0 = -4.
  Problem problem{
      Matrix::Constant(2, 2, 5.0), Vector(2), Vector(2), Vector(2), {-1, 0}, {0.0, 1.0}};
  problem.vector << -4, -3;
  problem.lower << 0, -kInfinity;
  problem.upper << kInfinity, kInfinity;
  const BoxedLcpBatch batch = batch_of({problem});
  const LcpDecision decision = decide_boxed_lcp(batch).front();
  ASSERT_EQ(decision.status, Status::infeasible);
  EXPECT_EQ(decision.bound, kInfinity);
  ASSERT_EQ(decision.tree.size(), 4U);
  ASSERT_EQ(decision.leaf_farkas.front().size(), 4U);
  const certificate::BoxedLcpData data = data_of(batch);
  EXPECT_LE(boxed_lcp_tree_residual(data, decision), 1e-12);
  LcpDecision changed = decision;
  changed.tree.pop_back();
  EXPECT_EQ(boxed_lcp_tree_residual(data, changed), kInfinity);
  changed = decision;
  for (double& y : changed.leaf_farkas.back()) y = -y;
  EXPECT_EQ(boxed_lcp_tree_residual(data, changed), kInfinity);
  changed = decision;
  changed.leaf_farkas.pop_back();
  EXPECT_EQ(boxed_lcp_tree_residual(data, changed), kInfinity);
  changed = decision;
  changed.tree.back().side = changed.tree[1].side;
  EXPECT_EQ(boxed_lcp_tree_residual(data, changed), kInfinity);
  // with less of q_0 z_1 = z_0 is an answer
  problem.vector[0] = -2.0;
  expect_decided(problem, true);
  const BoxedLcpBatch other = batch_of({problem});
  EXPECT_EQ(boxed_lcp_tree_residual(data_of(other), decision), kInfinity);
}

// Row 0 asks for z_0 = 3. That column 0 is zero does not make another z_0 as good, least of all
// where row 1 is friction of it.
TEST(BoxedLcp, UnknownsInNoRowHaveTheirBoundsToo) {
  Problem problem{Matrix::Zero(2, 2), Vector(2), Vector(2), Vector(2), {-1, 0}, {0.0, 0.25}};
  problem.matrix(1, 1) = -3.0;
  problem.vector << -3, -1;
  problem.lower << 0, -kInfinity;
  problem.upper << 3, kInfinity;
  const BoxedLcpBatch batch = batch_of({problem});
  std::vector<double> memory(static_cast<std::size_t>(certificate::boxed_lcp_judge_workspace(2)));
  certificate::BoxedLcpJudge judge(data_of(batch), memory.data());
  const double wrong[] = {0.0, 0.0}, right[] = {3.0, 0.75};
  EXPECT_GE(judge.residual(wrong), 0.5);
  EXPECT_EQ(judge.residual(right), 0.0);
  expect_decided(problem, true);
}

// z_1 is felt by rounding errors only: its other end was as good as its own.
TEST(BoxedLcp, UnknownsThatOnlyRoundingFeelsHaveTheirBoundsToo) {
  constexpr double kNoise = 0x1p-52;
  Problem problem{Matrix(4, 4), Vector(4), Vector(4), Vector(4)};
  problem.matrix << 1, 0, -kNoise, 1, kNoise, 0, 0, -kNoise, 0, 0, 4, 4, 1, kNoise, 4, 5;
  problem.vector << -2, 2, 1, -1;
  problem.lower << -1, -1, -1, -kInfinity;
  problem.upper << kInfinity, 2, 2, kInfinity;
  const BoxedLcpBatch batch = batch_of({problem});
  std::vector<double> memory(static_cast<std::size_t>(certificate::boxed_lcp_judge_workspace(4)));
  certificate::BoxedLcpJudge judge(data_of(batch), memory.data());
  const double wrong[] = {1.25, 2.0, -1.0, 0.75}, right[] = {1.25, -1.0, -1.0, 0.75};
  EXPECT_GE(judge.residual(wrong), 0.5);
  EXPECT_LE(judge.residual(right), 1e-15);
  expect_decided(problem, true);
}

// Beside row 0's terms the two limits of friction in row 2 are as good as the same; row 2 tells
// them apart.
TEST(BoxedLcp, LimitsOfFrictionThatOnlyLargeRowsFeelAreTwo) {
  constexpr double kSmall = 0x1p-37;
  Problem problem{Matrix(3, 3), Vector(3),      Vector::Zero(3), Vector::Constant(3, kInfinity),
                  {-1, -1, 0},  {0.0, 0.0, 0.5}};
  problem.matrix << 1, -1, kSmall, kSmall, 0, 0, kSmall, -kSmall, 0;
  problem.vector << 0, -4, -2;
  const BoxedLcpBatch batch = batch_of({problem});
  std::vector<double> memory(static_cast<std::size_t>(certificate::boxed_lcp_judge_workspace(3)));
  certificate::BoxedLcpJudge judge(data_of(batch), memory.data());
  const double wrong[] = {0x1p39, 0x1p39 - 2.0, -0x1p38}, right[] = {0x1p39, 0x1p39 + 2.0, 0x1p38};
  EXPECT_NEAR(judge.residual(wrong), 0.2, 1e-10);
  EXPECT_LE(judge.residual(right), 1e-15);
}

TEST(BoxedLcp, WrongAnswersAreSeen) {
  Random random(13);
  std::vector<double> memory(static_cast<std::size_t>(certificate::boxed_lcp_judge_workspace(12)));
  for (int trial = 0; trial < 50; ++trial) {
    const Problem problem = contact_problem(random, 4);
    const BoxedLcpBatch batch = batch_of({problem});
    const BoxedLcpResult result = solve_boxed_lcp(batch);
    const certificate::BoxedLcpData data{12,
                                         batch.matrix.data(),
                                         batch.vector.data(),
                                         batch.lower.data(),
                                         batch.upper.data(),
                                         batch.findex.data(),
                                         batch.friction.data()};
    certificate::BoxedLcpJudge judge(data, memory.data());
    std::vector<double> z(result.solution.host().begin(), result.solution.host().end());
    EXPECT_LE(judge.residual(z.data()), 1e-9);
    for (std::size_t i = 0; i < z.size(); ++i) {
      const double right = z[i];
      for (const double change : {1e-4, -1e-4}) {
        z[i] = right + change;
        EXPECT_GT(judge.residual(z.data()), 1e-9) << trial << ", " << i;
      }
      z[i] = right;
    }
  }
}

TEST(BoxedLcp, ABadProblemHarmsNoNeighbour) {
  Random random(17);
  std::vector<Problem> problems;
  for (int p = 0; p < 40; ++p) problems.push_back(integer_problem(random, 5, Kind::semidefinite));
  BoxedLcpSettings one;
  one.threads = 1;
  const BoxedLcpResult good = solve_boxed_lcp(batch_of(problems), one);
  problems[7].vector[2] = std::nan("");
  problems[8].matrix(0, 1) = kInfinity;
  problems[9].lower[0] = kInfinity;
  const BoxedLcpResult mixed = solve_boxed_lcp(batch_of(problems));
  for (std::size_t p = 0; p < problems.size(); ++p) {
    if (p >= 7 && p <= 9) {
      EXPECT_EQ(mixed.status.host()[p], Status::invalid_input);
      continue;
    }
    EXPECT_EQ(mixed.status.host()[p], good.status.host()[p]);
    EXPECT_EQ(std::memcmp(mixed.solution.data() + 5 * p, good.solution.data() + 5 * p,
                          5 * sizeof(double)),
              0);
  }
}

TEST(BoxedLcp, Refusals) {
  Random random(1);
  const Problem good = contact_problem(random, 2);
  const auto say = [](const Problem& problem) {
    return refusal([&] { solve_boxed_lcp(batch_of({problem})); });
  };
  Problem bad = good;
  bad.findex[1] = 9;
  expect_names(say(bad), {"findex[1]", "problem 0", "9"});
  bad = good;
  bad.findex[1] = 2;
  expect_names(say(bad), {"findex[1]", "without friction index"});
  bad = good;
  bad.friction[2] = -0.5;
  expect_names(say(bad), {"friction[2]", "-0.5"});
  bad = good;
  bad.lower[0] = -1.0;
  expect_names(say(bad), {"lower[0]", "-1", ">= 0"});
  bad = good;
  bad.upper[1] = 2.0;
  expect_names(say(bad), {"upper[1]", "2", "infinity"});
  BoxedLcpBatch batch = batch_of({good});
  batch.friction = {};
  expect_names(refusal([&] { solve_boxed_lcp(batch); }), {"friction", "go together"});
  Problem large = contact_problem(random, 24);
  expect_names(say(large), {"order", "168", "128"});
}

LcpBatch lcp_of(int order, const std::vector<double>& matrix, const std::vector<double>& vector) {
  LcpBatch batch;
  batch.problems = 1;
  batch.order = order;
  batch.matrix = Buffer<double>::from(matrix);
  batch.vector = Buffer<double>::from(vector);
  return batch;
}

TEST(DecideLcp, ATreeProvesWhatTheInequalitiesDoNot) {
  // w = (1 + 2 z2, z1 - 3 z2 - 3): points there are, but z1 > 0 wants z2 = -1/2
  const std::vector<double> matrix = {0, 2, 1, -3}, vector = {1, -3};
  const LcpDecision decision = decide_lcp(lcp_of(2, matrix, vector)).front();
  ASSERT_EQ(decision.status, Status::infeasible);
  EXPECT_EQ(decision.bound, kInfinity);
  ASSERT_GE(decision.tree.size(), 3U);
  EXPECT_EQ(2 * decision.leaf_farkas.size(), decision.tree.size() + 1);
  EXPECT_LE(lcp_tree_residual(2, matrix.data(), vector.data(), decision), 1e-12);
  LcpDecision changed = decision;
  changed.tree.back().side ^= 1;
  EXPECT_EQ(lcp_tree_residual(2, matrix.data(), vector.data(), changed), kInfinity);
  changed = decision;
  changed.tree.pop_back();
  EXPECT_EQ(lcp_tree_residual(2, matrix.data(), vector.data(), changed), kInfinity);
  changed = decision;
  changed.leaf_farkas.pop_back();
  EXPECT_EQ(lcp_tree_residual(2, matrix.data(), vector.data(), changed), kInfinity);
  changed = decision;
  for (double& y : changed.leaf_farkas.front()) y = -y;
  EXPECT_EQ(lcp_tree_residual(2, matrix.data(), vector.data(), changed), kInfinity);
  // the same tree does not fit a problem that has an answer
  const std::vector<double> other = {1, 3};
  EXPECT_EQ(lcp_tree_residual(2, matrix.data(), other.data(), decision), kInfinity);
}

TEST(DecideLcp, RaysOfSolvableProblemsEndInAnswers) {
  // three answers, and a ray on Lemke's path (Cottle, Pang, Stone 2009)
  const std::vector<double> matrix = {0, 0, 10, 20, 0, 0, 30, 15, 10, 20, 0, 0, 30, 15, 0, 0};
  const std::vector<double> vector(4, -1.0);
  const LcpDecision decision = decide_lcp(lcp_of(4, matrix, vector)).front();
  ASSERT_EQ(decision.status, Status::solved);
  for (std::size_t i = 0; i < 4; ++i) {
    double w = vector[i];
    for (std::size_t j = 0; j < 4; ++j) w += matrix[4 * i + j] * decision.solution[j];
    EXPECT_GE(w, -1e-12);
    EXPECT_NEAR(w * decision.solution[i], 0.0, 1e-12);
  }
  LcpDecisionSettings settings;
  settings.max_nodes = -1;
  expect_names(refusal([&] { decide_lcp(lcp_of(4, matrix, vector), settings); }),
               {"max_nodes", "-1"});
}

// Costs A and B' of two players and q = -1. From z = 0 every path ends on a ray.
TEST(DecideLcp, GamesOfTwoPlayersHaveEquilibria) {
  std::mt19937_64 random(7);
  LcpDecisionSettings settings;
  settings.max_nodes = 0;  // no tree
  const auto expect_equilibrium = [&](int first, int second, const auto& cost) {
    SCOPED_TRACE(std::to_string(first) + " x " + std::to_string(second));
    const int n = first + second;
    std::vector<double> matrix(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        const bool others = (i < first) != (j < first);
        matrix[static_cast<std::size_t>(i * n + j)] = others ? cost(i, j) : 0.0;
      }
    }
    const std::vector<double> vector(static_cast<std::size_t>(n), -1.0);
    EXPECT_EQ(solve_lcp(lcp_of(n, matrix, vector)).status.host()[0], Status::ray);
    const LcpDecision decision = decide_lcp(lcp_of(n, matrix, vector), settings).front();
    ASSERT_EQ(decision.status, Status::solved);
    EXPECT_EQ(decision.nodes, 0);
    for (int i = 0; i < n; ++i) {
      double w = -1.0;
      for (int j = 0; j < n; ++j) {
        w += matrix[static_cast<std::size_t>(i * n + j)] *
             decision.solution[static_cast<std::size_t>(j)];
      }
      const double z = decision.solution[static_cast<std::size_t>(i)];
      EXPECT_GE(z, 0.0);
      EXPECT_GE(w, -1e-12);
      EXPECT_NEAR(w * z, 0.0, 1e-12);
    }
  };
  std::uniform_real_distribution<double> real(0.1, 1.1);
  std::uniform_int_distribution<int> whole(1, 4);  // degenerate
  for (const auto& [first, second] : {std::pair(1, 1), {2, 3}, {5, 4}, {9, 9}, {20, 24}}) {
    expect_equilibrium(first, second, [&](int, int) { return real(random); });
    expect_equilibrium(first, second, [&](int, int) { return 1.0 * whole(random); });
    expect_equilibrium(first, second, [&](int i, int) { return std::ldexp(real(random), 2 * i); });
  }
}

}  // namespace
}  // namespace carom
