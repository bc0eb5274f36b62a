#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <carom/device/lanes.hpp>

#include "programs/qp/kernels/qp_doubt.hpp"
#include "programs/qp/kernels/qp_interior_point.hpp"
#include "support/cone_problem.hpp"

// Answers of the interior point to problems that are not strictly convex: confirmed where both
// sides have an interior that is not rounding, and never with another objective.
namespace carom {
namespace {

using test::ConeProblem;
using test::ConeShape;
using Doubles = std::vector<double>;

struct Answer {
  Doubles x, y, inner;
  double doubt;
};

class Judged {
 public:
  explicit Judged(const ConeProblem& problem)
      : shape_(problem),
        view_{{problem.hessian.data()},
              {problem.vector.data()},
              {problem.matrix.data()},
              {problem.lower.data()},
              {problem.upper.data()}} {}

  Answer solve() const {
    const kernels::QpShape& shape = shape_.shape();
    const auto n = static_cast<std::size_t>(shape.variables);
    const auto rows = static_cast<std::size_t>(shape.rows);
    Answer answer{Doubles(n), Doubles(rows), Doubles(n + rows + 1), kernels::qp_doubt::kOpen};
    Doubles memory(static_cast<std::size_t>(
        kernels::qp_interior_point_workspace(shape.variables, shape.rows)));
    kernels::QpInteriorPoint<double, kernels::SingleLane, Memory> body(lanes_, shape,
                                                                       {memory.data()});
    double* inner = answer.inner.data();
    body.keep_inner({inner}, {inner + n}, {inner + n + rows});
    body.solve(view_, {1e-10, 100, true});
    for (std::size_t j = 0; j < n; ++j) answer.x[j] = body.solution(static_cast<int>(j));
    for (std::size_t i = 0; i < rows; ++i) answer.y[i] = body.dual(static_cast<int>(i));
    answer.doubt = doubt(answer);
    return answer;
  }

  double doubt(Answer& answer) const {
    const kernels::QpShape& shape = shape_.shape();
    Doubles memory(
        static_cast<std::size_t>(kernels::qp_inner_doubt_workspace(shape.variables, shape.rows)));
    double* inner = answer.inner.data();
    const kernels::QpInner<Memory> kept{
        {inner}, {inner + shape.variables}, {inner + shape.variables + shape.rows}};
    Doubles again = answer.inner;
    const double doubt = kernels::doubt_of<double>(lanes_, shape, view_, answer.x.data(),
                                                   answer.y.data(), Memory{memory.data()}, kept);
    answer.inner = again;
    return doubt;
  }

 private:
  using Memory = kernels::PlainMemory<double>;

