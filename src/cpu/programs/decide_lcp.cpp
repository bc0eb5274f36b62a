#include <Eigen/LU>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <carom/certificate_lcp.hpp>
#include <carom/certificate_lp.hpp>

#include "core/constants.hpp"
#include "core/index.hpp"
#include "core/parallel.hpp"
#include "cpu/simd/box_code.hpp"
#include "cpu/simd/dispatch.hpp"
#include "programs/kernels/doubled.hpp"
#include "programs/lcp/backends.hpp"
#include "programs/lcp/boxed.hpp"
#include "programs/lcp/decide.hpp"
#include "programs/lcp/kernels/lcp_finish.hpp"
#include "programs/lcp/tree_program.hpp"
#include "programs/lcp/two_players.hpp"
#include "programs/lp/backends.hpp"

namespace carom::cpu {

namespace {

namespace side = boxed::side;

using Values = std::vector<double>;
constexpr int kPathsOfDecision = 2;
constexpr int kStartsOfGame = 3;    // each ends in an answer, but for rounding
constexpr int kStrongerNodes = 60;  // below leaves that need the bound, at least
constexpr double kSmall = 1e-9;     // of the largest terms: may be what rounding left
constexpr int kRootObjectives = 3;  // linear ones that draw the root's point to an answer

/// One boxed LCP and the tree over its pairs; an LCP where there are no upper bounds and every
/// lower one is zero.
class Decide {
 public:
  Decide(const certificate::BoxedLcpData& problem, bool is_lcp, const LcpDecisionSettings& settings)
      : n_(problem.order),
        is_lcp_(is_lcp),
        problem_(problem),
        program_(problem),
        settings_(settings),
        judge_memory_(
            index(static_cast<int>(std::max(certificate::lcp_judge_workspace(n_) + n_,
                                            certificate::boxed_lcp_judge_workspace(n_))))),
        proof_memory_(index(static_cast<int>(
            certificate::lp_certificate_workspace(program_.rows(), program_.columns())))),
        unit_(index(program_.rows()), 1.0) {
    double least_column = kInfinity;
    for (int i = 0; i < n_; ++i) {
      double row = 0.0;
      for (int j = 0; j < n_; ++j) row = std::max(row, std::fabs(entry(i, j)));
      if (row > 0.0) unit_[index(i)] = row;
      largest_ = std::max(largest_, std::fabs(problem.vector[i]));
      double column = 0.0;
      for (int j = 0; j < n_; ++j) column = std::max(column, std::fabs(entry(j, i)));
      if (column > 0.0) least_column = std::min(least_column, column);
      noise_ = std::max(noise_, std::fabs(problem.vector[i]) / unit_[index(i)]);
    }
    noise_ *= kernels::kLcpNoise;
    if (least_column < kInfinity) largest_ /= least_column;
    for (int i = 0; i < n_; ++i) {
      if (program_.is_friction(i)) continue;
      for (const double bound : {problem.lower[i], problem.upper[i]}) {
        if (std::isfinite(bound)) largest_ = std::max(largest_, std::fabs(bound));
      }
    }
    const auto borrowed = [](Values& values) {
      return Buffer<double>::borrow(values.data(), values.size(), MemorySpace::host);
    };
    lp_.problems = 1;
    lp_.rows = program_.rows();
    lp_.columns = n_;
    lp_.cost = borrowed(program_.cost);
    lp_.matrix = borrowed(program_.matrix);
    lp_.row_lower = borrowed(program_.row_lower);
    lp_.row_upper = borrowed(program_.row_upper);
    lp_.column_lower = borrowed(program_.column_lower);
    lp_.column_upper = borrowed(program_.column_upper);
  }

