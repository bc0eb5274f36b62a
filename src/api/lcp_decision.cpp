#include <carom/lcp_decision.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <carom/certificate_lp.hpp>

#include "core/arrays.hpp"
#include "core/require.hpp"
#include "core/settings.hpp"
#include "programs/lcp/decide.hpp"

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

double lcp_tree_residual(int order, const double* matrix, const double* vector,
                         const LcpDecision& decision) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto n = static_cast<std::size_t>(order);
  std::vector<LcpTreeNode> tree = decision.tree;
  if (tree.empty()) tree.emplace_back();
  if (tree.front().parent != -1) return kInfinity;
  // Which sides of which pair the children of a node have.
  std::vector<int> pair(tree.size(), -1), sides(tree.size(), 0);
  for (std::size_t i = 1; i < tree.size(); ++i) {
    const auto& [parent, own, side] = tree[i];
    if (parent < 0 || parent >= static_cast<int>(i) || own < 0 || own >= order || side < 0 ||
        side > 1) {
      return kInfinity;
    }
    const auto p = static_cast<std::size_t>(parent);
    if ((sides[p] & (1 << side)) != 0 || (pair[p] >= 0 && pair[p] != own)) return kInfinity;
    pair[p] = own;
    sides[p] |= 1 << side;
  }
  std::vector<double> memory(
      static_cast<std::size_t>(certificate::lp_certificate_workspace(order, order)));
  const kernels::SingleLane lane;
  double worst = 0.0;
  std::size_t leaf = 0;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    if (sides[i] == 3) continue;
    if (sides[i] != 0 || leaf == decision.leaf_farkas.size()) return kInfinity;
    const std::vector<double>& y = decision.leaf_farkas[leaf++];
    if (y.size() != n) return kInfinity;
    std::vector<double> cost(n, 0.0), low(n, 0.0), high(n, decision.bound), least(n),
        most(n, kInfinity);
    for (std::size_t k = 0; k < n; ++k) least[k] = -vector[k];
    for (std::size_t node = i; tree[node].parent >= 0;
         node = static_cast<std::size_t>(tree[node].parent)) {
      const auto k = static_cast<std::size_t>(tree[node].pair);
      (tree[node].side == 0 ? high[k] : most[k]) = tree[node].side == 0 ? 0.0 : least[k];
    }
    certificate::LpCertificate<kernels::SingleLane> judge(lane, order, order, memory.data());
    const certificate::LpData lp{order,        order,       cost.data(), matrix,
                                 least.data(), most.data(), low.data(),  high.data()};
    const double residual = judge.load(lp) ? judge.farkas_residual(y.data()) : kInfinity;
    worst = residual <= worst ? worst : std::isnan(residual) ? kInfinity : residual;
  }
  return leaf == decision.leaf_farkas.size() ? worst : kInfinity;
}

}  // namespace carom
