#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ostream>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <carom/qp.hpp>

#include "core/constants.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/pack_generic.hpp"
#include "cpu/simd/pack_memory.hpp"
#include "cpu/simd/programs/qp_warm.hpp"
#include "cpu/simd/programs/qp_wide_active_set.hpp"
#include "programs/qp/layout.hpp"
#include "programs/qp/task.hpp"

// What QpWideJudge says of an answer is what QpJudge says, to the last bit; warm starts have the
// same bits on all instruction sets.
namespace carom {
namespace {

using Isa = cpu::simd::Generic;
using Memory = kernels::PlainMemory<double>;
using Data = kernels::PlainMemory<const double>;
using certificate::Leaning;

struct Kind {
  const char* name;
  int variables, rank;
  bool chain;  ///< rows of few numbers, each with an unknown of the row before, no gradient
};
std::ostream& operator<<(std::ostream& out, const Kind& kind) { return out << kind.name; }

QpBatch problems_of(const Kind& kind, int problems) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  const int n = kind.variables;
  const int m = kind.chain ? 2 * n - 1 : 2 * n;
  QpBatch batch;
  batch.problems = problems;
  batch.variables = n;
  batch.rows = m;
  std::vector<double> hessian, vector, matrix, lower, upper;
  for (int p = 0; p < problems; ++p) {
    std::vector<double> root(static_cast<std::size_t>(kind.rank * n));
    for (double& r : root) r = normal(random);
    const auto at = [n](int i, int j) { return static_cast<std::size_t>(i * n + j); };
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        double sum = kind.chain && i == j ? 1.0 : 0.0;
        for (int k = 0; k < kind.rank; ++k) sum += root[at(k, i)] * root[at(k, j)];
        hessian.push_back(sum);
      }
      vector.push_back(kind.chain ? 0.0 : normal(random));
    }
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        const bool there = !kind.chain || j == i % n || (i >= n && j == i - n + 1);
        matrix.push_back(!there ? 0.0 : kind.chain && i < n ? 1.0 : normal(random));
      }
      const bool equation = kind.chain ? i >= n : i % 5 == 4 && i < n;
      const double bound = kind.chain && i > n ? 0.0 : normal(random);
      lower.push_back(equation ? bound : -1.0 - std::abs(normal(random)));
      upper.push_back(equation ? bound : 1.0 + std::abs(normal(random)));
    }
  }
  batch.hessian = Buffer<double>::from(hessian);
  batch.vector = Buffer<double>::from(vector);
  batch.matrix = Buffer<double>::from(matrix);
  batch.lower = Buffer<double>::from(lower);
  batch.upper = Buffer<double>::from(upper);
  return batch;
}

class WideJudge : public ::testing::TestWithParam<Kind> {};

TEST_P(WideJudge, SaysWhatTheJudgeSays) {
  constexpr int kProblems = 200;
  const QpBatch batch = problems_of(GetParam(), kProblems);
  const QpLayout layout(batch);
  const kernels::QpShape& shape = layout.shape();
  QpResult result;
  kernels::QpTaskArrays task = qp_task(batch, layout, {});
  task.hessian = batch.hessian.data();
  task.vector = batch.vector.data();
  task.matrix = batch.matrix.data();
  task.lower = batch.lower.data();
  task.upper = batch.upper.data();
  const long n = shape.variables;
  const long m = shape.rows;
  Buffer<double> room(static_cast<std::size_t>(cpu::simd::qp_wide_workspace(n, m)));
  std::vector<double> work(static_cast<std::size_t>(certificate::qp_judge_workspace(n, m)));
  cpu::simd::QpWideActiveSet<Isa> body(task, room.data());
  const kernels::SingleLane lane;
  int close = 0;
  for (long p = 0; p < kProblems; ++p) {
    SCOPED_TRACE(p);
    if (!body.solve(p, 1000)) continue;
    for (const Leaning leaning : {Leaning::by_active_rows, Leaning::refused}) {
      const auto answer = body.certify(leaning);
      if (!answer.close) continue;
      ++close;
      std::vector<double> x(answer.x, answer.x + n);
      std::vector<double> y(answer.y, answer.y + m);
      const kernels::QpView<Data> view{{task.hessian + p * n * n},
                                       {task.vector + p * n},
                                       {task.matrix + p * m * n},
                                       {task.lower + p * m},
                                       {task.upper + p * m}};
      const certificate::QpJudge<double, kernels::SingleLane, Data, Memory> judge(
          lane, shape, view, Memory{work.data()});
      const auto judged = judge.residual(Memory{x.data()}, Memory{y.data()}, leaning);
      EXPECT_EQ(judged.value(), answer.residual);
      EXPECT_EQ(judged.objective, answer.objective);
      x[0] += 1e-3;  // no judge that passes everything
      EXPECT_GT(judge.residual(Memory{x.data()}, Memory{y.data()}, leaning).value(), 1e-9);
    }
  }
  EXPECT_GE(close, kProblems / 2);
}