  LcpDecision run() {
    if (is_lcp_ && other_starts()) return std::move(found_);
    if (settings_.max_nodes <= 0) return std::move(found_);
    const bool bounded = settings_.bound > 0.0 && largest_ > 0.0;
    const double bound = bounded ? settings_.bound * largest_ : kInfinity;
    tree_.assign(1, {});
    if (!grow({{0, std::vector<signed char>(index(n_), side::kOpen), {}}}, bound,
              settings_.max_nodes)) {
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
    std::vector<signed char> fixed;  // side of each pair
    std::vector<BasisStatus> basis;
  };
  struct Leaf {
    Node node;
    Values y;
    double residual;
  };
  /// How far z is from each side of a pair, relative to the largest of z and of w; infinite for a
  /// side that is not.
  struct Sides {
    std::array<double, 3> away;

    [[nodiscard]] double least() const { return *std::min_element(away.begin(), away.end()); }
    /// The nearest one first; the lower side before w = 0 where they are as near.
    [[nodiscard]] std::array<signed char, 3> order() const {
      std::array<signed char, 3> order{side::kLower, side::kZero, side::kUpper};
      std::stable_sort(order.begin(), order.end(), [this](int a, int b) {
        return away[static_cast<std::size_t>(a)] < away[static_cast<std::size_t>(b)];
      });
      return order;
    }
  };

  /// Of M and, below it, of the friction rows' limits.
  [[nodiscard]] double entry(int i, int j) const {
    return program_.matrix[index(i) * index(n_) + index(j)];
  }

  bool other_starts() {
    const boxed::Box box{n_, program_.matrix, Values(problem_.vector, problem_.vector + n_),
                         Values(index(n_), 0.0), Values(index(n_), kInfinity)};
    const boxed::Effort effort{settings_.tolerance, 50 * (n_ + 1), false,
                               simd::box_code(simd::instruction_set()).follow};
    if (const auto players = boxed::TwoPlayers::of(box)) return play(*players, effort);
    const boxed::Certify certify = [&](const Values& z) {
      Values own = z;
      return lcp_residual(own);
    };
    boxed::Found found = boxed::follow_other_paths(box, effort, certify, kPathsOfDecision);
    return found.status == Status::solved && accept(found.z);
  }
  bool play(const boxed::TwoPlayers& players, const boxed::Effort& effort) {
    for (int number = 0; number < kStartsOfGame; ++number) {
      const boxed::TwoPlayers::Start start = players.start(number);
      const auto answer = [&](const Values& z) {
        return equalised(players.unpivoted(start.pivoted, number, z));
      };
      const boxed::Certify certify = [&](const Values& z) {
        Values own = answer(z);
        return lcp_residual(own);
      };
      const boxed::Found found =
          boxed::follow_path_along(start.pivoted, start.cover, effort, certify);
      if (found.status == Status::solved && accept(answer(found.z))) return true;
    }
    return false;
  }
  /// z > 0 once more from w = 0 there, with the digits of the data.
  [[nodiscard]] Values equalised(Values z) const {
    std::vector<signed char> sides(index(n_));
    for (int k = 0; k < n_; ++k) sides[index(k)] = z[index(k)] > 0.0 ? side::kZero : side::kLower;
    const Solved solved(*this, sides);
    Values own = z;
    for (int round = 0; round < 2; ++round) {
      if (!solved.improve(own)) return z;
    }
    for (double& value : own) value = std::max(value, 0.0);
    return own;
  }
  double lcp_residual(Values& z) {
    return certificate::clean_lcp_residual(kernels::SingleLane{}, n_, problem_.matrix,
                                           problem_.vector, z.data(), judge_memory_.data());
  }

  /// Whether z, cleaned, is an answer by the certificate.
  bool accept(const Values& z) {
    Values own = z;
    if (is_lcp_) {
      for (double& value : own) value = std::max(value, 0.0);
      return take(own, lcp_residual(own));
    }
    const std::vector<Sides> sides = sides_of(z);
    std::vector<signed char> nearest(index(n_));
    for (int k = 0; k < n_; ++k) {
      nearest[index(k)] = program_.sides(k) == 0 ? side::kLower : sides[index(k)].order().front();
    }
    certificate::BoxedLcpJudge judge(problem_, judge_memory_.data());
    put(nearest, own);
    if (take(own, judge.residual(own.data()))) return true;
    const Solved solved(*this, nearest);
    for (int round = 0; round < 2; ++round) {
      if (!solved.improve(own)) return false;
      put(nearest, own);
    }
    return take(own, judge.residual(own.data()));
  }
  bool take(Values& z, double residual) {
    if (!certificate::within(residual, settings_.tolerance)) return false;
    found_.status = Status::solved;
    found_.solution = std::move(z);
    found_.residual = residual;
    found_.tree.clear();
    found_.leaf_farkas.clear();
    return true;
  }

  /// z at the bounds that the sides name, the rest within its own.
  void put(const std::vector<signed char>& sides, Values& z) const {
    for (int k = 0; k < n_; ++k) {
      if (program_.is_friction(k)) continue;
      double& own = z[index(k)];
      own = std::min(std::max(own, problem_.lower[k]), problem_.upper[k]);
      if (sides[index(k)] == side::kLower) own = problem_.lower[k];
      if (sides[index(k)] == side::kUpper) own = problem_.upper[k];
    }
    for (int k = 0; k < n_; ++k) {
      if (!program_.is_friction(k)) continue;
      const double limit = problem_.friction[k] * z[index(problem_.index(k))];
      double& own = z[index(k)];
      own = std::min(std::max(own, -limit), limit);
      if (sides[index(k)] == side::kLower) own = -limit;
      if (sides[index(k)] == side::kUpper) own = limit;
    }
  }

  /// The equations w_k = 0 in the z_k that no bound holds.
  class Solved {
   public:
    Solved(const Decide& decide, const std::vector<signed char>& sides) : decide_(decide) {
      for (int k = 0; k < decide.n_; ++k) {
        if (sides[index(k)] == side::kZero) zero_.push_back(k);
      }
      const auto count = static_cast<Eigen::Index>(zero_.size());
      Eigen::MatrixXd block(count, count);
      for (Eigen::Index b = 0; b < count; ++b) {
        const int j = zero_[static_cast<std::size_t>(b)];
        for (Eigen::Index a = 0; a < count; ++a) {
          const int i = zero_[static_cast<std::size_t>(a)];
          double sum = decide.entry(i, j);
          for (int k = 0; k < decide.n_; ++k) {  // a friction row at its limit goes with z_j
            if (!decide.program_.is_friction(k) || decide.problem_.index(k) != j) continue;
            if (sides[index(k)] == side::kUpper)
              sum += decide.problem_.friction[k] * decide.entry(i, k);
            if (sides[index(k)] == side::kLower)
              sum -= decide.problem_.friction[k] * decide.entry(i, k);
          }
          block(a, b) = sum;
        }
      }
      if (count > 0) factors_.compute(block);
    }
    /// False where z is no finite point then.
    [[nodiscard]] bool improve(Values& z) const {
      if (zero_.empty()) return false;
      Eigen::VectorXd w(static_cast<Eigen::Index>(zero_.size()));
      for (Eigen::Index a = 0; a < w.size(); ++a) {
        w[a] = decide_.slack(zero_[static_cast<std::size_t>(a)], z);
      }
      const Eigen::VectorXd step = factors_.solve(w);
      if (!step.allFinite()) return false;
      for (Eigen::Index a = 0; a < w.size(); ++a) {
        z[index(zero_[static_cast<std::size_t>(a)])] -= step[a];
      }
      return true;
    }

   private:
    const Decide& decide_;
    std::vector<int> zero_;
    Eigen::FullPivLU<Eigen::MatrixXd> factors_;
  };

  /// Adds to tree_ and leaves_ what is below the open nodes. True where all is closed; false at
  /// the limit, and with an answer.
  bool grow(std::vector<Node> open, double bound, int limit) {
    const int rows = program_.rows();
    int nodes = 0;
    while (!open.empty()) {
      Node node = std::move(open.back());
      open.pop_back();
      if (++nodes > limit) return false;
      ++found_.nodes;
      program_.set(node.fixed, bound);
      std::fill_n(lp_.cost.data(), n_, 0.0);
      LpResult result = solve(node.basis);
      const Status status = result.status.host()[0];
      if (status == Status::infeasible && result.residual.host()[0] <= kernels::kLcpProof) {
        Values y(result.farkas.data(), result.farkas.data() + rows);
        if (clears_noise(y) && is_clear(y, bound)) {
          leaves_.push_back({std::move(node), std::move(y), result.residual.host()[0]});
          continue;
        }
      }
      int pair = -1;
      Sides sides{};
      if (status == Status::solved) {
        Values z(result.solution.data(), result.solution.data() + n_);
        const int objectives = node.place == 0 ? kRootObjectives : 1;
        for (int round = 0;; ++round) {
          pair = worst_pair(node, z, sides);
          if (accept(z)) return false;
          if (pair < 0 || round == objectives) break;
          draw(node, z);
          node.basis.assign(result.basis.data(), result.basis.data() + n_ + rows);
          LpResult drawn = solve(node.basis);
          if (drawn.status.host()[0] != Status::solved) break;
          result = std::move(drawn);
          z.assign(result.solution.data(), result.solution.data() + n_);
        }
      }
      for (int k = 0; k < n_ && pair < 0; ++k) {
        if (node.fixed[index(k)] < 0 && branches(k)) pair = k;
      }
      if (pair < 0) return false;  // nothing left to fix, and neither point nor proof
      std::vector<BasisStatus> basis(result.basis.data(), result.basis.data() + n_ + rows);
      if (status != Status::solved) basis.clear();
      const std::array<signed char, 3> order = sides.order();
      for (std::size_t turn = order.size(); turn-- > 0;) {  // the last one is looked at next
        const signed char own = order[turn];
        if ((program_.sides(pair) & (1 << own)) == 0) continue;
        Node child{static_cast<int>(tree_.size()), node.fixed, basis};
        child.fixed[index(pair)] = own;
        tree_.push_back({node.place, pair, own});
        open.push_back(std::move(child));
      }
    }
    return true;
  }
  /// Equations and fixed z_k have one side only.
  [[nodiscard]] bool branches(int k) const {
    const int sides = program_.sides(k);
    return (sides & (sides - 1)) != 0;
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
    Values y = leaf.y;
    for (std::size_t i = 0; i < y.size(); ++i) most = std::max(most, std::fabs(y[i]) * unit_[i]);
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (std::fabs(y[i]) * unit_[i] <= kernels::kLcpProof * most) y[i] = 0.0;
    }
    program_.set(leaf.node.fixed, kInfinity);
    std::fill_n(lp_.cost.data(), n_, 0.0);
    const kernels::SingleLane lane;
    certificate::LpCertificate<kernels::SingleLane> judge(lane, program_.rows(), n_,
                                                          proof_memory_.data());
    const double residual =
        judge.load(program_.data()) ? judge.farkas_residual(y.data()) : kInfinity;
    if (!(residual <= kernels::kLcpProof) || !clears_noise(y) || !is_clear(y, kInfinity)) {
      return false;
    }
    leaf.y = std::move(y);
    leaf.residual = residual;
    return true;
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
    double w = problem_.vector[i];
    for (int j = 0; j < n_; ++j) w += entry(i, j) * z[index(j)];
    return w;
  }
  [[nodiscard]] double lower(int k, const Values& z) const {
    return program_.is_friction(k) ? -problem_.friction[k] * z[index(problem_.index(k))]
                                   : problem_.lower[k];
  }
  [[nodiscard]] double upper(int k, const Values& z) const {
    return program_.is_friction(k) ? problem_.friction[k] * z[index(problem_.index(k))]
                                   : problem_.upper[k];
  }

