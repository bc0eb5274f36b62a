#include "reference/programs/lemke.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <carom/certificate_lcp.hpp>

#include "programs/lcp/backends.hpp"
#include "support/folders.hpp"

namespace carom::reference {
namespace {

struct Case {
  std::string name;
  Matrix matrix;
  Vector vector;
  std::string outcome;  // exact_lemke.outcome
  std::vector<Vector> basic_solutions;
  Vector exact;  // exact_lemke.z, empty on a ray
};

Vector to_vector(const nlohmann::json& values) {
  Vector result(static_cast<int>(values.size()));
  for (int i = 0; i < result.size(); ++i) result[i] = values[i].get<double>();
  return result;
}

std::vector<Case> load_cases() {
  std::vector<Case> cases;
  for (const auto& entry : std::filesystem::directory_iterator(test::data_file("lcp"))) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream stream(entry.path());
    const nlohmann::json document = nlohmann::json::parse(stream);
    Case item;
    item.name = document.at("name");
    const int n = document.at("n");
    item.matrix.resize(n, n);
    for (int i = 0; i < n; ++i) item.matrix.row(i) = to_vector(document.at("M")[i]);
    item.vector = to_vector(document.at("q"));
    item.outcome = document.at("exact_lemke").at("outcome");
    if (item.outcome == "solved") item.exact = to_vector(document.at("exact_lemke").at("z"));
    if (document.contains("all_basic_solutions")) {
      for (const auto& z : document["all_basic_solutions"]) {
        item.basic_solutions.push_back(to_vector(z));
      }
    }
    cases.push_back(std::move(item));
  }
  return cases;
}

TEST(Lemke, AgreesWithExactArithmeticOnPublishedProblems) {
  const std::vector<Case> cases = load_cases();
  ASSERT_EQ(cases.size(), 35U);
  int rays = 0;
  for (const Case& item : cases) {
    SCOPED_TRACE(item.name);
    const LemkeOutcome outcome = lemke(item.matrix, item.vector, 1e-9);
    ASSERT_EQ(to_string(outcome.status), item.outcome);
    if (item.outcome == "ray") {
      ++rays;
      EXPECT_TRUE(std::isnan(outcome.solution[0]));
      continue;
    }
    EXPECT_LE(outcome.residual, 1e-13);
    EXPECT_EQ(outcome.residual,
              certificate::lcp_residual(static_cast<int>(item.vector.size()), item.matrix.data(),
                                        item.vector.data(), outcome.solution.data()));
    const double scale = item.exact.cwiseAbs().maxCoeff();
    EXPECT_LE((outcome.solution - item.exact).cwiseAbs().maxCoeff(), 1e-6 * scale);
    if (item.basic_solutions.empty()) continue;
    double nearest = std::numeric_limits<double>::infinity();
    for (const Vector& z : item.basic_solutions) {
      nearest = std::min(nearest, (outcome.solution - z).cwiseAbs().maxCoeff());
    }
    EXPECT_LE(nearest, 1e-6 * scale);
  }
  EXPECT_EQ(rays, 3);
}

TEST(Lemke, TakesNoPivotWhereZeroSolves) {
  const LemkeOutcome outcome = lemke(-Matrix::Identity(3, 3), Vector::Zero(3), 1e-9);
  EXPECT_EQ(outcome.status, Status::solved);
  EXPECT_EQ(outcome.pivots, 0);
  EXPECT_EQ(outcome.solution, Vector::Zero(3));
}

TEST(Lemke, RefusesWhatIsNotFinite) {
  Matrix matrix = Matrix::Identity(2, 2);
  Vector vector(2);
  vector << 1.0, std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(lemke(matrix, vector, 1e-9).status, Status::invalid_input);
  vector[1] = -1.0;
  matrix(0, 1) = std::numeric_limits<double>::infinity();
  EXPECT_EQ(lemke(matrix, vector, 1e-9).status, Status::invalid_input);
}

TEST(Lemke, ReportsTheExhaustedPivotLimit) {
  const LemkeOutcome outcome = lemke(Matrix::Identity(6, 6), -Vector::Ones(6), 1e-9, 2);
  EXPECT_EQ(outcome.status, Status::iteration_limit);
  EXPECT_TRUE(std::isnan(outcome.solution[0]));
}

// Positive definite problems have exactly one solution: build it first, then the problem.
TEST(Lemke, FindsTheSolutionOfPositiveDefiniteProblems) {
  std::mt19937_64 generator(7);
  std::normal_distribution<double> normal;
  for (const int n : {1, 2, 5, 13, 40}) {
    for (int trial = 0; trial < 5; ++trial) {
      Matrix factor(n, n);
      for (int i = 0; i < n * n; ++i) factor.data()[i] = normal(generator);
      const Matrix matrix = factor * factor.transpose() + 0.1 * Matrix::Identity(n, n);
      Vector z(n);
      Vector w(n);
      for (int i = 0; i < n; ++i) {
        const double magnitude = std::fabs(normal(generator)) + 0.1;
        const bool active = normal(generator) > 0.0;
        z[i] = active ? magnitude : 0.0;
        w[i] = active ? 0.0 : magnitude;
      }
      const Vector vector = w - matrix * z;
      const LemkeOutcome outcome = lemke(matrix, vector, 1e-9);
      ASSERT_EQ(outcome.status, Status::solved);
      EXPECT_LE((outcome.solution - z).cwiseAbs().maxCoeff(), 1e-8 * (1.0 + z.maxCoeff()));
    }
  }
}

TEST(Lemke, BatchMatchesSingleProblemsAndIsolatesTheBadOne) {
  LcpBatch batch;
  batch.problems = 3;
  batch.order = 2;
  const std::vector<double> matrices = {2, 1, 1, 2, 2, 1, 1, 2, 1, 0, 0, 1};
  std::vector<double> vectors = {-5, -6, -5, -6, -1, 3};
  vectors[2] = std::numeric_limits<double>::quiet_NaN();
  batch.matrix = Buffer<double>::from(matrices);
  batch.vector = Buffer<double>::from(vectors);
  const LcpResult result = reference::solve_lcp(batch, {});
  EXPECT_EQ(result.status.host()[0], Status::solved);
  EXPECT_EQ(result.status.host()[1], Status::invalid_input);
  EXPECT_EQ(result.status.host()[2], Status::solved);
  // 2 z0 + z1 = 5, z0 + 2 z1 = 6
  EXPECT_NEAR(result.solution.host()[0], 4.0 / 3.0, 1e-14);
  EXPECT_NEAR(result.solution.host()[1], 7.0 / 3.0, 1e-14);
  EXPECT_TRUE(std::isnan(result.solution.host()[2]));
  EXPECT_EQ(result.solution.host()[4], 1.0);
  EXPECT_EQ(result.solution.host()[5], 0.0);
}

}  // namespace
}  // namespace carom::reference
