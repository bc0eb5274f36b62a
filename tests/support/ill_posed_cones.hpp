#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "support/cone_disguises.hpp"
#include "support/cone_problem.hpp"
#include "support/cone_problems.hpp"

/// Cone programs without an interior, whose truth is known by construction: optima that are not
/// attained or have no multipliers, duality gaps, infeasible and unbounded ones without a proof.
namespace carom::test {

enum class ConeTruth {
  attained,           ///< `objective` is the optimum
  unattained,         ///< the infimum is finite and no point reaches it
  weakly_infeasible,  ///< no point, no Farkas vector
  infeasible,         ///< a Farkas vector exists
  weakly_unbounded,   ///< no lower bound, no ray
};

struct IllPosedCone {
  ConeProblem problem;  ///< objective: where attained
  ConeTruth truth = ConeTruth::attained;
};

/// An affine function of the variables.
struct Affine {
  std::vector<std::pair<int, double>> terms;
  double constant = 0.0;
  Affine() = default;
  Affine(double value) : constant(value) {}  // NOLINT: a number is one
  static Affine of(int variable) {
    Affine result;
    result.terms.emplace_back(variable, 1.0);
    return result;
  }
  Affine& operator+=(const Affine& other) {
    terms.insert(terms.end(), other.terms.begin(), other.terms.end());
    constant += other.constant;
    return *this;
  }
  friend Affine operator+(Affine a, const Affine& b) { return a += b; }
  friend Affine operator*(double k, Affine a) {
    for (auto& term : a.terms) term.second *= k;
    a.constant *= k;
    return a;
  }
};

class IllPosedConeGenerator {
 public:
  explicit IllPosedConeGenerator(std::uint64_t seed) : engine_(seed) {}

