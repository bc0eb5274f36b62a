#include "support/exact_program.hpp"

#include <algorithm>
#include <cstddef>

namespace carom::test {

namespace {

/// Whether every operation so far was exact.
struct Exact {
  bool sound = true;
  Wide times(Wide a, Wide b) {
    Wide result = 0;
    if (__builtin_mul_overflow(a, b, &result)) sound = false;
    return result;
  }
  Wide minus(Wide a, Wide b) {
    Wide result = 0;
    if (__builtin_sub_overflow(a, b, &result)) sound = false;
    return result;
  }
  Wide plus(Wide a, Wide b) {
    Wide result = 0;
    if (__builtin_add_overflow(a, b, &result)) sound = false;
    return result;
  }
};

enum class End { solution, ray, unknown };

/// Lemke's method on a dictionary of integers over one denominator: a basic variable is
/// (value + sum of coefficients times nonbasic variables) / denominator.
class Dictionary {
 public:
  Dictionary(int order, const std::vector<Wide>& matrix, const std::vector<Wide>& vector)
      : n_(order), entry_(static_cast<std::size_t>(order * (order + 2))) {
    for (int i = 0; i < n_; ++i) {
      for (int j = 0; j < n_; ++j) at(i, j) = matrix[static_cast<std::size_t>(i * n_ + j)];
      at(i, n_) = 1;
      at(i, n_ + 1) = vector[static_cast<std::size_t>(i)];
      basic_.push_back(n_ + i);
      nonbasic_.push_back(i);
    }
    nonbasic_.push_back(2 * n_);
  }

  End run() {
    int row = -1;
    for (int i = 0; i < n_; ++i) {
      if (at(i, n_ + 1) < 0 && (row < 0 || at(i, n_ + 1) <= at(row, n_ + 1))) row = i;
    }
    if (row < 0) return End::solution;
    int column = n_;
    for (int pivots = 0; pivots < 1000; ++pivots) {
      const int leaving = basic_[static_cast<std::size_t>(row)];
      pivot(row, column);
      if (!exact_.sound) return End::unknown;
      if (leaving == 2 * n_) return End::solution;
      const int entering = leaving < n_ ? leaving + n_ : leaving - n_;
      column = 0;
      while (nonbasic_[static_cast<std::size_t>(column)] != entering) ++column;
      entering_ = column;
      row = leaving_row(column);
      if (!exact_.sound) return End::unknown;
      if (row < 0) return End::ray;
    }
    return End::unknown;
  }

  /// z as numerators over denominator(), of a solution.
  [[nodiscard]] std::vector<Wide> solution() const { return read(n_ + 1); }
  /// The direction of a ray in z, times denominator().
  [[nodiscard]] std::vector<Wide> direction() const {
    std::vector<Wide> result = read(entering_);
    const int variable = nonbasic_[static_cast<std::size_t>(entering_)];
    if (variable < n_) result[static_cast<std::size_t>(variable)] = denominator_;
    return result;
  }
  [[nodiscard]] Wide denominator() const { return denominator_; }

 private:
  Wide& at(int i, int j) { return entry_[static_cast<std::size_t>(i * (n_ + 2) + j)]; }
  [[nodiscard]] Wide at(int i, int j) const {
    return entry_[static_cast<std::size_t>(i * (n_ + 2) + j)];
  }
  [[nodiscard]] std::vector<Wide> read(int column) const {
    std::vector<Wide> result(static_cast<std::size_t>(n_), 0);
    for (int i = 0; i < n_; ++i) {
      const int variable = basic_[static_cast<std::size_t>(i)];
      if (variable < n_) result[static_cast<std::size_t>(variable)] = at(i, column);
    }
    return result;
  }

  void pivot(int row, int column) {
    const Wide element = at(row, column);
    for (int i = 0; i < n_; ++i) {
      if (i == row) continue;
      const Wide factor = at(i, column);
      for (int j = 0; j < n_ + 2; ++j) {
        if (j == column) continue;
        at(i, j) = exact_.minus(exact_.times(at(i, j), element), exact_.times(factor, at(row, j))) /
                   denominator_;
      }
    }
    for (int j = 0; j < n_ + 2; ++j) at(row, j) = j == column ? denominator_ : -at(row, j);
    denominator_ = element;
    if (denominator_ < 0) {
      denominator_ = -denominator_;
      for (Wide& x : entry_) x = -x;
    }
    std::swap(basic_[static_cast<std::size_t>(row)], nonbasic_[static_cast<std::size_t>(column)]);
  }

  /// The row of B^-1 for w_k, times the denominator.
  [[nodiscard]] Wide inverse_entry(int row, int k) const {
    if (basic_[static_cast<std::size_t>(row)] == n_ + k) return denominator_;
    for (int j = 0; j <= n_; ++j) {
      if (nonbasic_[static_cast<std::size_t>(j)] == n_ + k) return -at(row, j);
    }
    return 0;
  }

