#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

#include <carom/types/lcp_decision.hpp>

#include "run/cases.hpp"

namespace carom::run {

/// w = M z + q, as sums from the left.
template <class Problem>
std::vector<double> slacks(const Problem& problem, const std::vector<double>& z) {
  std::vector<double> w = problem.vector;
  for (std::size_t i = 0; i < w.size(); ++i) {
    for (std::size_t j = 0; j < w.size(); ++j) w[i] += problem.matrix[i * w.size() + j] * z[j];
  }
  return w;
}

/// What neither an answer nor a proof ended.
inline bool is_open(Status status) {
  return status == Status::ray || status == Status::inaccurate ||
         status == Status::numerical_error || status == Status::iteration_limit;
}

/// Puts an answer, a vector or a tree that proves that there is none into `answer` and `farkas`;
/// false where the decision has neither.
inline bool take_decision(const LcpDecision& decision, std::size_t order, CaseAnswer& answer,
                          Proof& farkas) {
  if (decision.status != Status::solved && decision.status != Status::infeasible) return false;
  answer.status = decision.status;
  answer.residual = decision.residual;
  answer.x = decision.solution;
  if (decision.status == Status::solved) return true;
  const std::vector<double>& first = decision.leaf_farkas.front();
  const bool endless = decision.bound == std::numeric_limits<double>::infinity();
  // Of a root alone, without rows of friction, the vector is `farkas` itself.
  if (decision.tree.empty() || (decision.tree.size() == 1 && endless && first.size() == order)) {
    farkas = first;
    return true;
  }
  ProofTree& tree = answer.tree;
  tree = {{}, {}, static_cast<int>(first.size()), decision.bound};
  for (const auto& [parent, pair, side] : decision.tree) {
    for (const int value : {parent, pair, side}) tree.nodes.push_back(value);
  }
  for (const auto& y : decision.leaf_farkas) {
    tree.leaves.insert(tree.leaves.end(), y.begin(), y.end());
  }
  return true;
}

}  // namespace carom::run
