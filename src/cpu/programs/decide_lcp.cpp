#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <carom/certificate_lcp.hpp>
#include <carom/certificate_lp.hpp>

#include "core/parallel.hpp"
#include "cpu/simd/box_code.hpp"
#include "cpu/simd/dispatch.hpp"
#include "programs/lcp/backends.hpp"
#include "programs/lcp/boxed.hpp"
#include "programs/lcp/decide.hpp"
#include "programs/lcp/kernels/lcp_finish.hpp"
#include "programs/lp/backends.hpp"

namespace carom::cpu {

namespace {

using Values = std::vector<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kOtherPaths = 2;
constexpr int kStrongerNodes = 60;  // below leaves that need the bound, at least
constexpr int kRootObjectives = 3;  // linear ones that draw the root's point to an answer

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// One LCP and the tree over its pairs.
class Decide {
 public:
  Decide(const double* matrix, const double* vector, int n, const LcpDecisionSettings& settings)
      : n_(n),
        matrix_(matrix, matrix + static_cast<long>(n) * n),
        vector_(vector, vector + n),
        settings_(settings),
        judge_memory_(at(static_cast<int>(certificate::lcp_judge_workspace(n)) + n)),
        proof_memory_(at(static_cast<int>(certificate::lp_certificate_workspace(n, n)))),
        unit_(at(n), 1.0) {
    double least_column = kInfinity;
    for (int i = 0; i < n; ++i) {
      double row = 0.0;
      for (int j = 0; j < n; ++j) row = std::max(row, std::fabs(entry(i, j)));
      if (row > 0.0) unit_[at(i)] = row;
      largest_ = std::max(largest_, std::fabs(vector_[at(i)]));
      double column = 0.0;
      for (int j = 0; j < n; ++j) column = std::max(column, std::fabs(entry(j, i)));
      if (column > 0.0) least_column = std::min(least_column, column);
      noise_ = std::max(noise_, std::fabs(vector_[at(i)]) / unit_[at(i)]);
    }
    noise_ *= kernels::kLcpNoise;
    if (least_column < kInfinity) largest_ /= least_column;
    lp_.problems = 1;
    lp_.rows = lp_.columns = n;
    const auto zeros = [&] { return Buffer<double>::from(Values(at(n), 0.0)); };
    lp_.cost = zeros();
    lp_.matrix = Buffer<double>::from(matrix_);
    lp_.row_lower = zeros();
    lp_.row_upper = zeros();
    lp_.column_lower = zeros();
    lp_.column_upper = zeros();
  }

  LcpDecision run() {
    if (other_paths()) return std::move(found_);
    if (settings_.max_nodes <= 0) return std::move(found_);
    const bool bounded = settings_.bound > 0.0 && largest_ > 0.0;
    const double bound = bounded ? settings_.bound * largest_ : kInfinity;
    tree_.assign(1, {});
    if (!grow({{0, std::vector<signed char>(at(n_), -1), {}}}, bound, settings_.max_nodes)) {
      return std::move(found_);
    }
    conclude(bound);
    if (!bounded) return std::move(found_);
    // The stronger claim, where it does not take many times as long.
    std::vector<Node> open;
    std::vector<Leaf> kept;
    for (Leaf& leaf : leaves_) {
      if (stands_without_bound(leaf)) {
        kept.push_back(std::move(leaf));
      } else {
        open.push_back(std::move(leaf.node));
      }
    }
    leaves_ = std::move(kept);
    if (grow(std::move(open), kInfinity,
             std::min(settings_.max_nodes, std::max(kStrongerNodes, 4 * found_.nodes)))) {
      conclude(kInfinity);
    }
    return std::move(found_);
  }

 private:
  struct Node {
    int place;                       // in the tree
    std::vector<signed char> fixed;  // 0: z is zero, 1: w is, -1: neither
    std::vector<BasisStatus> basis;
  };
  struct Leaf {
    Node node;
    Values y;
    double residual;
  };

  [[nodiscard]] double entry(int i, int j) const { return matrix_[at(i) * at(n_) + at(j)]; }

  bool other_paths() {
    const boxed::Box box{n_, matrix_, vector_, Values(at(n_), 0.0), Values(at(n_), kInfinity)};
    const boxed::Certify certify = [&](const Values& z) {
      Values own = z;
      return certificate::clean_lcp_residual(kernels::SingleLane{}, n_, matrix_.data(),
                                             vector_.data(), own.data(), judge_memory_.data());
    };
    const boxed::Effort effort{settings_.tolerance, 50 * (n_ + 1), false,
                               simd::box_code(simd::instruction_set()).follow};
    boxed::Found found = boxed::follow_other_paths(box, effort, certify, kOtherPaths);
    return found.status == Status::solved && accept(found.z);
  }

