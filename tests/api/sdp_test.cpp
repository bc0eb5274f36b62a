#include <carom/sdp.hpp>

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <cmath>
#include <complex>
#include <random>

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

/// x' = a x + b u, y = c'x.
struct LinearSystem {
  Eigen::MatrixXd a;
  Eigen::VectorXd b, c;

  /// |c'(i w - a)^-1 b|^2.
  [[nodiscard]] double gain(double w) const {
    const Eigen::MatrixXcd shifted =
        std::complex<double>(0.0, w) * Eigen::MatrixXcd::Identity(a.rows(), a.cols()) -
        a.cast<std::complex<double>>();
    return std::norm(c.cast<std::complex<double>>().dot(
        shifted.fullPivLu().solve(b.cast<std::complex<double>>()).eval()));
  }
  /// Over all w, by a grid and the golden section around its best point.
  [[nodiscard]] double largest_gain() const {
    double best = gain(0.0), at = 0.0;
    for (double e = -4.0; e <= 4.0; e += 0.004) {
      const double w = std::pow(10.0, e), own = gain(w);
      if (own > best) best = own, at = w;
    }
    double low = 0.98 * at, high = 1.02 * at;
    for (int round = 0; round < 60; ++round) {
      const double p = low + 0.381966 * (high - low), q = low + 0.618034 * (high - low);
      (gain(p) > gain(q) ? high : low) = gain(p) > gain(q) ? q : p;
    }
    return std::max(best, gain(0.5 * (low + high)));
  }
  /// Maximise -g over P >= 0 and [-(a'P + P a) - c c', -P b; -b'P, g] >= 0 (the bounded real
  /// lemma).
  [[nodiscard]] SdpProblem programme() const {
    const auto n = static_cast<int>(a.rows()), variables = n * (n + 1) / 2 + 1, k = n + 1;
    SdpProblem sdp;
    sdp.blocks = {k, n};
    const auto size = static_cast<std::size_t>(k * k + n * n);
    sdp.objective.assign(static_cast<std::size_t>(variables), 0.0);
    sdp.objective.back() = -1.0;
    sdp.constant.assign(size, 0.0);
    sdp.coefficients.assign(size * static_cast<std::size_t>(variables), 0.0);
    Eigen::Map<Eigen::MatrixXd>(sdp.constant.data(), k, k).topLeftCorner(n, n) = -c * c.transpose();
    double* coefficient = sdp.coefficients.data();
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j <= i; ++j, coefficient += size) {
        Eigen::MatrixXd e = Eigen::MatrixXd::Zero(n, n);
        e(i, j) = e(j, i) = 1.0;
        const Eigen::MatrixXd half = a.transpose() * e;
        Eigen::Map<Eigen::MatrixXd> first(coefficient, k, k), second(coefficient + k * k, n, n);
        first.topLeftCorner(n, n) = half + half.transpose();
        first.topRightCorner(n, 1) = e * b;
        first.bottomLeftCorner(1, n) = (e * b).transpose();
        second = -e;
      }
    }
    coefficient[k * k - 1] = -1.0;
    return sdp;
  }
};

