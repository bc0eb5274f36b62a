#include <carom/sdp.hpp>

#include <gtest/gtest.h>

#include <cmath>

#include "support/message.hpp"
#include "support/random_sdps.hpp"

namespace carom {
namespace {

using test::Programme;

TEST(Sdp, SolvesWhatHasInteriors) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Programme p(seed, {1, 1, 2, 3, 5}, 6);
    // X > 0 gives b, y and S > 0 give C: both programmes have interiors.
    std::vector<double> x;
    for (const int n : p.problem.blocks) Programme::put(x, p.definite(n));
    for (std::size_t i = 0; i < 6; ++i) {
      p.problem.objective[i] = p.trace(p.problem.coefficients, i * p.size(), x);
    }
    std::vector<double> y(6);
    for (double& v : y) v = p.number();
    std::vector<double> s;
    for (const int n : p.problem.blocks) Programme::put(s, p.definite(n));
    p.problem.constant = s;
    for (std::size_t i = 0; i < 6; ++i) {
      for (std::size_t k = 0; k < p.size(); ++k) {
        p.problem.constant[k] += y[i] * p.problem.coefficients[i * p.size() + k];
      }
    }
    const SdpResult r = solve_sdp(p.problem);
    ASSERT_EQ(r.status, Status::solved) << seed;
    EXPECT_GE(p.least_slack(r.y, true), -1e-6);
    EXPECT_GE(p.least_of_x(r.x), -1e-6);
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_NEAR(p.trace(p.problem.coefficients, i * p.size(), r.x), p.problem.objective[i], 1e-5);
    }
    EXPECT_NEAR(p.trace(p.problem.constant, 0, r.x), r.objective,
                1e-6 * (1.0 + std::fabs(r.objective)));
  }
}

TEST(Sdp, ProvesInfeasible) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Programme p(seed, {2, 3, 1}, 4);
    // X > 0 with <A_i, X> = 0 and <C, X> < 0: there is no y.
    std::vector<double> x;
    for (const int n : p.problem.blocks) Programme::put(x, p.definite(n));
    const double xx = p.trace(x, 0, x);
    for (std::size_t i = 0; i < 4; ++i) {
      const double off = p.trace(p.problem.coefficients, i * p.size(), x) / xx;
      for (std::size_t k = 0; k < p.size(); ++k) {
        p.problem.coefficients[i * p.size() + k] -= off * x[k];
      }
      p.problem.objective[i] = p.number();
    }
    for (const int n : p.problem.blocks) Programme::put(p.problem.constant, p.symmetric(n));
    const double off = (p.trace(p.problem.constant, 0, x) + 0.5) / xx;
    for (std::size_t k = 0; k < p.size(); ++k) p.problem.constant[k] -= off * x[k];
    const SdpResult r = solve_sdp(p.problem);
    ASSERT_EQ(r.status, Status::infeasible) << seed;
    EXPECT_GE(p.least_of_x(r.x), -1e-7);
    EXPECT_NEAR(p.trace(p.problem.constant, 0, r.x), -1.0, 1e-9);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(p.trace(p.problem.coefficients, i * p.size(), r.x), 0.0, 1e-7);
    }
    EXPECT_TRUE(std::isnan(r.y[0]));
  }
}

TEST(Sdp, ProvesUnbounded) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Programme p(seed, {2, 3, 1}, 4);
    // d with - sum d A > 0 and b'd > 0, C > 0.
    std::vector<double> s;
    for (const int n : p.problem.blocks) Programme::put(s, p.definite(n));
    std::vector<double> d(4);
    for (double& v : d) v = p.number();
    d[3] = 1.0;
    for (std::size_t k = 0; k < p.size(); ++k) {
      double sum = s[k];
      for (std::size_t i = 0; i < 3; ++i) sum += d[i] * p.problem.coefficients[i * p.size() + k];
      p.problem.coefficients[3 * p.size() + k] = -sum;
    }
    double gain = 0.0;
    for (std::size_t i = 0; i < 3; ++i) {
      p.problem.objective[i] = p.number();
      gain += p.problem.objective[i] * d[i];
    }
    p.problem.objective[3] = 1.0 - gain;
    for (const int n : p.problem.blocks) Programme::put(p.problem.constant, p.definite(n));
    const SdpResult r = solve_sdp(p.problem);
    ASSERT_EQ(r.status, Status::unbounded) << seed;
    EXPECT_GE(p.least_slack(r.ray, false), -1e-7);
    EXPECT_GE(p.least_slack(r.y, true), -1e-6 * (1.0 + std::fabs(r.y[0])));
    double along = 0.0;
    for (std::size_t i = 0; i < 4; ++i) along += p.problem.objective[i] * r.ray[i];
    EXPECT_NEAR(along, 1.0, 1e-9);
  }
}

TEST(Sdp, LeastEigenvalueByHand) {
  // max y over M - y I semidefinite
  SdpProblem p;
  p.blocks = {2};
  p.objective = {1.0};
  p.constant = {2.0, 1.0, 1.0, 2.0};
  p.coefficients = {1.0, 0.0, 0.0, 1.0};
  const SdpResult r = solve_sdp(p);
  ASSERT_EQ(r.status, Status::solved);
  EXPECT_NEAR(r.y[0], 1.0, 1e-7);
  EXPECT_NEAR(r.x[0], 0.5, 1e-6);
  EXPECT_NEAR(r.x[1], -0.5, 1e-6);
}

TEST(Sdp, RefusesByName) {
  SdpProblem p;
  p.blocks = {2};
  p.objective = {1.0};
  p.constant = {2.0, 1.0, 1.0, 2.0};
  p.coefficients = {1.0, 0.0, 0.0, 1.0};
  const auto refused = [&](auto&& spoil) {
    SdpProblem bad = p;
    spoil(bad);
    return test::refusal([&] { solve_sdp(bad); });
  };
  test::expect_names(refused([](auto& b) { b.blocks[0] = 33; }), {"blocks", "33"});
  test::expect_names(refused([](auto& b) { b.constant[1] = 0.5; }), {"constant", "symmetric"});
  test::expect_names(refused([](auto& b) { b.coefficients[0] = NAN; }), {"coefficients"});
  test::expect_names(refused([](auto& b) { b.objective.push_back(1.0); }), {"coefficients"});
}

}  // namespace
}  // namespace carom
