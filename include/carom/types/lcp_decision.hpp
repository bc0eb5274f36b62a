#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include <carom/types/lcp.hpp>

/// The plain structs of carom/lcp_decision.hpp.
namespace carom {

struct LcpDecisionSettings {
  double tolerance = 1e-9;  ///< on certificate::LcpJudge's residual, every row in its own unit
  int max_nodes = 500;      ///< of a tree
  /// A tree looks only at z below this times the largest |q_i| over the least of the columns'
  /// largest |M_ij|. Leaves that need more of it than rounding are then opened again without it,
  /// with 60 nodes or four times those so far. 0: no bound from the start.
  double bound = 1e7;
  int threads = 0;  ///< 0 = all hardware threads

  /// See settings.hpp.
  template <class Visit, class... Tables>
  static void each_setting(Visit&& visit, Tables&&... tables) {
    using Range = SettingRange;
    visit({"tolerance", "Largest relative residual of a solution", Range::tolerance()},
          tables.tolerance...);
    visit({"max_nodes", "Largest number of nodes of a tree", Range::at_least(0), "", "no trees"},
          tables.max_nodes...);
    visit({"bound", "Bound of z in the first tree, relative to the size of q over that of M",
           Range::finite_from(0.0), "", "no such tree"},
          tables.bound...);
    visit({"threads", "CPU threads", Range::at_least(0), "", "all"}, tables.threads...);
  }

  /// Errors: InvalidInput naming the field and its value.
  void validate() const;
};

/// A node of a proof tree: what its parent has, and what the pair z_k, w_k is. Of an LCP lo_k = 0.
struct LcpTreeNode {
  int parent = -1;  ///< -1: the root, where nothing is fixed
  int pair = -1;    ///< k
  int side = -1;    ///< 0: z_k = lo_k, 1: w_k = 0, 2: z_k = hi_k
};

/// Status: solved; infeasible, proven by the tree, or only by `farkas` where the tree is empty;
/// ray: undecided within max_nodes; invalid_input.
struct LcpDecision {
  Status status = Status::ray;
  std::vector<double> solution;  ///< z, [n]; empty unless solved
  double residual = std::numeric_limits<double>::quiet_NaN();
  int nodes = 0;  ///< looked at
  /// Every node but the leaves has all sides of its children's pair. Parents come first.
  std::vector<LcpTreeNode> tree;
  /// Farkas' vectors of the leaves in their order, each [n]: of {z >= 0, M z + q >= 0}, what is
  /// fixed zero, and z <= bound: y_i >= 0 but where w_i is fixed; with g = M'y the sum
  /// q'y + bound (sum of g_j > 0 where z_j is not fixed) is negative. Of a boxed LCP with f
  /// friction rows [n + 2 f]: of lo <= z <= hi, the signs of w that the sides and absent bounds ask
  /// for, and for the k-th friction row z_i - mu_i z_j <= 0 (y_(n + 2 k) <= 0) and z_i + mu_i z_j
  /// >= 0 (y_(n + 2 k + 1) >= 0), either sign where z_i is fixed there. Without a tree of such a
  /// problem BoxedLcpResult::farkas.
  std::vector<std::vector<double>> leaf_farkas;
  /// Infinite where no answer exists at all; else none has all |z_j| <= bound that have no bound of
  /// their own.
  double bound = std::numeric_limits<double>::infinity();
};

}  // namespace carom
