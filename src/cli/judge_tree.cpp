#include <cmath>
#include <string>

#include "cli/judge_terms.hpp"

namespace carom::cli {

using run::BoxedLcpProblem;

namespace {

enum Side : signed char { kOpen = -1, kLower = 0, kZero = 1, kUpper = 2 };

/// The sides that pair k has, as bits 1 << side.
int sides_of(const BoxedLcpProblem& box, std::size_t k) {
  if (!box.findex.empty() && box.findex[k] >= 0) return 7;
  if (box.lower[k] == box.upper[k]) return 0;
  return (1 << kZero) | (box.lower[k] > -kInfinity ? 1 << kLower : 0) |
         (box.upper[k] < kInfinity ? 1 << kUpper : 0);
}

/// The nodes of a tree, each with all sides of its children's pair.
struct Tree {
  const Numbers& entries;  ///< parent, pair and side of each
  std::vector<double> branched;

  Tree(const BoxedLcpProblem& box, const Numbers& given) : entries(given) {
    const std::size_t n = box.vector.size();
    if (given.empty() || given.size() % 3 != 0) refute("tree: must be nodes [parent, pair, side]");
    if (given[0] != -1.0) refute("tree[0]: must be the root, [-1, -1, -1]");
    const std::size_t nodes = given.size() / 3;
    std::vector<int> sides(nodes, 0);
    branched.assign(nodes, -1.0);
    for (std::size_t i = 1; i < nodes; ++i) {
      const double parent = given[3 * i], pair = given[3 * i + 1], side = given[3 * i + 2];
      const auto whole = [](double value, double end) {
        return value >= 0.0 && value < end && value == std::floor(value);
      };
      if (!whole(parent, static_cast<double>(i)) || !whole(pair, static_cast<double>(n)) ||
          !whole(side, 3.0) ||
          (sides_of(box, static_cast<std::size_t>(pair)) & (1 << static_cast<int>(side))) == 0) {
        refute("tree[{}] is [{}, {}, {}]: must be an earlier node, a pair and a side", i, parent,
               pair, side);
      }
      const auto p = static_cast<std::size_t>(parent);
      const int bit = 1 << static_cast<int>(side);
      if ((branched[p] >= 0.0 && branched[p] != pair) || (sides[p] & bit) != 0) {
        refute("tree[{}]: node {} has another pair or this side already", i, p);
      }
      branched[p] = pair;
      sides[p] |= bit;
    }
    for (std::size_t i = 0; i < nodes; ++i) {
      if (branched[i] >= 0.0 && sides[i] != sides_of(box, static_cast<std::size_t>(branched[i]))) {
        refute("tree: node {} lacks a side of pair {}", i, branched[i]);
      }
    }
  }

  /// The side of every pair at node i.
  [[nodiscard]] std::vector<signed char> at(std::size_t i, std::size_t pairs) const {
    std::vector<signed char> fixed(pairs, kOpen);
    for (auto node = i; entries[3 * node] >= 0.0;
         node = static_cast<std::size_t>(entries[3 * node])) {
      signed char& own = fixed[static_cast<std::size_t>(entries[3 * node + 1])];
      if (own != kOpen) refute("tree: node {} fixes pair {} twice", i, entries[3 * node + 1]);
      own = static_cast<signed char>(entries[3 * node + 2]);
    }
    return fixed;
  }
};

/// y of a leaf against the rows and columns of its node: y' (M z + q) < 0 for every z that it
/// allows.
class Leaf {
 public:
  Leaf(const BoxedLcpProblem& box, std::size_t leaf, const Numbers& y,
       const std::vector<signed char>& fixed)
      : box_(box), leaf_(leaf), y_(y), fixed_(fixed), n_(box.vector.size()) {}

