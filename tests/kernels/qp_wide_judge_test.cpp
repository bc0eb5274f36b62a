#include <cmath>
#include <ostream>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <carom/qp.hpp>

#include "core/constants.hpp"
#include "cpu/simd/pack_generic.hpp"
#include "cpu/simd/pack_memory.hpp"
#include "cpu/simd/programs/qp_wide_active_set.hpp"
#include "programs/qp/layout.hpp"
#include "programs/qp/task.hpp"

// What QpWideJudge says of an answer is what QpJudge says, to the last bit.
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

}  // namespace
}  // namespace carom
