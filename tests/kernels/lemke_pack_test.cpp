#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <carom/lcp.hpp>

#include "core/backends.hpp"
#include "cpu/programs/lcp_driver.hpp"
#include "cpu/simd/dispatch.hpp"
#include "emulation/emulation.hpp"
#include "programs/lcp/backends.hpp"
#include "support/bits.hpp"
#include "support/lcp_cases.hpp"
#include "support/random_problems.hpp"

// Packs of LCPs (src/cpu/simd/programs/pack_lcps.hpp) against kernels::Lemke, one problem after the
// other.
namespace carom {
namespace {

using test::Generator;

struct Batch {
  int order;
  std::vector<double> matrix;
  std::vector<double> vector;

  [[nodiscard]] std::int64_t problems() const {
    return static_cast<std::int64_t>(vector.size()) / order;
  }
  void add(const test::Matrix& m, const test::Vector& q) {
    for (int i = 0; i < order; ++i) {
      for (int j = 0; j < order; ++j) matrix.push_back(m(i, j));
      vector.push_back(q[i]);
    }
  }
  [[nodiscard]] LcpBatch part(std::int64_t begin, std::int64_t end) const {
    LcpBatch batch;
    batch.problems = end - begin;
    batch.order = order;
    const auto at = [](const std::vector<double>& values, std::int64_t from, std::int64_t to) {
      return Buffer<double>::from(std::vector<double>(values.begin() + from, values.begin() + to));
    };
    const std::int64_t n = order;
    batch.matrix = at(matrix, begin * n * n, end * n * n);
    batch.vector = at(vector, begin * n, end * n);
    return batch;
  }
};

/// Every kind that a pack may meet: plain ones, ties, rays, q >= 0, numbers of all sizes, NaN, and
/// what principal pivots take.
Batch mixture(std::uint64_t seed, int n, int count) {
  Generator random(seed);
  Batch batch{n, {}, {}};
  for (int p = 0; p < count; ++p) {
    const test::Matrix b = random.normal_matrix(n, n);
    test::Matrix matrix = b * b.transpose() / n + test::Matrix::Identity(n, n);
    test::Vector vector = random.normal_vector(n);
    switch (random.integer(0, 11)) {
      case 0:  // small integers: rows vanish together
        for (double& x : matrix.reshaped()) x = random.integer(-1, 2);
        for (double& x : vector) x = random.integer(-2, 1);
        break;
      case 1:
        vector = vector.cwiseAbs();
        break;
      case 2:
        matrix.row(n / 2).setZero();
        matrix.col(n / 2).setZero();
        vector[n / 2] = -1.0;
        break;
      case 3:
        matrix = b;
        break;
      case 4:
        for (double& x : matrix.reshaped()) x *= std::pow(10.0, random.between(-120.0, 120.0));
        break;
      case 5:
        (random.unit() < 0.5 ? matrix(n - 1, 0) : vector[0]) =
            random.unit() < 0.5 ? std::numeric_limits<double>::quiet_NaN()
                                : std::numeric_limits<double>::infinity();
        break;
      case 6:  // a pair of equal contacts
        if (n > 1) {
          matrix.row(n - 1) = matrix.row(0);
          matrix.col(n - 1) = matrix.col(0);
          vector[n - 1] = vector[0];
        }
        break;
      case 7:  // a chain: only its first row has a q, which explains the others one by one
        matrix.setIdentity();
        for (int i = 1; i < n; ++i) matrix(i, i - 1) = -random.between(0.5, 2.0);
        vector.setZero();
        vector[0] = -1.0;
        break;
      case 8:  // no entry off the diagonal is positive; some have no solution, or are not finite
        matrix = -b.cwiseAbs() / n;
        matrix.diagonal().setConstant(random.between(0.5, 1.2));
        if (random.unit() < 0.2) matrix(n - 1, n / 2) = -std::numeric_limits<double>::infinity();
        break;
      case 9:  // a P-matrix by its diagonal
        matrix = b / n;
        matrix.diagonal().setConstant(random.between(1.0, 2.0));
        break;
      default:
        break;
    }
    batch.add(matrix, vector);
  }
  return batch;
}

LcpResult solve(const Batch& batch, std::int64_t begin, std::int64_t end,
                const cpu::simd::InstructionSet& set, const LcpSettings& settings) {
  return cpu::drive_lcp(batch.part(begin, end), settings, set.solve_lcps);
}

constexpr int kCount = 70;

TEST(LemkePack, MatchesOneProblemAtATime) {
  LcpSettings settings;
  settings.threads = 1;
  int solved = 0;
  for (const int n : {1, 2, 3, 5, 8, 10, 13, 28, 40}) {
    SCOPED_TRACE(n);
    const Batch batch = mixture(static_cast<std::uint64_t>(n), n, kCount);
    const LcpResult alone = emulation::solve_lcp(batch.part(0, kCount), settings, false);
    for (const cpu::simd::InstructionSet* set : cpu::simd::instruction_sets()) {
      SCOPED_TRACE(set->name);
      test::expect_identical(solve(batch, 0, kCount, *set, settings), alone);
    }
    for (const Status status : alone.status.host()) solved += status == Status::solved ? 1 : 0;
  }
  EXPECT_GT(solved, 9 * kCount / 2);
}

// Which problems share a pack depends on the split and on the threads; the answers do not.
TEST(LemkePack, NeighboursDoNotMatter) {
  const int n = 9;
  const Batch batch = mixture(77, n, kCount);
  LcpSettings settings;
  settings.threads = 1;
  for (const cpu::simd::InstructionSet* set : cpu::simd::instruction_sets()) {
    SCOPED_TRACE(set->name);
    const LcpResult whole = solve(batch, 0, kCount, *set, settings);
    for (const std::int64_t size : {1, 3, 8, 17}) {
      for (std::int64_t begin = 0; begin < kCount; begin += size) {
        const std::int64_t end = std::min<std::int64_t>(begin + size, kCount);
        const LcpResult part = solve(batch, begin, end, *set, settings);
        EXPECT_EQ(test::first_difference(part.solution, 0, whole.solution,
                                         static_cast<std::size_t>(begin * n),
                                         static_cast<std::size_t>((end - begin) * n)),
                  -1);
        EXPECT_EQ(
            test::first_difference(part.pivots, 0, whole.pivots, static_cast<std::size_t>(begin),
                                   static_cast<std::size_t>(end - begin)),
            -1);
      }
    }
    for (const int threads : {2, 5}) {
      settings.threads = threads;
      test::expect_identical(solve(batch, 0, kCount, *set, settings), whole);
    }
    settings.threads = 1;
  }
}

TEST(LemkePack, PivotLimitsAndTolerancesMatch) {
  const Batch batch = mixture(5, 12, kCount);
  for (const int max_pivots : {1, 2, 5, 7}) {
    LcpSettings settings;
    settings.threads = 1;
    settings.max_pivots = max_pivots;
    settings.tolerance = max_pivots == 7 ? 1e-17 : 1e-9;
    const LcpResult alone = emulation::solve_lcp(batch.part(0, kCount), settings, false);
    for (const cpu::simd::InstructionSet* set : cpu::simd::instruction_sets()) {
      test::expect_identical(solve(batch, 0, kCount, *set, settings), alone);
    }
  }
}

// Copies of a stored problem fill the lanes of several packs.
TEST(LemkePack, StoredProblemsKeepStatusAndPivots) {
  LcpSettings settings;
  settings.threads = 1;
  for (const test::LcpCase& item : test::lcp_cases()) {
    SCOPED_TRACE(item.name);
    Batch batch{item.order, {}, {}};
    for (int copy = 0; copy < 19; ++copy) {
      batch.matrix.insert(batch.matrix.end(), item.matrix.begin(), item.matrix.end());
      batch.vector.insert(batch.vector.end(), item.vector.begin(), item.vector.end());
    }
    for (const cpu::simd::InstructionSet* set : cpu::simd::instruction_sets()) {
      SCOPED_TRACE(set->name);
      const LcpResult result = solve(batch, 0, batch.problems(), *set, settings);
      for (const Status status : result.status.host()) {
        EXPECT_EQ(to_string(status), item.status());
      }
      for (const int pivots : result.pivots.host()) EXPECT_EQ(pivots, item.pivots);
    }
  }
}

}  // namespace
}  // namespace carom