  void judge(double bound) const {
    for (const double value : y_) {
      if (!std::isfinite(value)) refute("leaf_farkas[{}] has {}: must be finite", leaf_, value);
    }
    std::vector<Numbers> pulls(n_);
    const MatrixView matrix{box_.matrix, n_, n_};
    const Numbers rows(y_.begin(), y_.begin() + static_cast<std::ptrdiff_t>(n_));
    for (std::size_t k = 0; k < n_; ++k) append(pulls[k], matrix.column_by(k, rows));
    std::size_t limit = n_;
    for (std::size_t i = 0; i < n_; ++i) {
      const bool at_low = fixed_[i] == kLower, zero = fixed_[i] == kZero,
                 at_high = fixed_[i] == kUpper;
      if (!rubs(i)) {
        require_sign(i, zero || at_low || box_.upper[i] == kInfinity,
                     zero || at_high || box_.lower[i] == -kInfinity);
        continue;
      }
      require_sign(i, zero || at_low, zero || at_high);
      require_sign(limit, at_high, true);
      require_sign(limit + 1, true, at_low);
      const auto j = static_cast<std::size_t>(box_.findex[i]);
      for (const double sign : {-1.0, 1.0}) {
        pulls[i].push_back(y_[limit]);
        pulls[j].push_back(sign * box_.friction[i] * y_[limit]);
        ++limit;
      }
    }
    const std::string what = fmt::format("leaf {}: what y'(M z + q) reaches", leaf_);
    Numbers most = products(box_.vector, rows);
    std::vector<std::size_t> endless;
    for (std::size_t k = 0; k < n_; ++k) {
      const double pull = exact_sum(pulls[k]), end = end_of(k, pull);
      if (std::isinf(end)) {
        endless.push_back(k);
      } else if (end != 0.0) {
        most.push_back(pull * end);
      }
    }
    const double zero = zero_for_margin(most, what.c_str());
    for (const std::size_t k : endless) {
      const double pull = total(pulls[k], zero);
      if (pull == 0.0) continue;
      if (std::isinf(bound)) {
        refute("leaf {}: entry {} of M'y is {}: must be {} 0", leaf_, k, pull,
               pull > 0.0 ? "<=" : ">=");
      }
      most.push_back(std::fabs(pull) * bound);
    }
    zero_for_margin(most, what.c_str());
  }

 private:
  [[nodiscard]] bool rubs(std::size_t i) const {
    return !box_.findex.empty() && box_.findex[i] >= 0;
  }
  void require_sign(std::size_t i, bool may_be_positive, bool may_be_negative) const {
    const double y = y_[i];
    if ((y > 0.0 && !may_be_positive) || (y < 0.0 && !may_be_negative)) {
      refute("leaf_farkas[{}][{}] is {}: must be {} 0", leaf_, i, y,
             may_be_positive   ? ">="
             : may_be_negative ? "<="
                               : "=");
    }
  }
  /// The bound of z_k that a pull of this sign goes to.
  [[nodiscard]] double end_of(std::size_t k, double pull) const {
    if (rubs(k)) return pull == 0.0 ? 0.0 : kInfinity;
    const bool up = pull > 0.0;
    if (fixed_[k] == kLower) return box_.lower[k];
    if (fixed_[k] == kUpper) return box_.upper[k];
    return pull == 0.0 ? 0.0 : up ? box_.upper[k] : box_.lower[k];
  }

  const BoxedLcpProblem& box_;
  std::size_t leaf_;
  const Numbers& y_;
  const std::vector<signed char>& fixed_;
  std::size_t n_;
};

}  // namespace

void judge_tree(const BoxedLcpProblem& box, Given& given) {
  const std::size_t n = box.vector.size();
  std::size_t rows = n;
  for (const std::int32_t index : box.findex) rows += index >= 0 ? 2 : 0;
  const Tree tree(box, given.take_all("tree"));
  const Numbers& leaves = given.take_all("leaf_farkas");
  const Numbers& bounds = given.take_all("bound");
  if (bounds.size() != 1 || !(bounds[0] >= 0.0)) refute("bound: must be a number >= 0 or null");
  std::size_t leaf = 0;
  for (std::size_t i = 0; i < tree.branched.size(); ++i) {
    if (tree.branched[i] >= 0.0) continue;
    if (rows * (leaf + 1) > leaves.size()) refute("leaf_farkas: leaf {} has none", leaf);
    const auto first = leaves.begin() + static_cast<std::ptrdiff_t>(rows * leaf);
    const Numbers y(first, first + static_cast<std::ptrdiff_t>(rows));
    Leaf(box, leaf, y, tree.at(i, n)).judge(bounds[0]);
    ++leaf;
  }
  if (rows * leaf != leaves.size()) refute("leaf_farkas: {} leaves have a vector", leaf);
}

}  // namespace carom::cli