  const kernels::SingleLane lanes_{};
  ConeShape shape_;
  kernels::QpView<kernels::PlainMemory<const double>> view_;
};

ConeProblem programme(int n, int intervals, std::vector<int> cones) {
  ConeProblem problem;
  problem.n = n;
  problem.intervals = intervals;
  int rows = intervals;
  for (const int size : cones) rows += size;
  problem.cones = std::move(cones);
  const auto count = static_cast<std::size_t>(rows);
  problem.hessian.assign(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), 0.0);
  problem.vector.assign(static_cast<std::size_t>(n), 0.0);
  problem.matrix.assign(count * static_cast<std::size_t>(n), 0.0);
  problem.lower.assign(count, -kernels::kInfinity);
  problem.upper.assign(count, kernels::kInfinity);
  for (int i = intervals; i < rows; ++i) problem.upper[static_cast<std::size_t>(i)] = 0.0;
  return problem;
}

/// Points inside of all cones and dual cones, two equations.
ConeProblem with_interiors(std::mt19937_64& engine) {
  std::normal_distribution<double> normal;
  ConeProblem problem = programme(8, 2, {4, 4, 4, 3});
  Doubles x(8);
  for (double& value : x) value = normal(engine);
  for (double& entry : problem.matrix) entry = normal(engine);
  Doubles pull(8, 0.0);
  int cone = 0;
  int first = problem.intervals;
  for (int i = 0; i < problem.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    double value = 0.0;
    for (int j = 0; j < 8; ++j) value += problem.a(i, j) * x[static_cast<std::size_t>(j)];
    double multiplier = normal(engine);
    if (i < problem.intervals) {
      problem.lower[row] = problem.upper[row] = value;
    } else {
      if (i == first + problem.cones[static_cast<std::size_t>(cone)]) {
        first += problem.cones[static_cast<std::size_t>(cone++)];
      }
      problem.upper[row] = value + (i == first ? 5.0 : normal(engine));
      if (i == first) multiplier = 6.0;
    }
    for (int j = 0; j < 8; ++j) pull[static_cast<std::size_t>(j)] += problem.a(i, j) * multiplier;
  }
  for (std::size_t j = 0; j < 8; ++j) problem.vector[j] = -pull[j];
  return problem;
}

TEST(QpInteriorBound, ConfirmsAnswersBetweenInteriors) {
  std::mt19937_64 engine(7);
  int confirmed = 0;
  for (int k = 0; k < 40; ++k) {
    const ConeProblem problem = with_interiors(engine);
    confirmed += Judged(problem).solve().doubt == kernels::qp_doubt::kNone ? 1 : 0;
  }
  EXPECT_GE(confirmed, 36);
}

TEST(QpInteriorBound, ConfirmsNoOtherAnswer) {
  std::mt19937_64 engine(8);
  int tried = 0;
  for (int k = 0; k < 20; ++k) {
    const ConeProblem problem = with_interiors(engine);
    const Judged judged(problem);
    Answer answer = judged.solve();
    if (answer.doubt != kernels::qp_doubt::kNone) continue;
    ++tried;
    for (const double share : {1e-4, 1e-6}) {
      Answer moved = answer;
      for (double& value : moved.x) value *= 1.0 + share;
      EXPECT_NE(judged.doubt(moved), kernels::qp_doubt::kNone) << k;
      moved = answer;
      for (double& value : moved.y) value *= 1.0 + share;
      EXPECT_NE(judged.doubt(moved), kernels::qp_doubt::kNone) << k;
    }
  }
  EXPECT_GE(tried, 15);
}

/// Least x0 + x1 / 2 with |(1, x1)| <= x0 <= 1 + width: the points are within about sqrt(width) of
/// x1 = 0.
ConeProblem thin(double width) {
  ConeProblem problem = programme(2, 1, {3});
  problem.vector = {1.0, 0.5};
  problem.a(0, 0) = 1.0;
  problem.upper[0] = 1.0 + width;
  problem.a(1, 0) = -1.0;
  problem.upper[2] = 1.0;
  problem.a(3, 1) = -1.0;
  return problem;
}

TEST(QpInteriorBound, LeavesThinInteriorsOpen) {
  EXPECT_EQ(Judged(thin(1e-2)).solve().doubt, kernels::qp_doubt::kNone);
  for (const double width : {1e-11, 1e-13, 1e-15, 0.0, -1e-15, -1e-12}) {
    EXPECT_NE(Judged(thin(width)).solve().doubt, kernels::qp_doubt::kNone) << width;
  }
}

/// Least x0 with x0 x1 >= 1: it is zero, and no point has it.
TEST(QpInteriorBound, LeavesUnattainedOptimaOpen) {
  ConeProblem problem = programme(2, 0, {3});
  problem.vector = {1.0, 0.0};
  problem.a(0, 0) = -1.0;
  problem.a(0, 1) = -1.0;
  problem.upper[1] = 2.0;
  problem.a(2, 0) = -1.0;
  problem.a(2, 1) = 1.0;
  EXPECT_NE(Judged(problem).solve().doubt, kernels::qp_doubt::kNone);
}

}  // namespace
}  // namespace carom