  /// Whether z, cleaned, is an answer by the certificate.
  bool accept(const Values& z) {
    Values own = z;
    for (double& value : own) value = std::max(value, 0.0);
    const double residual =
        certificate::clean_lcp_residual(kernels::SingleLane{}, n_, matrix_.data(), vector_.data(),
                                        own.data(), judge_memory_.data());
    if (!certificate::within(residual, settings_.tolerance)) return false;
    found_.status = Status::solved;
    found_.solution = std::move(own);
    found_.residual = residual;
    found_.tree.clear();
    found_.leaf_farkas.clear();
    return true;
  }

  /// Adds to tree_ and leaves_ what is below the open nodes. True where all is closed; false at
  /// the limit, and with an answer.
  bool grow(std::vector<Node> open, double bound, int limit) {
    int nodes = 0;
    while (!open.empty()) {
      Node node = std::move(open.back());
      open.pop_back();
      if (++nodes > limit) return false;
      ++found_.nodes;
      set_bounds(node, bound);
      std::fill_n(lp_.cost.data(), n_, 0.0);
      LpResult result = solve(node.basis);
      const Status status = result.status.host()[0];
      if (status == Status::infeasible && result.residual.host()[0] <= kernels::kLcpProof) {
        Values y(result.farkas.data(), result.farkas.data() + n_);
        if (clears_noise(node, y, bound)) {
          leaves_.push_back({std::move(node), std::move(y), result.residual.host()[0]});
          continue;
        }
      }
      int pair = -1;
      bool zero_first = true;
      if (status == Status::solved) {
        Values z(result.solution.data(), result.solution.data() + n_);
        const int objectives = node.place == 0 ? kRootObjectives : 1;
        for (int round = 0;; ++round) {
          pair = worst_pair(node, z, zero_first);
          if (accept(z)) return false;
          if (pair < 0 || round == objectives) break;
          draw(node, z);
          node.basis.assign(result.basis.data(), result.basis.data() + 2 * n_);
          LpResult drawn = solve(node.basis);
          if (drawn.status.host()[0] != Status::solved) break;
          result = std::move(drawn);
          z.assign(result.solution.data(), result.solution.data() + n_);
        }
      }
      for (int k = 0; k < n_ && pair < 0; ++k) {
        if (node.fixed[at(k)] < 0) pair = k;
      }
      if (pair < 0) return false;  // nothing left to fix, and neither point nor proof
      std::vector<BasisStatus> basis(result.basis.data(), result.basis.data() + 2 * n_);
      if (status != Status::solved) basis.clear();
      for (const int turn : {1, 0}) {  // the last one is looked at next
        const int side = (turn == 0) == zero_first ? 0 : 1;
        Node child{static_cast<int>(tree_.size()), node.fixed, basis};
        child.fixed[at(pair)] = static_cast<signed char>(side);
        tree_.push_back({node.place, pair, side});
        open.push_back(std::move(child));
      }
    }
    return true;
  }

  /// No answer below the bound, by the tree as it is.
  void conclude(double bound) {
    std::sort(leaves_.begin(), leaves_.end(),
              [](const Leaf& a, const Leaf& b) { return a.node.place < b.node.place; });
    found_.tree = tree_;
    found_.leaf_farkas.clear();
    found_.residual = 0.0;
    for (const Leaf& leaf : leaves_) {
      found_.leaf_farkas.push_back(leaf.y);
      found_.residual = std::max(found_.residual, leaf.residual);
    }
    found_.status = Status::infeasible;
    found_.bound = bound;
  }

  /// Whether a leaf's vector needs the bound only for what rounding left in it; then it is freed of
  /// that.
  bool stands_without_bound(Leaf& leaf) {
    double most = 0.0;
    for (int i = 0; i < n_; ++i) most = std::max(most, std::fabs(leaf.y[at(i)]) * unit_[at(i)]);
    Values y = leaf.y;
    for (int i = 0; i < n_; ++i) {
      if (std::fabs(y[at(i)]) * unit_[at(i)] <= kernels::kLcpProof * most) y[at(i)] = 0.0;
    }
    set_bounds(leaf.node, kInfinity);
    std::fill_n(lp_.cost.data(), n_, 0.0);
    const kernels::SingleLane lane;
    certificate::LpCertificate<kernels::SingleLane> judge(lane, n_, n_, proof_memory_.data());
    const certificate::LpData lp{n_,
                                 n_,
                                 lp_.cost.data(),
                                 matrix_.data(),
                                 lp_.row_lower.data(),
                                 lp_.row_upper.data(),
                                 lp_.column_lower.data(),
                                 lp_.column_upper.data()};
    const double residual = judge.load(lp) ? judge.farkas_residual(y.data()) : kInfinity;
    if (!(residual <= kernels::kLcpProof) || !clears_noise(leaf.node, y, kInfinity)) return false;
    leaf.y = std::move(y);
    leaf.residual = residual;
    return true;
  }