  int leaving_row(int column) {
    int best = -1;
    for (int i = 0; i < n_; ++i) {
      if (at(i, column) >= 0) continue;
      if (best < 0 || lower(i, best, column)) best = i;
    }
    return best;
  }
  /// Lexicographic comparison of [value, B^-1] / rate, the artificial variable first.
  bool lower(int a, int b, int column) {
    const Wide rate_a = -at(a, column);
    const Wide rate_b = -at(b, column);
    const auto compare = [&](Wide x, Wide y) {  // x / rate_a - y / rate_b
      return exact_.minus(exact_.times(x, rate_b), exact_.times(y, rate_a));
    };
    Wide difference = compare(at(a, n_ + 1), at(b, n_ + 1));
    if (difference != 0) return difference < 0;
    if (basic_[static_cast<std::size_t>(a)] == 2 * n_) return true;
    if (basic_[static_cast<std::size_t>(b)] == 2 * n_) return false;
    for (int k = 0; k < n_; ++k) {
      difference = compare(inverse_entry(a, k), inverse_entry(b, k));
      if (difference != 0) return difference < 0;
    }
    return a < b;
  }

  int n_;
  std::vector<Wide> entry_;
  std::vector<int> basic_;     // z_i is i, w_i is n + i, the artificial variable 2n
  std::vector<int> nonbasic_;  // [n + 1]
  Wide denominator_ = 1;
  int entering_ = 0;
  Exact exact_;
};

/// G x >= g, the rows' sides that are there.
struct Sides {
  std::vector<std::vector<int>> row;
  std::vector<int> bound;
};

Sides sides_of(const IntegerProgram& program) {
  Sides sides;
  for (int i = 0; i < program.rows; ++i) {
    const auto begin = program.matrix.begin() + static_cast<std::ptrdiff_t>(i) * program.variables;
    const std::vector<int> row(begin, begin + program.variables);
    const auto at = static_cast<std::size_t>(i);
    if (program.lower[at]) {
      sides.row.push_back(row);
      sides.bound.push_back(*program.lower[at]);
    }
    if (program.upper[at]) {
      std::vector<int> negative(row);
      for (int& x : negative) x = -x;
      sides.row.push_back(negative);
      sides.bound.push_back(-*program.upper[at]);
    }
  }
  return sides;
}

/// The optimality conditions P x + q = G'y, y >= 0 as an LCP in (x+, x-, y).
Dictionary conditions(const IntegerProgram& program, const Sides& sides, bool with_objective) {
  const int n = program.variables;
  const int rows = static_cast<int>(sides.bound.size());
  const int order = 2 * n + rows;
  std::vector<Wide> matrix(static_cast<std::size_t>(order * order), 0);
  std::vector<Wide> vector(static_cast<std::size_t>(order), 0);
  const auto put = [&](int i, int j, Wide value) {
    matrix[static_cast<std::size_t>(i * order + j)] = value;
  };
  for (int i = 0; i < n; ++i) {
    if (with_objective) {
      for (int j = 0; j < n; ++j) {
        const Wide p = program.hessian[static_cast<std::size_t>(i * n + j)];
        put(i, j, p);
        put(i, n + j, -p);
        put(n + i, j, -p);
        put(n + i, n + j, p);
      }
      vector[static_cast<std::size_t>(i)] = program.vector[static_cast<std::size_t>(i)];
      vector[static_cast<std::size_t>(n + i)] = -program.vector[static_cast<std::size_t>(i)];
    }
    for (int k = 0; k < rows; ++k) {
      const Wide g = sides.row[static_cast<std::size_t>(k)][static_cast<std::size_t>(i)];
      put(i, 2 * n + k, -g);
      put(n + i, 2 * n + k, g);
      put(2 * n + k, i, g);
      put(2 * n + k, n + i, -g);
    }
  }
  for (int k = 0; k < rows; ++k) {
    vector[static_cast<std::size_t>(2 * n + k)] = -sides.bound[static_cast<std::size_t>(k)];
  }
  return Dictionary(order, matrix, vector);
}

struct Parts {
  std::vector<Wide> x, y;
};
Parts parts_of(const std::vector<Wide>& z, int n) {
  Parts parts;
  for (int j = 0; j < n; ++j) {
    parts.x.push_back(z[static_cast<std::size_t>(j)] - z[static_cast<std::size_t>(n + j)]);
  }
  parts.y.assign(z.begin() + 2 * n, z.end());
  return parts;
}

Wide dot(Exact& exact, const std::vector<int>& a, const std::vector<Wide>& b) {
  Wide sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum = exact.plus(sum, exact.times(a[i], b[i]));
  return sum;
}

std::vector<Wide> hessian_times(Exact& exact, const IntegerProgram& p, const std::vector<Wide>& x) {
  const auto n = static_cast<std::size_t>(p.variables);
  std::vector<Wide> result(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      result[i] = exact.plus(result[i], exact.times(p.hessian[i * n + j], x[j]));
    }
  }
  return result;
}

bool is_feasible(Exact& exact, const Sides& sides, const std::vector<Wide>& x, Wide denominator) {
  for (std::size_t k = 0; k < sides.bound.size(); ++k) {
    if (dot(exact, sides.row[k], x) < exact.times(sides.bound[k], denominator)) return false;
  }
  return exact.sound;
}

/// y >= 0, G'y = 0, g'y > 0.
bool proves_infeasible(Exact& exact, const Sides& sides, int n, const std::vector<Wide>& y) {
  Wide support = 0;
  std::vector<Wide> pull(static_cast<std::size_t>(n), 0);
  for (std::size_t k = 0; k < y.size(); ++k) {
    if (y[k] < 0) return false;
    support = exact.plus(support, exact.times(sides.bound[k], y[k]));
    for (std::size_t j = 0; j < pull.size(); ++j) {
      pull[j] = exact.plus(pull[j], exact.times(sides.row[k][j], y[k]));
    }
  }
  for (const Wide x : pull) {
    if (x != 0) return false;
  }
  return exact.sound && support > 0;
}

/// P d = 0, q'd < 0, G d >= 0.
bool proves_endless(Exact& exact, const IntegerProgram& p, const Sides& sides,
                    const std::vector<Wide>& d) {
  for (const Wide x : hessian_times(exact, p, d)) {
    if (x != 0) return false;
  }
  if (!is_feasible(exact, {sides.row, std::vector<int>(sides.bound.size(), 0)}, d, 1)) return false;
  return dot(exact, p.vector, d) < 0 && exact.sound;
}

bool is_optimal(Exact& exact, const IntegerProgram& p, const Sides& sides, const Parts& answer,
                Wide denominator) {
  if (!is_feasible(exact, sides, answer.x, denominator)) return false;
  std::vector<Wide> left = hessian_times(exact, p, answer.x);
  for (std::size_t j = 0; j < left.size(); ++j) {
    left[j] = exact.plus(left[j], exact.times(p.vector[j], denominator));
    for (std::size_t k = 0; k < answer.y.size(); ++k) {
      left[j] = exact.minus(left[j], exact.times(sides.row[k][j], answer.y[k]));
    }
    if (left[j] != 0) return false;
  }
  for (std::size_t k = 0; k < answer.y.size(); ++k) {
    if (answer.y[k] < 0) return false;
    const Wide slack =
        exact.minus(dot(exact, sides.row[k], answer.x), exact.times(sides.bound[k], denominator));
    if (answer.y[k] != 0 && slack != 0) return false;
  }
  return exact.sound;
}

/// Symmetric elimination without fractions; false where a pivot shows negative curvature.
bool is_convex(Exact& exact, int n, std::vector<Wide> a) {
  const auto at = [&](int i, int j) -> Wide& { return a[static_cast<std::size_t>(i * n + j)]; };
  std::vector<bool> done(static_cast<std::size_t>(n), false);
  Wide last = 1;
  for (int step = 0; step < n; ++step) {
    int k = -1;
    for (int i = 0; i < n; ++i) {
      if (done[static_cast<std::size_t>(i)]) continue;
      if (at(i, i) < 0) return false;
      if (k < 0 && at(i, i) > 0) k = i;
    }
    if (k < 0) {  // all diagonals left are zero: so must be the rest
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          if (!done[static_cast<std::size_t>(i)] && !done[static_cast<std::size_t>(j)] &&
              at(i, j) != 0) {
            return false;
          }
        }
      }
      return true;
    }
    done[static_cast<std::size_t>(k)] = true;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        if (done[static_cast<std::size_t>(i)] || done[static_cast<std::size_t>(j)]) continue;
        at(i, j) =
            exact.minus(exact.times(at(i, j), at(k, k)), exact.times(at(i, k), at(k, j))) / last;
      }
    }
    last = at(k, k);
  }
  return true;
}

