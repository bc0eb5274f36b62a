#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <carom/qp.hpp>

#include "support/from_environment.hpp"
#include "support/ill_posed_cones.hpp"

// Cone programs without interior, by every method: no optimum is wrong, nothing is called solved
// whose optimum is not attained, nothing proven that has no proof, and a missing interior is shown.
// CAROM_TRUST_PROBLEMS sets how many there are of each truth, CAROM_TRUST_SEED the seed.
namespace carom {
namespace {

using test::ConeProblem;
using test::ConeTruth;
using test::IllPosedCone;
using test::IllPosedConeGenerator;

struct IllPosedMethod {
  const char* name;
  QpMethod method;
  Backend backend;
  int fewer;  ///< divides the number of problems
};

class IllPosedCones : public ::testing::TestWithParam<IllPosedMethod> {};

/// A'f over the sizes of its terms, f's support likewise, f outside of its cones.
double face_residual(const ConeProblem& p, const double* f) {
  double worst = 0.0;
  for (int j = 0; j < p.n; ++j) {
    double sum = 0.0, size = 1e-300;
    for (int i = 0; i < p.rows(); ++i) {
      sum += p.a(i, j) * f[i];
      size += std::abs(p.a(i, j) * f[i]);
    }
    worst = std::max(worst, std::abs(sum) / size);
  }
  double support = 0.0, size = 1e-300, most = 0.0;
  for (int i = 0; i < p.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (f[i] == 0.0) continue;
    const double bound = i >= p.intervals || f[i] > 0.0 ? p.upper[row] : p.lower[row];
    if (!std::isfinite(bound)) return 1.0;
    support += bound * f[i];
    size += std::abs(bound * f[i]);
  }
  worst = std::max(worst, std::abs(support) / size);
  int first = p.intervals;
  for (const int count : p.cones) {
    double tail = 0.0;
    for (int i = first + 1; i < first + count; ++i) tail = std::hypot(tail, f[i]);
    worst = std::max(worst, (tail - f[first]) / std::max(std::abs(f[first]), 1e-300));
    most = std::max(most, f[first]);
    first += count;
  }
  return most > 0.0 ? worst : 1.0;
}

void expect_honest(const IllPosedCone& made, const QpResult& result, int& decided) {
  const ConeProblem& p = made.problem;
  const Status status = result.status.host()[0];
  if (status == Status::solved) {
    ASSERT_EQ(made.truth, ConeTruth::attained);
    double terms = std::abs(p.objective);
    for (int i = 0; i < p.n; ++i) {
      const double x = result.solution.host()[static_cast<std::size_t>(i)];
      terms += std::abs(p.vector[static_cast<std::size_t>(i)] * x);
      for (int j = 0; j < p.n; ++j) {
        terms +=
            std::abs(0.5 * p.p(i, j) * x * result.solution.host()[static_cast<std::size_t>(j)]);
      }
    }
    EXPECT_NEAR(result.objective.host()[0], p.objective, 1e-6 * terms);
  } else if (status == Status::infeasible) {
    EXPECT_EQ(made.truth, ConeTruth::infeasible);
  } else if (status == Status::no_interior) {
    EXPECT_NE(made.truth, ConeTruth::infeasible);
    if (std::isnan(result.point.host()[0])) {
      EXPECT_LE(face_residual(p, result.certificate.data()), 1e-12);
    }
  } else {
    EXPECT_TRUE(status == Status::inaccurate || status == Status::numerical_error ||
                status == Status::iteration_limit)
        << to_string(status);
    return;
  }
  ++decided;
}

TEST_P(IllPosedCones, AreNotSaidToBeWhatTheyAreNot) {
  const int problems =
      std::max(test::from_environment("CAROM_TRUST_PROBLEMS", 120) / GetParam().fewer, 1);
  const auto seed = static_cast<std::uint64_t>(test::from_environment("CAROM_TRUST_SEED", 1));
  QpSettings settings;
  settings.method = GetParam().method;
  settings.threads = 1;
  int decided = 0, all = 0;
  for (const ConeTruth truth :
       {ConeTruth::attained, ConeTruth::unattained, ConeTruth::weakly_infeasible,
        ConeTruth::infeasible, ConeTruth::weakly_unbounded}) {
    for (int k = 0; k < problems; ++k, ++all) {
      SCOPED_TRACE(std::to_string(static_cast<int>(truth)) + ", " + std::to_string(k));
      const std::uint64_t own =
          seed * 1000003 + static_cast<std::uint64_t>(k * 8 + static_cast<int>(truth));
      const IllPosedCone made = IllPosedConeGenerator(own).problem(truth);
      const QpResult result = solve_qp(made.problem.batch(), settings, GetParam().backend);
      expect_honest(made, result, decided);
    }
  }
  if (all >= 100) {
    EXPECT_GE(decided, all * 6 / 10);
  }
}

// Three cones that narrow one another: a direction misses them by 5e-30 of its size and falls by
// 2e-3 of it, and there is a least objective.
TEST(IllPosedConeProblem, NoRayWhereConesNarrowOneAnother) {
  const IllPosedCone made =
      IllPosedConeGenerator(11 * 1000003 + 86 * 8).problem(ConeTruth::attained);
  QpSettings settings;
  settings.threads = 1;
  for (const Backend backend : {Backend::cpu, Backend::reference}) {
    int decided = 0;
    expect_honest(made, solve_qp(made.problem.batch(), settings, backend), decided);
  }
}

// min t - s x over t >= x^2 is -s^2 / 4, at a point far along the boundary of one cone.
TEST(FarOnABoundary, ParabolasOfSlopeAThousand) {
  constexpr double kSlope = 1000.0;
  const auto least = [&](const std::vector<double>& matrix, const std::vector<double>& vector) {
    QpBatch batch;
    batch.problems = 1;
    batch.variables = 2;
    batch.hessian = Buffer<double>::from({0, 0, 0, 0});
    batch.vector = Buffer<double>::from({1, -kSlope});
    batch.cone_matrix = Buffer<double>::from(matrix);
    batch.cone_vector = Buffer<double>::from(vector);
    batch.cones = {{ConeKind::second_order, 3}};
    const QpResult result = solve_qp(batch);
    EXPECT_EQ(to_string(result.status.host()[0]), "solved");
    return result.objective.host()[0];
  };
  EXPECT_NEAR(least({-1, 0, 1, 0, 0, -2}, {1, 1, 0}), -kSlope * kSlope / 4, 1e-6);
  EXPECT_NEAR(least({-1, 0, -1, 0, 0, -1}, {0.25, -0.25, 0}), -kSlope * kSlope / 4, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(
    Methods, IllPosedCones,
    ::testing::Values(IllPosedMethod{"automatic", QpMethod::automatic, Backend::cpu, 1},
                      IllPosedMethod{"interior_point", QpMethod::interior_point, Backend::cpu, 4},
                      IllPosedMethod{"admm", QpMethod::admm, Backend::cpu, 12},
                      IllPosedMethod{"reference", QpMethod::automatic, Backend::reference, 20}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace carom