  /// Of every pair; w is left in w_.
  std::vector<Sides> sides_of(const Values& z) {
    double most_z = 0.0, most_w = 0.0;  // no less than what may be rounding
    w_.resize(index(n_));
    for (int k = 0; k < n_; ++k) {
      double size = std::fabs(problem_.vector[k]);
      for (int j = 0; j < n_; ++j) size = std::max(size, std::fabs(entry(k, j) * z[index(j)]));
      w_[index(k)] = slack(k, z) / unit_[index(k)];
      const double room = std::min(z[index(k)] - lower(k, z), upper(k, z) - z[index(k)]);
      most_z = std::max({most_z, kSmall * std::fabs(z[index(k)]), room < kInfinity ? room : 0.0});
      most_w = std::max(
          {most_w, kSmall * size / unit_[index(k)], branches(k) ? std::fabs(w_[index(k)]) : 0.0});
    }
    if (!(most_z > 0.0)) most_z = 1.0;
    if (!(most_w > 0.0)) most_w = 1.0;
    std::vector<Sides> all(index(n_));
    for (int k = 0; k < n_; ++k) {
      const double w = w_[index(k)] / most_w;
      const double down = (z[index(k)] - lower(k, z)) / most_z,
                   up = (upper(k, z) - z[index(k)]) / most_z;
      all[index(k)].away = {std::max(down, 0.0) + std::max(-w, 0.0), std::fabs(w),
                            std::max(up, 0.0) + std::max(w, 0.0)};
    }
    return all;
  }