INSTANTIATE_TEST_SUITE_P(Kinds, WideJudge,
                         ::testing::Values(Kind{"definite", 9, 12, false},
                                           Kind{"semidefinite", 11, 5, false},
                                           Kind{"chain", 20, 0, true},
                                           Kind{"chain_bent", 12, 1, true}),
                         [](const auto& kind) { return kind.param.name; });

/// Answers of problems by what is kept of their matrices, from starts that are not theirs.
QpResult from_starts(const cpu::simd::InstructionSet& set, const QpBatch& batch, bool shared,
                     std::vector<std::uint8_t>& held) {
  const QpLayout layout(batch);
  const int n = layout.shape().variables;
  const int m = layout.shape().rows;
  auto result = allocate<QpResult>(batch);
  std::vector<std::uint8_t> end(static_cast<std::size_t>(batch.problems));
  kernels::QpTaskArrays task = qp_task(batch, layout, {}, {}, result);
  task.end = end.data();
  const std::int64_t given = shared ? 1 : batch.problems;
  Buffer<double> kept(
      static_cast<std::size_t>(given * kernels::values_of<cpu::simd::QpKeptLayout>(n, m)));
  Buffer<double> all(static_cast<std::size_t>(kernels::values_of<cpu::simd::QpSharedLayout>(n, m)));
  Buffer<double> room(static_cast<std::size_t>(cpu::simd::qp_warm_workspace(n, m)));
  std::vector<std::uint8_t> usable(static_cast<std::size_t>(given));
  std::vector<std::uint8_t> taken(end.size());
  cpu::simd::QpWarmRange range{};
  range.end = given;
  range.task = &task;
  range.kept = kept.data();
  range.shared = shared ? all.data() : nullptr;
  range.usable = usable.data();
  range.workspace = room.data();
  range.keeps = true;
  set.warm_qps(range);
  range.keeps = false;
  range.end = batch.problems;
  range.held = held.data();
  range.taken = taken.data();
  set.warm_qps(range);
  for (const std::uint8_t done : taken) EXPECT_EQ(done, 1);
  return result;
}

TEST(WarmQps, HaveTheBitsOfAllInstructionSets) {
  constexpr std::int64_t kProblems = 20;
  for (const int n : {3, 9, 20}) {
    QpBatch batch = problems_of({"definite", n, 2 * n, false}, kProblems);
    for (const bool shared : {true, false}) {
      for (std::int64_t p = 1; shared && p < kProblems; ++p) {  // the rows of the first one
        std::copy_n(batch.lower.data(), 2 * n, batch.lower.data() + p * 2 * n);
        std::copy_n(batch.upper.data(), 2 * n, batch.upper.data() + p * 2 * n);
      }
      std::vector<double> first;
      std::vector<std::uint8_t> sets;
      for (const cpu::simd::InstructionSet* set : cpu::simd::instruction_sets()) {
        SCOPED_TRACE(set->name);
        std::vector<std::uint8_t> held(static_cast<std::size_t>(kProblems * 2 * n));
        for (std::size_t e = 0; e < held.size(); ++e) held[e] = e % 5 < 3 ? 0 : e % 5 - 2;
        const QpResult result = from_starts(*set, batch, shared, held);
        std::vector<double> own(result.solution.data(),
                                result.solution.data() + result.solution.size());
        own.insert(own.end(), result.dual.data(), result.dual.data() + result.dual.size());
        own.insert(own.end(), result.residual.data(),
                   result.residual.data() + result.residual.size());
        if (first.empty()) {
          first = own;
          sets = held;
        }
        EXPECT_EQ(own, first);
        EXPECT_EQ(held, sets);
      }
    }
  }
}

}  // namespace
}  // namespace carom