  IllPosedCone problem(ConeTruth truth) {
    reset();
    switch (truth) {
      case ConeTruth::attained:
        attained();
        break;
      case ConeTruth::unattained:
        unattained();
        break;
      case ConeTruth::weakly_infeasible:
      case ConeTruth::infeasible:
        excluded(truth == ConeTruth::infeasible);
        break;
      case ConeTruth::weakly_unbounded:
        descending();
        break;
    }
    IllPosedCone made{assemble(), truth};
    if (chance(0.4)) beside(made.problem);
    ConeDisguises disguises(engine_);
    for (int turn = integer(0, 2); turn > 0; --turn) disguises.shear(made.problem);
    if (chance(0.25)) disguises.add_huge(made.problem);
    if (chance(0.3)) disguises.change_units(made.problem);
    return made;
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
  bool chance(double share) { return std::uniform_real_distribution<double>()(engine_) < share; }
  double sign() { return chance(0.5) ? 1.0 : -1.0; }
  double nonzero(int most) { return sign() * integer(1, most); }

  void reset() {
    variables_ = 0;
    planted_.clear();
    rows_.clear();
    cones_.clear();
    squares_.clear();
    objective_ = Affine();
  }
  /// A variable, at the planted optimum where there is one.
  Affine variable(double at = 0.0) {
    planted_.push_back(at);
    return Affine::of(variables_++);
  }
  void row(const Affine& e, double lower, double upper) { rows_.push_back({e, lower, upper}); }
  void at_least_zero(const Affine& e) {
    if (chance(0.2)) {
      cones_.push_back({e});
    } else {
      const double k = integer(1, 3);
      chance(0.5) ? row(k * e, 0.0, kInfinity) : row(-k * e, -kInfinity, 0.0);
    }
  }
  void zero(const Affine& e) {
    if (chance(0.7)) return row(nonzero(2) * e, 0.0, 0.0);
    at_least_zero(e);
    at_least_zero(-1.0 * e);
  }

  /// 4 a b >= |c|^2 with a, b >= 0, turned into a cone of c.size() + 2 rows.
  void rotated(const Affine& a, const Affine& b, const std::vector<Affine>& c) {
    std::vector<Affine> cone;
    const Affine sum = a + b;
    const Affine difference = a + -1.0 * b;
    if (c.size() == 1 && chance(0.3)) {
      cone = {5.0 * sum, 3.0 * difference + -4.0 * c[0], 4.0 * difference + 3.0 * c[0]};
    } else if (c.size() == 2 && chance(0.3)) {
      cone = {3.0 * sum, 1.0 * difference + 2.0 * c[0] + 2.0 * c[1],
              2.0 * difference + 1.0 * c[0] + -2.0 * c[1],
              2.0 * difference + -2.0 * c[0] + 1.0 * c[1]};
    } else {
      cone = {sum, difference};
      cone.insert(cone.end(), c.begin(), c.end());
    }
    std::shuffle(cone.begin() + 1, cone.end(), engine_);
    for (std::size_t i = 1; i < cone.size(); ++i) {
      if (chance(0.5)) cone[i] = -1.0 * cone[i];
    }
    cones_.push_back(std::move(cone));
  }
  /// A function that is zero wherever the constraints hold.
  Affine nothing() {
    const int kind = integer(0, 4);
    if (kind == 0) return {};
    if (kind == 1) {  // zero by a row
      const double at = integer(-2, 2);
      const Affine x = variable(at);
      zero(x + -at);
      return x + -at;
    }
    if (kind == 2) {  // a cone keeps it from below
      const Affine x = variable();
      at_least_zero(-1.0 * x);
      return x;
    }
    if (kind == 3) {  // the sum of two that are not negative
      const Affine x = variable(), y = variable();
      at_least_zero(x);
      at_least_zero(y);
      at_least_zero(-1.0 * (x + y));
      return x;
    }
    const Affine x = variable(1.0), y = variable(1.0);
    zero(x + -1.0 * y);
    return x + -1.0 * y;
  }
  /// Of a cone without a bound above.
  Affine free_head(double at) {
    Affine a = variable(at);
    if (chance(0.3)) at_least_zero(a + static_cast<double>(integer(0, 3)));
    if (chance(0.2)) a += variable(at);
    return a;
  }

  /// Cones one after the other that force functions to zero; the last is left to the caller:
  /// returns the b of a cone whose c has to vanish.
  Affine forced(int depth) {
    Affine b = nothing();
    for (int k = 1; k < depth; ++k) {
      const Affine c = variable();
      std::vector<Affine> tail{c};
      if (chance(0.3)) tail.push_back(nonzero(2) * c);
      rotated(free_head(integer(1, 3)), b, tail);
      b = c;
    }
    return b;
  }
  int depth() { return chance(0.65) ? 1 : chance(0.8) ? 2 : 3; }

  void attained() {
    const Affine b = forced(depth());
    const double at = integer(-3, 3);
    const Affine x = variable(at);
    std::vector<Affine> tail{nonzero(2) * (x + -at)};
    if (chance(0.3)) {
      const double other = integer(-3, 3);
      const Affine y = variable(other);
      tail.push_back(y + -other);
      if (chance(0.5)) objective_ += nonzero(3) * y;
    }
    Affine head = free_head(integer(1, 4));
    if (chance(0.2)) at_least_zero(static_cast<double>(integer(20, 30)) + -1.0 * head);
    rotated(head, b, tail);
    const int kind = integer(0, 4);  // 0: multipliers exist
    const double slope = kind == 0 ? 0.0 : nonzero(4);
    objective_ += slope * x;
    if (kind >= 2) at_least_zero(sign_of(slope) * (x + -at) + static_cast<double>(integer(1, 4)));
    if (kind == 4) squares_.push_back(x + static_cast<double>(integer(-2, 2)));
    if (chance(0.3)) {  // something ordinary that reads x: |y| <= 2 + (x - at), its tip
      const Affine y = variable(-2.0);
      objective_ += 1.0 * y;
      cones_.push_back({2.0 + x + -at, y, Affine()});
    }
  }
  static double sign_of(double v) { return v < 0.0 ? -1.0 : 1.0; }

  void excluded(bool strongly) {
    const Affine b = forced(strongly ? 1 : depth());
    std::vector<Affine> tail{Affine(nonzero(4))};
    if (chance(0.3)) tail.push_back(variable());
    Affine head = free_head(1.0);
    if (strongly) at_least_zero(static_cast<double>(integer(2, 30)) + -1.0 * head);
    rotated(head, b, tail);
    for (int j = 0; j < variables_; ++j) {
      if (chance(0.3)) objective_ += nonzero(3) * Affine::of(j);
    }
  }

  /// A function above zero that comes as near to it as is wanted, at far points only.
  Affine vanishing() {
    Affine y = variable();
    rotated(free_head(1.0), y, {Affine(nonzero(3))});
    for (int k = depth(); k > 1; --k) {  // the square of the one before
      const Affine next = variable();
      rotated(Affine(static_cast<double>(integer(1, 2))), next, {y});
      y = next;
    }
    return y;
  }

  void unattained() {
    const Affine y = vanishing();
    if (chance(0.3)) {
      squares_.push_back(y);
    } else {
      objective_ += static_cast<double>(integer(1, 4)) * y;
    }
    if (chance(0.3)) {  // forced elsewhere as well
      const Affine b = forced(1);
      rotated(free_head(1.0), b, {variable()});
    }
  }

  void descending() {
    Affine c = variable();
    rotated(free_head(1.0), Affine(static_cast<double>(integer(1, 3))), {c});
    if (chance(0.4)) {  // the root of a root
      const Affine d = variable();
      rotated(c, Affine(static_cast<double>(integer(1, 2))), {d});
      c = d;
    }
    objective_ += nonzero(3) * c;
    if (chance(0.3) && !objective_.terms.empty()) objective_.terms.back().second = -1.0;
  }

  /// An ordinary problem with an optimum, in variables of its own.
  void beside(ConeProblem& p) {
    const ConeProblem other = ConeGenerator(engine_()).plain_problem(ConeVerdict::solved);
    ConeProblem both;
    both.n = p.n + other.n;
    both.intervals = p.intervals + other.intervals;
    both.objective = p.objective + other.objective;
    both.cones = p.cones;
    both.cones.insert(both.cones.end(), other.cones.begin(), other.cones.end());
    both.hessian.assign(static_cast<std::size_t>(both.n * both.n), 0.0);
    both.vector = p.vector;
    both.vector.insert(both.vector.end(), other.vector.begin(), other.vector.end());
    const auto take = [&](const ConeProblem& from, int first, int last, int column) {
      for (int i = first; i < last; ++i) {
        for (int j = 0; j < both.n; ++j) {
          const bool own = j >= column && j < column + from.n;
          both.matrix.push_back(own ? from.a(i, j - column) : 0.0);
        }
        both.lower.push_back(from.lower[static_cast<std::size_t>(i)]);
        both.upper.push_back(from.upper[static_cast<std::size_t>(i)]);
      }
    };
    using Part = std::pair<const ConeProblem*, int>;
    for (const auto& [from, column] : {Part(&p, 0), Part(&other, p.n)}) {
      for (int i = 0; i < from->n; ++i) {
        for (int j = 0; j < from->n; ++j) both.p(column + i, column + j) = from->p(i, j);
      }
      take(*from, 0, from->intervals, column);
    }
    take(p, p.intervals, p.rows(), 0);
    take(other, other.intervals, other.rows(), p.n);
    p = both;
  }

  ConeProblem assemble() {
    ConeProblem p;
    p.n = variables_;
    p.intervals = static_cast<int>(rows_.size());
    const auto n = static_cast<std::size_t>(p.n);
    p.hessian.assign(n * n, 0.0);
    p.vector.assign(n, 0.0);
    const auto dense = [&](const Affine& e) {
      std::vector<double> result(n, 0.0);
      for (const auto& [j, value] : e.terms) result[static_cast<std::size_t>(j)] += value;
      return result;
    };
    for (const Row& row : rows_) {
      const auto a = dense(row.e);
      p.matrix.insert(p.matrix.end(), a.begin(), a.end());
      p.lower.push_back(row.lower - row.e.constant);
      p.upper.push_back(row.upper - row.e.constant);
    }
    for (const auto& cone : cones_) {
      p.cones.push_back(static_cast<int>(cone.size()));
      for (const Affine& e : cone) {
        for (const double value : dense(e)) p.matrix.push_back(value == 0.0 ? 0.0 : -value);
        p.lower.push_back(-kInfinity);
        p.upper.push_back(e.constant);
      }
    }
    p.vector = dense(objective_);
    for (const Affine& e : squares_) {
      const auto a = dense(e);
      for (std::size_t i = 0; i < n; ++i) {
        p.vector[i] += 2.0 * e.constant * a[i];
        for (std::size_t j = 0; j < n; ++j) p.hessian[i * n + j] += 2.0 * a[i] * a[j];
      }
    }
    for (int i = 0; i < p.n; ++i) {
      double slope = p.vector[static_cast<std::size_t>(i)];
      for (int j = 0; j < p.n; ++j)
        slope += 0.5 * p.p(i, j) * planted_[static_cast<std::size_t>(j)];
      p.objective += slope * planted_[static_cast<std::size_t>(i)];
    }
    return p;
  }

  struct Row {
    Affine e;
    double lower, upper;
  };
  std::mt19937_64 engine_;
  int variables_ = 0;
  std::vector<double> planted_;
  std::vector<Row> rows_;
  std::vector<std::vector<Affine>> cones_;
  std::vector<Affine> squares_;  ///< added to the objective, squared
  Affine objective_;
};

}  // namespace carom::test