  /// The pair that is the farthest from its nearest side; -1 where all are on one.
  int worst_pair(const Node& node, const Values& z, Sides& sides) {
    const std::vector<Sides> all = sides_of(z);
    int pair = -1;
    double worst = 1e-12;
    for (int k = 0; k < n_; ++k) {
      if (node.fixed[index(k)] >= 0 || !branches(k)) continue;
      const double own = all[index(k)].least();
      if (!(own > worst)) continue;
      worst = own;
      pair = k;
      sides = all[index(k)];
    }
    return pair;
  }

  /// The objective that falls towards complementarity: each pair to the nearest of its sides.
  void draw(const Node& node, const Values& z) {
    const std::vector<Sides> all = sides_of(z);
    std::fill_n(lp_.cost.data(), n_, 0.0);
    const auto add = [&](int row, double factor) {
      for (int j = 0; j < n_; ++j) lp_.cost.data()[j] += factor * entry(row, j);
    };
    for (int k = 0; k < n_; ++k) {
      if (node.fixed[index(k)] >= 0 || !branches(k)) continue;
      const signed char nearest = all[index(k)].order().front();
      if (nearest == side::kZero) {
        // Between two bounds w has no sign that ends its fall.
        if (program_.row_lower[index(k)] > -kInfinity) add(k, 1.0 / unit_[index(k)]);
        if (program_.row_upper[index(k)] < kInfinity) add(k, -1.0 / unit_[index(k)]);
      } else if (program_.is_friction(k)) {
        const int row = program_.limit_row(k);
        nearest == side::kLower ? add(row + 1, 1.0) : add(row, -1.0);
      } else {
        lp_.cost.data()[k] += nearest == side::kLower ? 1.0 : -1.0;
      }
    }
  }

