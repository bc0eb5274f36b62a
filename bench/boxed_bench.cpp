#include <algorithm>
#include <cmath>
#include <vector>

#include <carom/boxed_lcp.hpp>

#include "cpu/programs/boxed_driver.hpp"
#include "cpu/simd/box_code.hpp"
#include "cpu/simd/dispatch.hpp"
#include "measure.hpp"
#include "support/boxed_problems.hpp"

// Boxed LCPs: in packs, one after the other, and as the LCPs of order 2 n or n + 2 f that they are
// without boxes.
namespace carom::bench {

namespace {

using test::BoxProblem;

constexpr int kProblems = 512;

Verdict verdict_of(const Buffer<Status>& status, const Buffer<double>& residual) {
  Verdict verdict;
  long solved = 0;
  for (std::size_t p = 0; p < status.size(); ++p) {
    if (status.host()[p] != Status::solved) continue;
    ++solved;
    verdict.worst_residual = std::max(verdict.worst_residual, residual.host()[p]);
  }
  verdict.solved = verdict.claimed =
      static_cast<double>(solved) / static_cast<double>(std::max<std::size_t>(1, status.size()));
  return verdict;
}

template <class Solve>
void add_solver(const std::string& name, int order, Solve solve) {
  const auto verdict = share([solve] {
    const auto result = solve();
    return verdict_of(result.status, result.residual);
  });
  add(name, [=](benchmark::State& state) {
    const Verdict& known = verdict->get();
    for (auto _ : state) {
      const auto result = solve();
      benchmark::DoNotOptimize(result.solution.data());
    }
    report(state, kProblems, order, known);
  });
}

/// z = lo + u: 0 <= u perp w + y >= 0, 0 <= y perp hi - lo - u >= 0; without hi the last rows are
/// not there.
LcpBatch as_lcps(const std::vector<BoxProblem>& problems) {
  const int n = problems.front().order();
  std::vector<double> matrix, vector;
  for (const BoxProblem& own : problems) {
    test::Matrix m = test::Matrix::Zero(2 * n, 2 * n);
    m.topLeftCorner(n, n) = own.matrix;
    m.topRightCorner(n, n).setIdentity();
    m.bottomLeftCorner(n, n) = -test::Matrix::Identity(n, n);
    test::Vector q(2 * n);
    q << own.vector + own.matrix * own.lower, own.upper - own.lower;
    matrix.insert(matrix.end(), m.data(), m.data() + m.size());
    vector.insert(vector.end(), q.data(), q.data() + q.size());
  }
  LcpBatch batch;
  batch.problems = static_cast<std::int64_t>(problems.size());
  batch.order = 2 * n;
  batch.matrix = Buffer<double>::from(matrix);
  batch.vector = Buffer<double>::from(vector);
  return batch;
}

template <class Make>
void add_boxes(const std::string& name, int order, bool finite, Make make) {
  const auto problems = share([make] { return make(); });
  const auto batch = share([problems] { return test::boxed_batch(problems->get()); });
  const auto settings = [] {
    BoxedLcpSettings own;
    own.threads = 1;
    return own;
  };
  const std::string prefix = "boxes/" + name;
  add_solver(prefix + "/carom", order,
             [=] { return solve_boxed_lcp(batch->get(), settings(), Backend::cpu); });
  add_solver(prefix + "/one_by_one", order, [=] {
    const BoxedLcpBatch& own = batch->get();
    return cpu::drive_boxed_lcp(
        own, settings(), own.findex.empty() ? 0 : own.order, [](const cpu::simd::BoxRange&) {},
        cpu::simd::box_code(cpu::simd::instruction_set()).follow);
  });
  if (!finite) return;
  const auto lcps = share([problems] { return as_lcps(problems->get()); });
  add_solver(prefix + "/lcp_2n", order, [=] {
    LcpSettings own;
    own.threads = 1;
    return solve_lcp(lcps->get(), own, Backend::cpu);
  });
}

/// Positive definite M, all rows with both bounds.
std::vector<BoxProblem> random_boxes(int n) {
  test::Generator random(static_cast<std::uint64_t>(n));
  std::vector<BoxProblem> problems;
  for (int p = 0; p < kProblems; ++p) {
    const test::Matrix b = random.normal_matrix(n, n);
    problems.push_back({.matrix = b * b.transpose() / n + test::Matrix::Identity(n, n),
                        .vector = 2.0 * random.normal_vector(n),
                        .lower = test::Vector::Constant(n, -0.5),
                        .upper = test::Vector::Constant(n, 1.0)});
  }
  return problems;
}

std::vector<BoxProblem> islands(int contacts) {
  test::Generator random(static_cast<std::uint64_t>(contacts));
  std::vector<BoxProblem> problems;
  for (int p = 0; p < kProblems; ++p) {
    problems.push_back(test::contact_island(random, 1 + p % 3, contacts, 1e-9));
  }
  return problems;
}

}  // namespace

void add_boxed_benchmarks() {
  for (const int n : {5, 10, 20, 40, 64}) {
    const std::string digits = std::to_string(n);
    add_boxes("random_n" + std::string(3 - digits.size(), '0') + digits, n, true,
              [n] { return random_boxes(n); });
  }
  for (const int n : {20, 40}) {
    add_boxes("ode_test_n0" + std::to_string(n), n, false, [n] {
      test::Generator random(4);
      std::vector<BoxProblem> problems;
      for (int p = 0; p < kProblems; ++p) problems.push_back(test::ode_test(random, n, n / 2));
      return problems;
    });
  }
  for (const int contacts : {2, 4, 8}) {
    add_boxes("contacts_m" + std::to_string(contacts), 3 * contacts, false,
              [contacts] { return islands(contacts); });
  }
}

}  // namespace carom::bench
