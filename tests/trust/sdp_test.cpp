#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <carom/sdp.hpp>

#include "support/from_environment.hpp"
#include "support/random_sdps.hpp"

// A longer run: CAROM_TRUST_SDPS=100000 CAROM_TRUST_SEED=2 test_trust --gtest_filter='SdpTrust.*'

namespace carom {
namespace {

using test::Planted;

enum class Truth { optimal, infeasible, unbounded, unknown };

struct Case {
  const char* name;
  Truth truth;
  double decided;  ///< least share that gets the true status
};
constexpr Case kCases[] = {
    {"interiors", Truth::optimal, 0.999},
    {"interiors, units 1e6 apart", Truth::optimal, 0.9},
    {"no dual interior", Truth::optimal, 0.9},
    {"no interior", Truth::optimal, 0.5},
    {"equality as two inequalities", Truth::optimal, 0.3},
    {"redundant variables", Truth::optimal, 0.99},
    {"no interior, units 1e3 apart", Truth::optimal, 0.3},
    {"infeasible", Truth::infeasible, 0.99},
    {"infeasible, units 1e6 apart", Truth::infeasible, 0.9},
    {"infeasible by a singular matrix", Truth::infeasible, 0.3},
    {"contradicting equalities", Truth::infeasible, 0.9},
    {"unbounded", Truth::unbounded, 0.99},
    {"unbounded, units 1e6 apart", Truth::unbounded, 0.9},
    {"unbounded along a face", Truth::unbounded, 0.3},
    {"feasible far away", Truth::optimal, 0.3},
    {"infeasible and not bounded either", Truth::infeasible, 0.5},
};

Planted made(std::size_t kind, std::uint64_t seed) {
  static const std::vector<int> kSizes[] = {{1, 1, 2, 3}, {1, 1, 4},       {1, 1, 1, 1, 1},
                                            {1, 1, 6, 2}, {1, 1, 3, 3, 3}, {1, 1, 12}};
  const std::vector<int>& sizes = kSizes[seed % 6];
  int most = 0;
  for (const int n : sizes) most += n * (n + 1) / 2;
  const int variables = 1 + static_cast<int>(seed / 6 % static_cast<std::uint64_t>(most - 2));
  Planted p(seed * 64 + kind, sizes, std::max(variables, 2));
  const std::string name = kCases[kind].name;
  const bool thin = name.rfind("no interior", 0) == 0;
  if (name == "redundant variables") p.repeat(1);
  if (name == "equality as two inequalities" || name == "contradicting equalities") p.oppose(0);
  switch (kCases[kind].truth) {
    case Truth::optimal: {
      auto slack = p.matrices(thin ? 1 : 0);
      if (name == "equality as two inequalities") slack[0] = slack[1] = 0.0;
      auto y = p.numbers();
      if (name == "feasible far away") {
        for (double& v : y) v *= 1e4;
      }
      p.feasible(y, slack);
      p.bounded(p.matrices(thin || name == "no dual interior" ? 1 : 0));
      break;
    }
    case Truth::infeasible: {
      p.problem.constant = p.matrices(0);
      for (double& b : p.problem.objective) b = p.number();
      if (name == "contradicting equalities") {  // f = 1 and f = 2
        p.problem.constant[0] = -2.0, p.problem.constant[1] = 1.0;
      } else {
        if (name == "infeasible and not bounded either") p.ascend(p.matrices(0), 1.0);
        p.refute(p.matrices(name == "infeasible by a singular matrix" ? 1 : 0), 0.5);
      }
      break;
    }
    default: {
      for (double& b : p.problem.objective) b = p.number();
      p.ascend(p.matrices(name == "unbounded along a face" ? 1 : 0), 1.0);
      p.feasible(p.numbers(), p.matrices(0));
    }
  }
  if (name.find("1e6") != std::string::npos) p.rescale(3.0);
  if (name.find("1e3") != std::string::npos) p.rescale(1.5);
  return p;
}

double size_of(const std::vector<double>& values) {
  double size = 0.0;
  for (const double v : values) size = std::max(size, std::fabs(v));
  return size;
}

/// What a status says, recomputed with Eigen.
void expect_said(const Planted& p, const SdpResult& r, const std::string& where) {
  const std::size_t m = p.problem.objective.size();
  if (r.status == Status::solved) {
    const double c = 1.0 + size_of(p.problem.constant), b = 1.0 + size_of(p.problem.objective);
    EXPECT_GE(p.least_slack(r.y, true), -2e-8 * c) << where;
    EXPECT_GE(p.least_of_x(r.x), -2e-8 * (1.0 + size_of(r.x))) << where;
    double objective = 0.0;
    for (std::size_t i = 0; i < m; ++i) {
      const double off = p.trace(p.problem.coefficients, i * p.size(), r.x);
      EXPECT_NEAR(off, p.problem.objective[i], 2e-8 * b) << where;
      objective += p.problem.objective[i] * r.y[i];
    }
    const double dual = p.trace(p.problem.constant, 0, r.x);
    EXPECT_NEAR(dual, objective, 2e-8 * (1.0 + std::fabs(dual) + std::fabs(objective))) << where;
  } else if (r.status == Status::infeasible) {
    EXPECT_NEAR(p.trace(p.problem.constant, 0, r.x), -1.0, 1e-6) << where;
    EXPECT_GE(p.least_of_x(r.x), -1e-9 * (1.0 + size_of(r.x))) << where;
    for (std::size_t i = 0; i < m; ++i) {
      double size = 0.0;
      for (std::size_t k = 0; k < p.size(); ++k) {
        size += std::fabs(p.problem.coefficients[i * p.size() + k] * r.x[k]);
      }
      EXPECT_LE(std::fabs(p.trace(p.problem.coefficients, i * p.size(), r.x)), 1e-9 * (1.0 + size))
          << where;
    }
  } else if (r.status == Status::unbounded) {
    double along = 0.0, size = 0.0;
    for (std::size_t i = 0; i < m; ++i) {
      along += p.problem.objective[i] * r.ray[i];
      for (std::size_t k = 0; k < p.size(); ++k) {
        size = std::max(size, std::fabs(p.problem.coefficients[i * p.size() + k] * r.ray[i]));
      }
    }
    EXPECT_NEAR(along, 1.0, 1e-6) << where;
    EXPECT_GE(p.least_slack(r.ray, false), -1e-9 * (1.0 + size)) << where;
    EXPECT_GE(p.least_slack(r.y, true), -1e-6 * (1.0 + size_of(p.problem.constant))) << where;
  } else if (r.status != Status::inaccurate) {
    EXPECT_TRUE(std::isnan(r.y[0])) << where;
  }
}

TEST(SdpTrust, NoStatusIsFalse) {
  const int each = test::from_environment("CAROM_TRUST_SDPS", 4000) / 16;
  const auto seed = static_cast<std::uint64_t>(test::from_environment("CAROM_TRUST_SEED", 1));
  for (std::size_t kind = 0; kind < std::size(kCases); ++kind) {
    const Case& of = kCases[kind];
    std::vector<Planted> planted;
    std::vector<SdpProblem> problems;
    for (int k = 0; k < each; ++k) {
      planted.push_back(made(kind, seed * 1000003 + static_cast<std::uint64_t>(k)));
      problems.push_back(planted.back().problem);
    }
    const auto results = solve_sdps(problems);
    double coarsest = 0.0;
    int right = 0, wrong = 0, iterations = 0, seen[10] = {};
    for (std::size_t k = 0; k < results.size(); ++k) {
      const SdpResult& r = results[k];
      const std::string where = std::string(of.name) + " " + std::to_string(k);
      ++seen[static_cast<int>(r.status)];
      iterations += r.iterations;
      if (r.status == Status::inaccurate) coarsest = std::max(coarsest, r.residual);
      expect_said(planted[k], r, where);
      const Status truth =
          of.truth == Truth::optimal
              ? Status::solved
              : (of.truth == Truth::infeasible ? Status::infeasible : Status::unbounded);
      const bool claims = r.status == Status::solved || r.status == Status::infeasible ||
                          r.status == Status::unbounded;
      right += r.status == truth ? 1 : 0;
      wrong += claims && r.status != truth ? 1 : 0;
      EXPECT_FALSE(claims && r.status != truth) << where << ": " << to_string(r.status);
    }
    std::printf("%-34s right %5.1f %%, false %d, %.1f iterations, residuals to %.0e;", of.name,
                100.0 * right / each, wrong, static_cast<double>(iterations) / each, coarsest);
    for (std::size_t s = 0; s < 10; ++s) {
      if (seen[s] > 0) {
        std::printf(" %s %d", std::string(to_string(static_cast<Status>(s))).c_str(), seen[s]);
      }
    }
    std::printf("\n");
    EXPECT_GE(right, of.decided * each) << of.name;
  }
}

}  // namespace
}  // namespace carom
