#pragma once

#include <vector>

#include <gtest/gtest.h>

#include "programs/qp/kernels/qp_homogeneous.hpp"
#include "support/cone_problem.hpp"

/// What the homogeneous method decides of a cone problem.
namespace carom::test {

struct ConeDecision {
  kernels::QpHomogeneousOutcome outcome;
  std::vector<double> x, y, direction;
};

inline kernels::QpView<const double*> view_of(const ConeProblem& problem) {
  return {problem.hessian.data(), problem.vector.data(), problem.matrix.data(),
          problem.lower.data(), problem.upper.data()};
}

/// ahead: from where the method in plain doubles is.
inline ConeDecision decide(const ConeProblem& problem, bool ahead = false) {
  const ConeShape shape(problem);
  std::vector<double> memory(
      static_cast<std::size_t>(kernels::qp_homogeneous_workspace(problem.n, problem.rows())));
  kernels::QpHomogeneous<> body(shape.shape(), memory.data());
  EXPECT_LE(body.doubles(), static_cast<long>(memory.size()));
  std::vector<double> other(memory.size());
  kernels::QpHomogeneous<double> doubles(shape.shape(), other.data());
  if (ahead) {
    constexpr int kIterations = 40;
    int iterations = 0;
    doubles.seek_proof(
        view_of(problem), kIterations, [](const double*, const double*) { return false; },
        iterations);
    if (doubles.follow(kIterations, iterations)) body.start_at(&doubles);
  }
  ConeDecision decision;
  decision.outcome = body.decide(view_of(problem), {});
  for (int j = 0; j < problem.n; ++j) {
    decision.x.push_back(body.solution(j));
    decision.direction.push_back(body.direction(j));
  }
  for (int i = 0; i < problem.rows(); ++i) decision.y.push_back(body.dual(i));
  return decision;
}

}  // namespace carom::test