  /// Whether the margin of y, of the programme as it stands, is more than data that may be rounding
  /// could give it.
  [[nodiscard]] bool clears_noise(const Values& y) const {
    const int rows = program_.rows();
    double highest = 0.0, noise = 0.0;
    for (int i = 0; i < n_; ++i) {
      highest += problem_.vector[i] * y[index(i)];
      noise += std::fabs(y[index(i)]) * unit_[index(i)] * noise_;
    }
    for (int j = 0; j < n_; ++j) {
      const double low = program_.column_lower[index(j)], high = program_.column_upper[index(j)];
      if (low == 0.0 && high == 0.0) continue;
      double pull = 0.0, size = 0.0;
      for (int i = 0; i < rows; ++i) {
        pull += entry(i, j) * y[index(i)];
        size += std::fabs(entry(i, j) * y[index(i)]);
      }
      if (std::fabs(pull) <= certificate::noise_floor(n_) * size) continue;
      const double bound = pull > 0.0 ? high : low;
      if (std::isfinite(bound)) highest += pull * bound;
    }
    return highest + noise < 0.0;
  }

  /// Whether the zeros of y, of the programme as it stands with this bound, are as near as the
  /// margin asks for: docs/howto/check_a_proof.md.
  [[nodiscard]] bool is_clear(const Values& y, double bound) const {
    constexpr double kLeastMargin = 1e-13, kOfMargin = 1e-6, kZero = 1e-8;
    const int rows = program_.rows();
    kernels::Doubled margin;
    double largest = 0.0, size = 0.0;
    const auto add = [&](double term) {
      margin = margin + term;
      largest = std::max(largest, std::fabs(term));
      size += std::fabs(term);
    };
    const auto holds = [&] { return static_cast<double>(margin) < -kLeastMargin * size; };
    struct Endless {
      double pull, most;  // the largest of its terms
    };
    std::vector<Endless> endless;
    for (int i = 0; i < n_; ++i) add(problem_.vector[i] * y[index(i)]);
    for (int j = 0; j < n_; ++j) {
      kernels::Doubled sum;
      double most = 0.0;
      for (int i = 0; i < rows; ++i) {
        const double term = entry(i, j) * y[index(i)];
        sum = sum + term;
        most = std::max(most, std::fabs(term));
      }
      const double pull = static_cast<double>(sum);
      if (pull == 0.0) continue;
      const double end =
          pull > 0.0 ? program_.column_upper[index(j)] : program_.column_lower[index(j)];
      if (std::fabs(end) == bound) {
        endless.push_back({pull, most});
      } else {
        add(pull * end);
      }
    }
    if (!holds()) return false;
    const double zero = std::min(kZero, -kOfMargin * static_cast<double>(margin) / largest);
    for (const Endless& column : endless) {
      if (std::fabs(column.pull) <= zero * column.most) continue;
      if (std::isinf(bound)) return false;
      add(std::fabs(column.pull) * bound);
    }
    return holds();
  }

