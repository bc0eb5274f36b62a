#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>

#include <carom/qp.hpp>

#include "support/cone_problems.hpp"
#include "support/from_environment.hpp"

// Quadratic programs with second-order cones whose verdicts are planted, sheared, in random units
// and beside huge numbers, through the public function: no verdict is wrong, and few are missing.
// CAROM_TRUST_PROBLEMS sets how many there are of each verdict, CAROM_TRUST_SEED the seed.
namespace carom {
namespace {

using test::ConeGenerator;
using test::ConeProblem;
using test::ConeVerdict;

Status status_of(ConeVerdict verdict) {
  return verdict == ConeVerdict::solved      ? Status::solved
         : verdict == ConeVerdict::unbounded ? Status::unbounded
                                             : Status::infeasible;
}

/// The terms of the objective at x, added up by their magnitudes.
double terms_of(const ConeProblem& problem, const double* x) {
  double terms = std::abs(problem.objective);
  for (int i = 0; i < problem.n; ++i) {
    terms += std::abs(problem.vector[static_cast<std::size_t>(i)] * x[i]);
    for (int j = 0; j < problem.n; ++j) terms += std::abs(0.5 * problem.p(i, j) * x[i] * x[j]);
  }
  return terms;
}

struct Attempt {
  const char* name;
  QpMethod method;
  Backend backend;
  int fewer;       ///< divides the number of problems
  double missing;  ///< share without a verdict at most
};

class Cones : public ::testing::TestWithParam<Attempt> {};

TEST_P(Cones, AreWhatTheyWerePlantedAs) {
  const Attempt& attempt = GetParam();
  const int problems = test::from_environment("CAROM_TRUST_PROBLEMS", 1000) / attempt.fewer;
  const auto seed = static_cast<std::uint64_t>(test::from_environment("CAROM_TRUST_SEED", 1));
  QpSettings settings;
  settings.method = attempt.method;
  settings.threads = 1;
  int open = 0;
  for (const ConeVerdict verdict : {ConeVerdict::solved, ConeVerdict::infeasible,
                                    ConeVerdict::unbounded, ConeVerdict::doubly_infeasible}) {
    ConeGenerator generator(seed * 1000 + static_cast<std::uint64_t>(verdict));
    for (int p = 0; p < problems; ++p) {
      const ConeProblem problem = generator.problem(verdict);
      const QpResult result = solve_qp(problem.batch(), settings, attempt.backend);
      const Status status = result.status.host()[0];
      const bool claimed = status == Status::solved || status == Status::infeasible ||
                           status == Status::unbounded || status == Status::nonconvex;
      if (!claimed) {
        ++open;
        continue;
      }
      EXPECT_EQ(status, status_of(verdict)) << p;
      EXPECT_LE(result.residual.host()[0], settings.tolerance) << p;
      if (status == Status::solved && verdict == ConeVerdict::solved) {
        EXPECT_NEAR(result.objective.host()[0], problem.objective,
                    1e-6 * terms_of(problem, result.solution.data()))
            << p;
      }
    }
  }
  EXPECT_LE(open, 2 + static_cast<int>(attempt.missing * 4 * problems));
  RecordProperty("open", open);
}

INSTANTIATE_TEST_SUITE_P(
    Methods, Cones,
    ::testing::Values(Attempt{"automatic", QpMethod::automatic, Backend::cpu, 1, 0.002},
                      Attempt{"interior_point", QpMethod::interior_point, Backend::cpu, 1, 0.002},
                      Attempt{"admm", QpMethod::admm, Backend::cpu, 20, 0.002},
                      // It may give up; what it says is right.
                      Attempt{"reference", QpMethod::automatic, Backend::reference, 10, 0.5}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace carom
