#include <carom/lcp_decision.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <carom/certificate_lp.hpp>

#include "core/arrays.hpp"
#include "core/require.hpp"
#include "core/settings.hpp"
#include "programs/lcp/decide.hpp"
#include "programs/lcp/tree_program.hpp"

namespace carom {

void LcpDecisionSettings::validate() const { require::settings(*this); }

std::vector<LcpDecision> decide_lcp(const LcpBatch& batch, const LcpDecisionSettings& settings) {
  settings.validate();
  require::between("order", batch.order, 1, kMaxLcpOrder);
  require::at_least("problems", batch.problems, 0);
  arrays::require_sizes(batch, batch);
  require::reachable(Backend::cpu, arrays::common_space("lcp batch", batch));
  return cpu::decide_lcp(batch, settings);
}

std::vector<LcpDecision> decide_boxed_lcp(const BoxedLcpBatch& batch,
                                          const LcpDecisionSettings& settings) {
  settings.validate();
  BoxedLcpSettings first;
  first.tolerance = settings.tolerance;
  first.threads = settings.threads;
  return cpu::decide_boxed_lcp(batch, solve_boxed_lcp(batch, first, Backend::cpu), settings);
}

double lcp_tree_residual(int order, const double* matrix, const double* vector,
                         const LcpDecision& decision) {
  const auto n = static_cast<std::size_t>(order);
  const std::vector<double> lower(n, 0.0), upper(n, kernels::kInfinity);
  LcpDecision own = decision;
  if (own.tree.empty()) own.tree.emplace_back();
  return boxed_lcp_tree_residual(
      {order, matrix, vector, lower.data(), upper.data(), nullptr, nullptr}, own);
}

double boxed_lcp_tree_residual(const certificate::BoxedLcpData& problem,
                               const LcpDecision& decision) {
  const std::vector<LcpTreeNode>& tree = decision.tree;
  const auto n = static_cast<std::size_t>(problem.order);
  if (tree.empty()) {
    if (decision.leaf_farkas.size() != 1 || decision.leaf_farkas.front().size() != n) {
      return kernels::kInfinity;
    }
    std::vector<double> memory(
        static_cast<std::size_t>(certificate::boxed_lcp_farkas_workspace(problem.order)));
    return certificate::boxed_lcp_farkas_residual(problem, decision.leaf_farkas.front().data(),
                                                  memory.data());
  }
  boxed::TreeProgram program(problem);
  if (tree.front().parent != -1) return kernels::kInfinity;
  // Which sides of which pair the children of a node have.
  std::vector<int> pair(tree.size(), -1), sides(tree.size(), 0);
  for (std::size_t i = 1; i < tree.size(); ++i) {
    const auto& [parent, own, side] = tree[i];
    if (parent < 0 || parent >= static_cast<int>(i) || own < 0 || own >= problem.order ||
        side < 0 || side > 2 || (program.sides(own) & (1 << side)) == 0) {
      return kernels::kInfinity;
    }
    const auto p = static_cast<std::size_t>(parent);
    if ((sides[p] & (1 << side)) != 0 || (pair[p] >= 0 && pair[p] != own))
      return kernels::kInfinity;
    pair[p] = own;
    sides[p] |= 1 << side;
  }
  std::vector<double> memory(static_cast<std::size_t>(
      certificate::lp_certificate_workspace(program.rows(), program.columns())));
  certificate::LpCertificate<kernels::SingleLane> judge(kernels::SingleLane{}, program.rows(),
                                                        program.columns(), memory.data());
  double worst = 0.0;
  std::size_t leaf = 0;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    if (pair[i] >= 0) {
      if (sides[i] != program.sides(pair[i])) return kernels::kInfinity;
      continue;
    }
    if (leaf == decision.leaf_farkas.size()) return kernels::kInfinity;
    const std::vector<double>& y = decision.leaf_farkas[leaf++];
    if (y.size() != program.row_lower.size()) return kernels::kInfinity;
    std::vector<signed char> fixed(n, boxed::side::kOpen);
    for (std::size_t node = i; tree[node].parent >= 0;
         node = static_cast<std::size_t>(tree[node].parent)) {
      signed char& own = fixed[static_cast<std::size_t>(tree[node].pair)];
      if (own >= 0) return kernels::kInfinity;  // a pair that is branched twice
      own = static_cast<signed char>(tree[node].side);
    }
    program.set(fixed, decision.bound);
    const double residual =
        judge.load(program.data()) ? judge.farkas_residual(y.data()) : kernels::kInfinity;
    worst = residual <= worst ? worst : std::isnan(residual) ? kernels::kInfinity : residual;
  }
  return leaf == decision.leaf_farkas.size() ? worst : kernels::kInfinity;
}

}  // namespace carom