  int n_;
  bool is_lcp_;
  certificate::BoxedLcpData problem_;
  boxed::TreeProgram program_;
  const LcpDecisionSettings& settings_;
  Values judge_memory_, proof_memory_, unit_, w_;
  double largest_ = 0.0;  // |q_i| over the least of the columns' largest entries, or a bound
  double noise_ = 0.0;
  LpBatch lp_;
  std::vector<LcpTreeNode> tree_;
  std::vector<Leaf> leaves_;
  LcpDecision found_;
};

/// What `known` says of problem p, where it decides it; true then.
template <class Result>
bool is_decided(const Result& known, std::int64_t p, int n, LcpDecision& decision) {
  const Status status = known.status.host()[static_cast<std::size_t>(p)];
  decision.status = status;
  decision.residual = known.residual.host()[static_cast<std::size_t>(p)];
  if (status == Status::solved) {
    decision.solution.assign(known.solution.data() + p * n, known.solution.data() + (p + 1) * n);
  } else if (status == Status::infeasible) {
    decision.leaf_farkas.emplace_back(known.farkas.data() + p * n,
                                      known.farkas.data() + (p + 1) * n);
  }
  return status == Status::solved || status == Status::infeasible ||
         status == Status::invalid_input;
}

}  // namespace

std::vector<LcpDecision> decide_lcp(const LcpBatch& batch, const LcpDecisionSettings& settings) {
  LcpSettings first;
  first.tolerance = settings.tolerance;
  first.threads = settings.threads;
  const LcpResult known = solve_lcp(batch, first);
  const int n = batch.order;
  const Values zero(index(n), 0.0), infinite(index(n), kInfinity);
  std::vector<LcpDecision> decisions(static_cast<std::size_t>(batch.problems));
  parallel_for_each(batch.problems, settings.threads, [&](std::int64_t p) {
    LcpDecision& decision = decisions[static_cast<std::size_t>(p)];
    if (is_decided(known, p, n, decision)) return;
    const certificate::BoxedLcpData problem{n,
                                            batch.matrix.data() + p * n * n,
                                            batch.vector.data() + p * n,
                                            zero.data(),
                                            infinite.data(),
                                            nullptr,
                                            nullptr};
    decision = Decide(problem, true, settings).run();
  });
  return decisions;
}

std::vector<LcpDecision> decide_boxed_lcp(const BoxedLcpBatch& batch, const BoxedLcpResult& known,
                                          const LcpDecisionSettings& settings) {
  const int n = batch.order;
  std::vector<LcpDecision> decisions(static_cast<std::size_t>(batch.problems));
  parallel_for_each(batch.problems, settings.threads, [&](std::int64_t p) {
    LcpDecision& decision = decisions[static_cast<std::size_t>(p)];
    if (is_decided(known, p, n, decision)) return;
    const std::int64_t first_row = p * n;
    const bool rubs = !batch.findex.empty();
    const certificate::BoxedLcpData problem{n,
                                            batch.matrix.data() + first_row * n,
                                            batch.vector.data() + first_row,
                                            batch.lower.data() + first_row,
                                            batch.upper.data() + first_row,
                                            rubs ? batch.findex.data() + first_row : nullptr,
                                            rubs ? batch.friction.data() + first_row : nullptr};
    decision = Decide(problem, false, settings).run();
  });
  return decisions;
}

}  // namespace carom::cpu