// Their Schur complements have diagonals many powers of ten apart, as those of control problems in
// public sets.
TEST(Sdp, LargestGainsOfLinearSystems) {
  std::mt19937 engine(5);
  std::normal_distribution<double> normal;
  const auto draw = [&](auto&& values) {
    for (double& value : values.reshaped()) value = normal(engine);
  };
  constexpr int kSystems = 120;
  int solved = 0;
  for (int trial = 0; trial < kSystems; ++trial) {
    const int n = 2 + trial % 6;
    LinearSystem system{Eigen::MatrixXd(n, n), Eigen::VectorXd(n), Eigen::VectorXd(n)};
    draw(system.a);
    draw(system.b);
    draw(system.c);
    const double fastest = system.a.eigenvalues().real().maxCoeff();
    system.a.diagonal().array() -= fastest + 0.05 + 0.5 * std::fabs(normal(engine));
    const SdpResult result = solve_sdp(system.programme());
    ASSERT_TRUE(result.status == Status::solved || result.status == Status::inaccurate) << trial;
    const bool exact = result.status == Status::solved;
    solved += exact ? 1 : 0;
    const double truth = system.largest_gain();
    EXPECT_NEAR(-result.objective, truth, (exact ? 1e-6 : 1e-4) * truth) << trial;
  }
  EXPECT_GE(solved, 98 * kSystems / 100);
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

/// min m_1 over moments m of a measure on {x >= 0, x^2 >= 1}, relaxed to matrices of order k + 1:
/// M(m), M(x m), M((x^2 - 1) m). The bound is 0 for every k: any x - l = s_0 + x s_1 + (x^2 - 1)
/// s_2 of sums of squares has s_2 = 0 and constants s_0 = -l, s_1 = 1, because highest powers
/// cannot cancel. With the least error in the data it is 1 (Waki, Nakata, Muramatsu 2012).
SdpProblem moments_beyond_one(int k) {
  SdpProblem problem;
  problem.blocks = {k + 1, k, k};
  const auto append = [](std::vector<double>& matrix, int n, auto&& entry) {
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) matrix.push_back(entry(i + j));
    }
  };
  for (int moment = 0; moment <= 2 * k; ++moment) {
    std::vector<double> matrix;
    const double sign = moment == 0 ? 1.0 : -1.0;
    const auto is = [moment](int power) { return power == moment ? 1.0 : 0.0; };
    append(matrix, k + 1, [&](int power) { return sign * is(power); });
    append(matrix, k, [&](int power) { return sign * is(power + 1); });
    append(matrix, k, [&](int power) { return sign * (is(power + 2) - is(power)); });
    if (moment == 0) {
      problem.constant = matrix;
    } else {
      problem.coefficients.insert(problem.coefficients.end(), matrix.begin(), matrix.end());
      problem.objective.push_back(moment == 1 ? -1.0 : 0.0);
    }
  }
  return problem;
}

TEST(Sdp, OptimaOfRelaxationsThatErrorsOfTheDataMove) {
  const SdpResult first = solve_sdp(moments_beyond_one(1));
  EXPECT_EQ(first.status, Status::solved);
  EXPECT_NEAR(first.objective, 0.0, 1e-8);
  for (int k = 2; k <= 9; ++k) {
    const SdpResult r = solve_sdp(moments_beyond_one(k));
    EXPECT_TRUE(r.status != Status::solved || std::fabs(r.objective) <= 1e-6)
        << k << ": " << r.objective;
    EXPECT_NE(r.status, Status::infeasible) << k;
    EXPECT_NE(r.status, Status::unbounded) << k;
  }
}

TEST(Sdp, UnboundedAlongCombinationsThatNoMatrixFeels) {
  for (const auto& [factors, objective] :
       std::vector<std::pair<std::vector<double>, std::vector<double>>>{
           {{1.0, 1.0}, {1.0, -1.0}},
           {{1.0, 0.0}, {1.0, 1.0}},
           {{1.0, -2.0, 3.0}, {0.0, 0.0, 1.0}},
           {{0.0}, {2.0}}}) {
    SdpProblem problem{{2}, objective, {1.0, 0.0, 0.0, 1.0}, {}};
    for (const double f : factors) {
      problem.coefficients.insert(problem.coefficients.end(), {f, 0.5 * f, 0.5 * f, f});
    }
    const SdpResult r = solve_sdp(problem);
    ASSERT_EQ(r.status, Status::unbounded);
    double rise = 0.0, felt = 0.0, at = 0.0;
    for (std::size_t i = 0; i < factors.size(); ++i) {
      rise += objective[i] * r.ray[i];
      felt += factors[i] * r.ray[i];
      at += factors[i] * r.y[i];
    }
    EXPECT_NEAR(rise, 1.0, 1e-12);
    EXPECT_NEAR(felt, 0.0, 1e-11);
    EXPECT_LE(1.5 * at, 1.0 + 1e-8);  // the eigenvalues 1 - 1.5 at and 1 - 0.5 at
    EXPECT_LE(0.5 * at, 1.0 + 1e-8);
    const bool is_free = factors == std::vector<double>{0.0};
    problem.constant = {-1.0, 0.0, 0.0, 1.0};  // the first entry needs at <= -1
    problem.coefficients.clear();
    for (const double f : factors) {
      problem.coefficients.insert(problem.coefficients.end(), {f, 0.0, 0.0, -f});
    }
    EXPECT_EQ(solve_sdp(problem).status, is_free ? Status::infeasible : Status::unbounded);
    problem.constant = {-2.0, 0.0, 0.0, 1.0};
    EXPECT_EQ(solve_sdp(problem).status, Status::infeasible);
  }
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