/// Z'P Z for a basis Z of the null space of the equations, and its order.
std::vector<Wide> on_equations(Exact& exact, const IntegerProgram& p, int& order) {
  const auto n = static_cast<std::size_t>(p.variables);
  std::vector<std::vector<Wide>> reduced;  // rows of E, one entry at the pivot of each other row
  std::vector<std::size_t> pivot;
  Wide denominator = 1;  // that all rows have at their pivots
  for (std::size_t i = 0; i < static_cast<std::size_t>(p.rows); ++i) {
    if (!p.lower[i] || p.lower[i] != p.upper[i]) continue;
    std::vector<Wide> row(n);
    for (std::size_t j = 0; j < n; ++j) {
      row[j] = exact.times(p.matrix[i * n + j], denominator);
      for (std::size_t k = 0; k < reduced.size(); ++k) {
        row[j] = exact.minus(row[j], exact.times(p.matrix[i * n + pivot[k]], reduced[k][j]));
      }
    }
    std::size_t at = 0;
    while (at < n && row[at] == 0) ++at;
    if (at == n) continue;
    for (std::vector<Wide>& other : reduced) {
      const Wide factor = other[at];
      for (std::size_t j = 0; j < n; ++j) {
        other[j] =
            exact.minus(exact.times(other[j], row[at]), exact.times(factor, row[j])) / denominator;
      }
    }
    denominator = row[at];
    reduced.push_back(row);
    pivot.push_back(at);
  }
  std::vector<std::vector<Wide>> basis;
  for (std::size_t j = 0; j < n; ++j) {
    if (std::find(pivot.begin(), pivot.end(), j) != pivot.end()) continue;
    std::vector<Wide> z(n, 0);
    z[j] = denominator;
    for (std::size_t k = 0; k < reduced.size(); ++k) z[pivot[k]] = -reduced[k][j];
    basis.push_back(z);
  }
  order = static_cast<int>(basis.size());
  std::vector<Wide> product;
  for (const std::vector<Wide>& left : basis) {
    const std::vector<Wide> bent = hessian_times(exact, p, left);
    for (const std::vector<Wide>& right : basis) {
      Wide sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum = exact.plus(sum, exact.times(bent[j], right[j]));
      product.push_back(sum);
    }
  }
  return product;
}

}  // namespace