  void set_bounds(const Node& node, double bound) {
    for (int k = 0; k < n_; ++k) {
      lp_.row_lower.data()[k] = -vector_[at(k)];
      lp_.row_upper.data()[k] = node.fixed[at(k)] == 1 ? -vector_[at(k)] : kInfinity;
      lp_.column_upper.data()[k] = node.fixed[at(k)] == 0 ? 0.0 : bound;
    }
  }
  LpResult solve(const std::vector<BasisStatus>& basis) {
    LpSettings settings;
    settings.threads = 1;
    if (basis.empty()) return solve_lp(lp_, settings, nullptr);
    const auto start = Buffer<BasisStatus>::borrow(const_cast<BasisStatus*>(basis.data()),
                                                   basis.size(), MemorySpace::host);
    LpResult result = solve_lp(lp_, settings, &start);
    const Status status = result.status.host()[0];
    if (status == Status::solved || status == Status::infeasible) return result;
    return solve_lp(lp_, settings, nullptr);
  }

  [[nodiscard]] double slack(int i, const Values& z) const {
    double w = vector_[at(i)];
    for (int j = 0; j < n_; ++j) w += entry(i, j) * z[at(j)];
    return w;
  }

  /// The pair whose smaller member is the largest; -1 where none has both positive.
  int worst_pair(const Node& node, const Values& z, bool& zero_first) const {
    double most_z = 0.0, most_w = 0.0;
    Values w(at(n_));
    for (int k = 0; k < n_; ++k) {
      w[at(k)] = slack(k, z) / unit_[at(k)];
      most_z = std::max(most_z, z[at(k)]);
      most_w = std::max(most_w, w[at(k)]);
    }
    int pair = -1;
    double worst = 1e-12;
    for (int k = 0; k < n_; ++k) {
      if (node.fixed[at(k)] >= 0 || !(most_z > 0.0) || !(most_w > 0.0)) continue;
      const double own = std::min(z[at(k)] / most_z, w[at(k)] / most_w);
      if (!(own > worst)) continue;
      worst = own;
      pair = k;
      zero_first = z[at(k)] / most_z <= w[at(k)] / most_w;
    }
    return pair;
  }

  /// The objective that falls towards complementarity: of each pair the smaller one.
  void draw(const Node& node, const Values& z) {
    std::fill_n(lp_.cost.data(), n_, 0.0);
    double most = 0.0;
    for (const double value : z) most = std::max(most, value);
    for (int k = 0; k < n_; ++k) {
      if (node.fixed[at(k)] >= 0) continue;
      const double w = slack(k, z) / unit_[at(k)];
      if (z[at(k)] <= w) {
        lp_.cost.data()[k] += 1.0;
        continue;
      }
      for (int j = 0; j < n_; ++j) lp_.cost.data()[j] += entry(k, j) / unit_[at(k)];
    }
  }

  /// Whether the margin of y is more than data that may be rounding could give it.
  [[nodiscard]] bool clears_noise(const Node& node, const Values& y, double bound) const {
    double highest = 0.0, noise = 0.0;
    for (int i = 0; i < n_; ++i) {
      highest += vector_[at(i)] * y[at(i)];
      noise += std::fabs(y[at(i)]) * unit_[at(i)] * noise_;
    }
    for (int j = 0; j < n_; ++j) {
      if (node.fixed[at(j)] == 0) continue;
      double pull = 0.0, size = 0.0;
      for (int i = 0; i < n_; ++i) {
        pull += entry(i, j) * y[at(i)];
        size += std::fabs(entry(i, j) * y[at(i)]);
      }
      if (pull > certificate::noise_floor(n_) * size && bound < kInfinity) highest += pull * bound;
    }
    return highest + noise < 0.0;
  }

  int n_;
  Values matrix_, vector_;
  const LcpDecisionSettings& settings_;
  Values judge_memory_, proof_memory_, unit_;
  double largest_ = 0.0;  // |q_i| over the least of the columns' largest entries
  double noise_ = 0.0;
  LpBatch lp_;
  std::vector<LcpTreeNode> tree_;
  std::vector<Leaf> leaves_;
  LcpDecision found_;
};

}  // namespace

std::vector<LcpDecision> decide_lcp(const LcpBatch& batch, const LcpDecisionSettings& settings) {
  LcpSettings first;
  first.tolerance = settings.tolerance;
  first.threads = settings.threads;
  const LcpResult known = solve_lcp(batch, first);
  const int n = batch.order;
  std::vector<LcpDecision> decisions(static_cast<std::size_t>(batch.problems));
  parallel_for_each(batch.problems, settings.threads, [&](std::int64_t p) {
    LcpDecision& decision = decisions[static_cast<std::size_t>(p)];
    const Status status = known.status.host()[static_cast<std::size_t>(p)];
    decision.status = status;
    decision.residual = known.residual.host()[static_cast<std::size_t>(p)];
    if (status == Status::solved) {
      decision.solution.assign(known.solution.data() + p * n, known.solution.data() + (p + 1) * n);
    } else if (status == Status::infeasible) {
      decision.leaf_farkas.emplace_back(known.farkas.data() + p * n,
                                        known.farkas.data() + (p + 1) * n);
    } else if (status != Status::invalid_input) {
      decision =
          Decide(batch.matrix.data() + p * n * n, batch.vector.data() + p * n, n, settings).run();
    }
  });
  return decisions;
}

}  // namespace carom::cpu
