#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include <carom/certificate_lcp.hpp>
#include <carom/certificate_lp.hpp>
#include <carom/lcp.hpp>
#include <carom/lp.hpp>

#include "support/integer_programs.hpp"

// Every certificate rejects an answer that was tampered with.
namespace carom {
namespace {

constexpr double kTolerance = 1e-9;

struct LpCase {
  LpBatch batch;
  LpResult result;
  int n = 0, m = 0;

  [[nodiscard]] certificate::LpData data(std::size_t p) const {
    const auto width = static_cast<std::size_t>(n);
    const auto rows = static_cast<std::size_t>(m);
    return {m,
            n,
            batch.cost.data() + p * width,
            batch.matrix.data() + p * rows * width,
            batch.row_lower.data() + p * rows,
            batch.row_upper.data() + p * rows,
            batch.column_lower.data() + p * width,
            batch.column_upper.data() + p * width};
  }
};

LpCase lp_case(unsigned seed) {
  test::IntegerPrograms programs(4, 6, seed);
  test::ProgramArrays arrays;
  for (int p = 0; p < 400; ++p) {
    test::append(arrays, programs.next(false), programs.units({}), false, 0);
  }
  LpCase result{test::lp_batch(arrays, true), {}, 4, 6};
  result.result = solve_lp(result.batch, {}, Backend::cpu);
  return result;
}

TEST(Mutations, OfLinearAnswersAreRejected) {
  int moved = 0, turned = 0, reversed = 0, weakened = 0;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const LpCase item = lp_case(seed);
    const kernels::SingleLane lane;
    std::vector<double> memory(
        static_cast<std::size_t>(certificate::lp_certificate_workspace(item.m, item.n)));
    certificate::LpCertificate<kernels::SingleLane> judge(lane, item.m, item.n, memory.data());
    for (std::size_t p = 0; p < 400; ++p) {
      ASSERT_TRUE(judge.load(item.data(p)));
      ASSERT_TRUE(judge.load_cost(item.data(p).cost));
      const auto copy = [&](const Buffer<double>& from, int count) {
        const auto size = static_cast<std::size_t>(count);
        const double* begin = from.data() + p * size;
        return std::vector<double>(begin, begin + size);
      };
      const Status status = item.result.status.host()[p];
      if (status == Status::solved) {
        const std::vector<double> x = copy(item.result.solution, item.n);
        const std::vector<double> y = copy(item.result.dual, item.m);
        ASSERT_LE(judge.residual(x.data(), y.data()), kTolerance);
        for (int j = 0; j < item.n; ++j) {
          // A move that costs something is optimal no longer, whatever the rows say to it.
          std::vector<double> other = x;
          other[static_cast<std::size_t>(j)] += 0.5;
          double cost = 0.0;
          for (int i = 0; i < item.n; ++i) {
            cost += item.data(p).cost[i] *
                    (other[static_cast<std::size_t>(i)] - x[static_cast<std::size_t>(i)]);
          }
          if (cost == 0.0) continue;
          EXPECT_GT(judge.residual(other.data(), y.data()), kTolerance) << seed << " " << p;
          ++moved;
        }
        for (int i = 0; i < item.m; ++i) {
          if (std::abs(y[static_cast<std::size_t>(i)]) < 1e-9) continue;
          std::vector<double> other = y;
          other[static_cast<std::size_t>(i)] *= -1.0;
          // Between equal bounds, and for what the columns take back, a sign means nothing.
          const certificate::LpData lp = item.data(p);
          if (lp.row_lower[i] == lp.row_upper[i]) continue;
          EXPECT_GT(judge.residual(x.data(), other.data()), kTolerance) << seed << " " << p;
          ++turned;
        }
      } else if (status == Status::infeasible) {
        std::vector<double> y = copy(item.result.farkas, item.m);
        bool empty = true;
        for (double& value : y) {
          empty = empty && value == 0.0;
          value = -value;
        }
        if (empty) continue;  // bounds of columns alone
        EXPECT_GT(judge.farkas_residual(y.data()), kTolerance);
        ++reversed;
      } else if (status == Status::unbounded) {
        std::vector<double> ray = copy(item.result.ray, item.n);
        const std::vector<double> point = copy(item.result.point, item.n);
        EXPECT_LE(judge.primal_residual(point.data()), kTolerance);
        EXPECT_LE(judge.ray_residual(ray.data()), kTolerance);
        for (double& value : ray) value = -value;
        EXPECT_GT(judge.ray_residual(ray.data()), kTolerance);
        ++weakened;
      }
    }
  }
  EXPECT_GT(moved, 500);
  EXPECT_GT(turned, 100);
  EXPECT_GT(reversed, 100);
  EXPECT_GT(weakened, 50);
}

TEST(Mutations, OfComplementarityAreRejected) {
  std::mt19937 engine(3);
  const auto pick = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(engine);
  };
  int solved = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const int n = pick(1, 8);
    const auto size = static_cast<std::size_t>(n);
    std::vector<double> matrix(size * size), vector(size);
    for (double& value : matrix) value = pick(-3, 3);
    for (int i = 0; i < n; ++i) {
      matrix[static_cast<std::size_t>(i) * size + static_cast<std::size_t>(i)] += 4.0;
      vector[static_cast<std::size_t>(i)] = pick(-5, 3);
    }
    LcpBatch batch;
    batch.problems = 1;
    batch.order = n;
    batch.matrix = Buffer<double>::from(matrix);
    batch.vector = Buffer<double>::from(vector);
    const LcpResult result = solve_lcp(batch, {}, Backend::cpu);
    if (result.status.host()[0] != Status::solved) continue;
    const std::vector<double> z = result.solution.to_vector();
    EXPECT_LE(certificate::lcp_residual(n, matrix.data(), vector.data(), z.data()), kTolerance);
    for (std::size_t i = 0; i < size; ++i) {
      std::vector<double> other = z;
      other[i] = z[i] > 0.0 ? 0.0 : 1.0;
      const double moved = certificate::lcp_residual(n, matrix.data(), vector.data(), other.data());
      // Another solution may stand there.
      double worst = 0.0;
      for (std::size_t r = 0; r < size; ++r) {
        double w = vector[r];
        for (std::size_t j = 0; j < size; ++j) w += matrix[r * size + j] * other[j];
        worst = std::max(worst, std::abs(std::min(w, other[r])));
      }
      if (worst > 1e-6) {
        EXPECT_GT(moved, kTolerance) << "trial " << trial;
      }
    }
    ++solved;
  }
  EXPECT_GT(solved, 1000);
}

}  // namespace
}  // namespace carom