ExactVerdict decide(const IntegerProgram& program) {
  const int n = program.variables;
  const Sides sides = sides_of(program);
  ExactVerdict verdict;
  Exact exact;
  if (!is_convex(exact, n, {program.hessian.begin(), program.hessian.end()})) {
    int order = 0;
    const std::vector<Wide> projected = on_equations(exact, program, order);
    if (!is_convex(exact, order, projected) && exact.sound) verdict.status = Status::nonconvex;
    return verdict;
  }
  const auto finish = [&](Status status) {
    if (exact.sound) verdict.status = status;
    return verdict;
  };
  Dictionary dictionary = conditions(program, sides, true);
  switch (dictionary.run()) {
    case End::unknown:
      return verdict;
    case End::solution: {
      const Parts answer = parts_of(dictionary.solution(), n);
      verdict.denominator = dictionary.denominator();
      if (!is_optimal(exact, program, sides, answer, verdict.denominator)) return verdict;
      verdict.point = answer.x;
      long double sum = 0.0L;
      const auto scale = static_cast<long double>(verdict.denominator);
      const std::vector<Wide> bent = hessian_times(exact, program, answer.x);
      for (std::size_t j = 0; j < answer.x.size(); ++j) {
        const long double x = static_cast<long double>(answer.x[j]) / scale;
        sum += x * (0.5L * static_cast<long double>(bent[j]) / scale + program.vector[j]);
      }
      verdict.objective = static_cast<double>(sum);
      return finish(Status::solved);
    }
    case End::ray:
      break;
  }
  const Parts way = parts_of(dictionary.direction(), n);
  if (proves_infeasible(exact, sides, n, way.y)) return finish(Status::infeasible);
  Dictionary feasibility = conditions(program, sides, false);
  const End end = feasibility.run();
  if (end == End::ray) {
    const Parts proof = parts_of(feasibility.direction(), n);
    if (proves_infeasible(exact, sides, n, proof.y)) return finish(Status::infeasible);
    return verdict;
  }
  if (end == End::unknown) return verdict;
  verdict.point = parts_of(feasibility.solution(), n).x;
  verdict.denominator = feasibility.denominator();
  if (!is_feasible(exact, sides, verdict.point, verdict.denominator)) return verdict;
  if (!proves_endless(exact, program, sides, way.x)) return verdict;
  return finish(Status::unbounded);
}

bool has_no_point(IntegerProgram program) {
  std::fill(program.hessian.begin(), program.hessian.end(), 0);
  std::fill(program.vector.begin(), program.vector.end(), 0);
  return decide(program).status == Status::infeasible;
}

ExactComplementarity decide_lcp(int order, const std::vector<Wide>& matrix,
                                const std::vector<Wide>& vector) {
  Dictionary dictionary(order, matrix, vector);
  ExactComplementarity result;
  const End end = dictionary.run();
  if (end == End::unknown) return result;
  result.status = end == End::ray ? Status::ray : Status::solved;
  result.solution = dictionary.solution();
  result.denominator = dictionary.denominator();
  return result;
}

}  // namespace carom::test
