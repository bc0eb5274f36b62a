#include "programs/qp/kernels/qp_interior_proofs.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/index.hpp"
#include "programs/kernels/doubled.hpp"
#include "programs/qp/kernels/qp_homogeneous_problem.hpp"

namespace carom::kernels {

namespace {

using Sum = SizedSum<Doubled>;
using Numbers = std::vector<double>;

constexpr double kIndependent = 1e-10;  // least pivot of equations of length 1
constexpr double kLongest = 0.25;       // correction, of a margin
constexpr double kRounding = 0x1p-50;   // of a sum's terms
constexpr double kSettled = 0x1p-46;    // of the largest multiplier, in place of zero
constexpr int kCorrections = 3;

/// Equations M v = r in unknowns whose unit is what they may move by, and the shortest v.
class Equations {
 public:
  /// rows: of M, [count, columns], each scaled to length 1 here. False where they depend on one
  /// another or one is zero.
  bool set(int columns, std::vector<Numbers> rows) {
    rows_ = std::move(rows);
    columns_ = columns;
    const int count = this->count();
    length_.assign(index(count), 0.0);
    for (int i = 0; i < count; ++i) {
      Numbers& row = rows_[index(i)];
      double square = 0.0;
      for (const double entry : row) square += entry * entry;
      if (!(square > 0.0) || !(square < kInfinity)) return false;
      length_[index(i)] = std::sqrt(square);
      for (double& entry : row) entry /= length_[index(i)];
    }
    factor_.assign(index(count * count), 0.0);
    for (int i = 0; i < count; ++i) {
      for (int j = 0; j <= i; ++j) {
        double sum = 0.0;
        for (int c = 0; c < columns; ++c)
          sum += rows_[index(i)][index(c)] * rows_[index(j)][index(c)];
        for (int k = 0; k < j; ++k) sum -= at(i, k) * at(j, k);
        if (i == j && !(sum > kIndependent)) return false;
        at(i, j) = i == j ? std::sqrt(sum) : sum / at(j, j);
      }
    }
    // Of the inverse of M M' the largest sum of a row bounds its norm.
    inverse_norm_ = 0.0;
    Numbers sums(index(count), 0.0);
    for (int j = 0; j < count; ++j) {
      Numbers unit(index(count), 0.0);
      unit[index(j)] = 1.0;
      solve(unit);
      for (int i = 0; i < count; ++i) sums[index(i)] += std::fabs(unit[index(i)]);
    }
    for (const double sum : sums) inverse_norm_ = std::max(inverse_norm_, sum);
    return true;
  }
  [[nodiscard]] int count() const { return static_cast<int>(rows_.size()); }

  /// The shortest v; r in the equations' units.
  [[nodiscard]] Numbers shortest(Numbers r) const {
    for (int i = 0; i < count(); ++i) r[index(i)] /= length_[index(i)];
    solve(r);
    Numbers v(index(columns_), 0.0);
    for (int i = 0; i < count(); ++i) {
      for (int c = 0; c < columns_; ++c) v[index(c)] += r[index(i)] * rows_[index(i)][index(c)];
    }
    return v;
  }
  /// What the length of v cannot exceed, |r_i| <= most_i.
  [[nodiscard]] double longest(const Numbers& most) const {
    double square = 0.0;
    for (int i = 0; i < count(); ++i) {
      const double r = most[index(i)] / length_[index(i)];
      square += r * r;
    }
    return 2.0 * std::sqrt(inverse_norm_ * square);
  }

 private:
  double& at(int i, int j) { return factor_[index(i * count() + j)]; }
  [[nodiscard]] double at(int i, int j) const { return factor_[index(i * count() + j)]; }
  void solve(Numbers& r) const {
    const int count = this->count();
    for (int i = 0; i < count; ++i) {
      for (int k = 0; k < i; ++k) r[index(i)] -= at(i, k) * r[index(k)];
      r[index(i)] /= at(i, i);
    }
    for (int i = count - 1; i >= 0; --i) {
      for (int k = i + 1; k < count; ++k) r[index(i)] -= at(k, i) * r[index(k)];
      r[index(i)] /= at(i, i);
    }
  }

  std::vector<Numbers> rows_;
  int columns_ = 0;
  Numbers length_;
  Numbers factor_;  ///< L L' = M M'
  double inverse_norm_ = 0.0;
};

bool is_equation(const QpView<const double*>& view, int i) {
  return view.lower[i] == view.upper[i];
}

/// What a sum can be at most, that of its terms' rounding in doubled precision included.
double left_of(const Sum& sum) {
  return magnitude(static_cast<double>(sum.value)) + kRounding * kRounding * sum.size;
}

/// t - |v|, with what rounding of the sums may hide taken off.
template <class Value>
double margin(const QpConeSpan& cone, Value&& value) {
  double square = 0.0;
  double hidden = 0.0;
  for (int i = cone.first; i < cone.first + cone.size; ++i) {
    const Sum sum = value(i);
    const auto part = static_cast<double>(sum.value);
    if (i > cone.first) square += part * part;
    hidden += kRounding * sum.size;
  }
  const auto head = static_cast<double>(value(cone.first).value);
  return head - std::sqrt(square) * (1.0 + kRounding * cone.size) - hidden;
}

}  // namespace

bool completes_farkas(const QpShape& shape, const QpView<const double*>& view, double* y) {
  const int n = shape.variables;
  Numbers unit(index(shape.rows), 0.0);  // what y may move by
  double most = 0.0;
  for (int i = 0; i < shape.rows; ++i) most = larger(magnitude(y[i]), most);
  const auto own = [&](int i) {
    Sum sum;
    sum.add(Doubled(y[i]), 1.0);
    return sum;
  };
  for_parts(
      shape,
      [&](int i) {
        if (is_equation(view, i)) {
          unit[index(i)] = most;
        } else if (!is_there(y[i] > 0.0 ? view.upper[i] : view.lower[i])) {
          y[i] = 0.0;
        } else {
          unit[index(i)] = magnitude(y[i]);
        }
      },
      [&](const QpConeSpan& cone) {
        const double inside = margin(cone, own);
        for (int i = cone.first; i < cone.first + cone.size; ++i) {
          if (inside > 0.0) {
            unit[index(i)] = 0.5 * inside;
          } else {
            y[i] = 0.0;  // on the boundary nothing may move, and zero is inside of all
          }
        }
      });
  std::vector<int> place(index(n), -1);  // of a column that y meets, among the equations
  std::vector<Numbers> rows;
  for (int i = 0; i < shape.rows; ++i) {
    if (unit[index(i)] == 0.0) continue;
    for_row(shape, view, i, [&](int j, double entry) {
      if (place[index(j)] < 0) {
        place[index(j)] = static_cast<int>(rows.size());
        rows.emplace_back(index(shape.rows), 0.0);
      }
      rows[index(place[index(j)])][index(i)] = entry * unit[index(i)];
    });
  }
  const std::size_t count = rows.size();
  Equations equations;
  if (!equations.set(shape.rows, std::move(rows))) return false;
  const auto pulls = [&] {
    std::vector<Sum> pull(count);
    for (int i = 0; i < shape.rows; ++i) {
      if (unit[index(i)] == 0.0) continue;
      for_row(shape, view, i,
              [&](int j, double entry) { pull[index(place[index(j)])].add(Doubled(entry), y[i]); });
    }
    return pull;
  };
  Numbers r(count);
  double moved = 0.0;
  for (int pass = 0; pass < kCorrections; ++pass) {
    const std::vector<Sum> pull = pulls();
    for (std::size_t e = 0; e < count; ++e) r[e] = -static_cast<double>(pull[e].value);
    const Numbers v = equations.shortest(r);
    for (int i = 0; i < shape.rows; ++i) {
      moved += magnitude(v[index(i)]);
      y[i] += unit[index(i)] * v[index(i)];
    }
  }
  // Multipliers that are only rounding become zeros: in a column without others, such a number
  // would be its whole sum.
  for (int i = 0; i < shape.rows; ++i) {
    if (unit[index(i)] == most && magnitude(y[i]) <= kSettled * most) y[i] = 0.0;
  }
  const std::vector<Sum> pull = pulls();
  for (std::size_t e = 0; e < count; ++e) r[e] = left_of(pull[e]);
  const double rest = equations.longest(r);
  if (!(moved + rest <= kLongest)) return false;
  Sum support;
  double change = 0.0;
  const auto bear = [&](int i, double bound) {
    if (unit[index(i)] == 0.0) return;
    support.add(Doubled(bound), y[i]);
    change += magnitude(bound) * unit[index(i)];
  };
  for_parts(
      shape, [&](int i) { bear(i, y[i] > 0.0 ? view.upper[i] : view.lower[i]); },
      [&](const QpConeSpan& cone) {
        for (int i = cone.first; i < cone.first + cone.size; ++i) bear(i, view.upper[i]);
      });
  return static_cast<double>(support.value) < -2.0 * (rest * change + kRounding * support.size);
}

bool completes_ray(const QpShape& shape, const QpView<const double*>& view, double* d,
                   double* point) {
  const int n = shape.variables;
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k <= j; ++k) {
      if (hessian_entry(view, n, j, k) != 0.0 && (d[j] != 0.0 || d[k] != 0.0)) return false;
    }
  }
  const auto along = [&](int i) {
    Sum sum;
    for_row(shape, view, i, [&](int j, double entry) { sum.add(Doubled(entry), d[j]); });
    return sum;
  };
  std::vector<int> held;
  std::vector<Numbers> rows, plain;
  for_parts(
      shape,
      [&](int i) {
        if (!is_equation(view, i)) return;
        held.push_back(i);
        rows.emplace_back(index(n), 0.0);
        plain.emplace_back(index(n), 0.0);
        for_row(shape, view, i, [&](int j, double entry) {
          rows.back()[index(j)] = entry * magnitude(d[j]);
          plain.back()[index(j)] = entry;
        });
      },
      [](const QpConeSpan&) {});
  Equations equations, of_point;
  if (!equations.set(n, std::move(rows)) || !of_point.set(n, std::move(plain))) return false;
  Numbers r(held.size());
  for (int pass = 0; pass < kCorrections; ++pass) {
    for (std::size_t e = 0; e < held.size(); ++e) r[e] = -static_cast<double>(along(held[e]).value);
    const Numbers v = equations.shortest(r);
    for (int j = 0; j < n; ++j) d[j] += magnitude(d[j]) * v[index(j)];
  }
  for (std::size_t e = 0; e < held.size(); ++e) {
    r[e] = left_of(along(held[e]));
  }
  const double rest = 2.0 * equations.longest(r);  // of each d_j
  if (!(rest <= kLongest)) return false;
  Sum slope;
  for (int j = 0; j < n; ++j) slope.add(Doubled(view.gradient[j]), d[j]);
  if (!(static_cast<double>(slope.value) < -2.0 * (rest + kRounding) * slope.size)) return false;

  // A point on the equations, from where a step of this length along d is inside of everything.
  std::fill(point, point + n, 0.0);
  const auto value = [&](int i) {
    Sum sum;
    for_row(shape, view, i, [&](int j, double entry) { sum.add(Doubled(entry), point[j]); });
    return sum;
  };
  for (int pass = 0; pass < kCorrections; ++pass) {
    for (std::size_t e = 0; e < held.size(); ++e) {
      r[e] = static_cast<double>(view.upper[held[e]] - value(held[e]).value);
    }
    const Numbers v = of_point.shortest(r);
    for (int j = 0; j < n; ++j) point[j] += v[index(j)];
  }
  double length = 1.0;
  bool inside = true;
  const auto reach = [&](double from, double speed, double rounding) {
    inside = inside && speed > 4.0 * rounding;
    if (inside && from < 0.0) length = larger(length, -2.0 * from / speed);
  };
  for_parts(
      shape,
      [&](int i) {
        if (is_equation(view, i)) return;
        const Sum step = along(i), at = value(i);
        const auto by = static_cast<double>(step.value);
        const double rounding = (rest + kRounding) * step.size;
        if (is_there(view.upper[i])) {
          reach(static_cast<double>(view.upper[i] - at.value), -by, rounding);
        }
        if (is_there(view.lower[i])) {
          reach(static_cast<double>(at.value - view.lower[i]), by, rounding);
        }
      },
      [&](const QpConeSpan& cone) {
        double rounding = 0.0;
        const auto back = [&](int i) {
          Sum sum = along(i);
          rounding += rest * sum.size;
          return Sum{-sum.value, sum.size};
        };
        const double speed = margin(cone, back);
        const double from = margin(cone, [&](int i) {
          const Sum at = value(i);
          return Sum{view.upper[i] - at.value, at.size + magnitude(view.upper[i])};
        });
        reach(from, speed, rounding);
      });
  if (!inside || !(length < kInfinity)) return false;
  for (int j = 0; j < n; ++j) point[j] += length * d[j];
  return true;
}

}  // namespace carom::kernels
