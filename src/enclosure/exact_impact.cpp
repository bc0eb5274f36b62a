#include "enclosure/exact_impact.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "enclosure/common_divisor.hpp"

namespace carom::enclosure {

namespace {

constexpr double kRoundedUp = 1e-15;
constexpr int kMantissa = std::numeric_limits<double>::digits;

/// An echelon of integer rows: each has a column where those after it have 0.
class Echelon {
 public:
  /// Whether the row is no combination of those so far; it is then added to them.
  bool add(Vector row) {
    for (const auto& [column, own] : rows_) {
      if (row[column] == 0) continue;
      const Integer up = own[column], down = row[column];
      for (std::size_t j = 0; j < row.size(); ++j) row[j] = up * row[j] - down * own[j];
      make_primitive(row);
    }
    const auto place =
        std::find_if(row.begin(), row.end(), [](const Integer& x) { return x != 0; });
    if (place == row.end()) return false;
    const auto column = static_cast<std::size_t>(place - row.begin());
    rows_.emplace_back(column, std::move(row));
    return true;
  }
  [[nodiscard]] std::vector<std::size_t> columns() const {
    std::vector<std::size_t> all;
    for (const auto& [column, row] : rows_) all.push_back(column);
    return all;
  }

 private:
  std::vector<std::pair<std::size_t, Vector>> rows_;
};

/// Of row k of J.
Dyadic entry_of(const ImpactProblem& problem, SlipRows slip_rows, std::size_t k, std::size_t j) {
  const auto m = static_cast<std::size_t>(problem.contacts);
  const auto n = static_cast<std::size_t>(problem.velocities);
  if (k < m) return dyadic(problem.normal_jacobian[k * n + j]);
  const double* tangents = problem.tangent_jacobian.data();
  if (problem.dimension == 2 || slip_rows == SlipRows::tangents) {
    return dyadic(tangents[(k - m) * n + j]);
  }
  const std::size_t first = (k - m) / 2 * 2;
  const Dyadic second = dyadic(tangents[(first + 1) * n + j]);
  const Dyadic sign{Integer((k - m) % 2 == 0 ? 1 : -1), 0};
  return dyadic(tangents[first * n + j]) + second * sign;
}

}  // namespace

double Dyadic::rounded() const { return std::ldexp(quotient(number, Integer(1)), exponent); }

Dyadic dyadic(double x) {
  if (x == 0.0) return {};
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  auto mantissa = static_cast<std::int64_t>(std::ldexp(fraction, kMantissa));
  exponent -= kMantissa;
  while (mantissa % 2 == 0) mantissa /= 2, ++exponent;
  return {Integer(mantissa), exponent};
}

Dyadic operator*(const Dyadic& a, const Dyadic& b) {
  if (a.number == 0 || b.number == 0) return {};
  return {a.number * b.number, a.exponent + b.exponent};
}

Dyadic operator+(const Dyadic& a, const Dyadic& b) {
  if (a.number == 0) return b;
  if (b.number == 0) return a;
  const int least = std::min(a.exponent, b.exponent);
  const auto raised = [least](const Dyadic& x) {
    return x.number << static_cast<unsigned>(x.exponent - least);
  };
  Integer sum = raised(a) + raised(b);
  if (sum == 0) return {};
  return {std::move(sum), least};
}

Aligned align(const std::vector<Dyadic>& numbers) {
  Aligned result;
  bool some = false;
  for (const Dyadic& x : numbers) {
    if (x.number == 0) continue;
    result.exponent = some ? std::min(result.exponent, x.exponent) : x.exponent;
    some = true;
  }
  for (const Dyadic& x : numbers) {
    result.numbers.push_back(
        x.number == 0 ? Integer(0)
                      : Integer(x.number << static_cast<unsigned>(x.exponent - result.exponent)));
  }
  return result;
}

Integer solve_in_place(IntegerMatrix& system, bool* positive) {
  const std::size_t n = system.rows;
  Integer before = 1;
  bool all_positive = true;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    while (pivot < n && system(pivot, k) == 0) ++pivot;
    all_positive = all_positive && pivot == k && system(k, k) > 0;
    if (positive != nullptr) *positive = all_positive;
    if (pivot == n) return Integer(0);
    if (pivot != k) {  // negated, so that the determinant does not change
      for (std::size_t j = 0; j < system.columns; ++j) {
        std::swap(system(pivot, j), system(k, j));
        system(k, j) = -system(k, j);
      }
    }
    const Integer own = system(k, k);
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const Integer share = system(i, k);
      for (std::size_t j = 0; j < system.columns; ++j) {
        if (j < k && j != i) continue;  // 0 in all these rows
        system(i, j) = (own * system(i, j) - share * system(k, j)) / before;
      }
    }
    before = own;
  }
  return before;
}

std::vector<int> independent(const std::vector<Vector>& rows, const std::vector<int>& order) {
  Echelon echelon;
  std::vector<int> basis;
  for (const int k : order) {
    if (echelon.add(rows[static_cast<std::size_t>(k)])) basis.push_back(k);
  }
  std::sort(basis.begin(), basis.end());
  return basis;
}

std::vector<Vector> integer_rows(const ImpactProblem& problem) {
  std::vector<Vector> rows;
  for (int k = 0; k < problem.dimension * problem.contacts; ++k) {
    std::vector<Dyadic> row;
    for (int j = 0; j < problem.velocities; ++j) {
      row.push_back(entry_of(problem, SlipRows::sums, static_cast<std::size_t>(k),
                             static_cast<std::size_t>(j)));
    }
    rows.push_back(align(row).numbers);
  }
  return rows;
}

ExactImpact::ExactImpact(const ImpactProblem& problem, SlipRows slip_rows) {
  const auto m = static_cast<std::size_t>(problem.contacts);
  const auto n = static_cast<std::size_t>(problem.velocities);
  const auto slips = static_cast<std::size_t>(problem.dimension - 1), rows = m * (1 + slips);
  const auto mass = [&](std::size_t i, std::size_t j) {
    return problem.mass_matrix[std::max(i, j) * n + std::min(i, j)];
  };
  std::vector<int> shift(n);  // of coordinates in which M's diagonal lies between 1/2 and 2
  for (std::size_t j = 0; j < n; ++j) {
    int exponent = 0;
    std::frexp(mass(j, j), &exponent);
    shift[j] = exponent / 2;
  }
  std::vector<Dyadic> all;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      all.push_back(dyadic(mass(i, j)).shifted(-shift[i] - shift[j]));
    }
  }
  const Aligned own_mass = align(all);
  Dyadic energy;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      energy =
          energy + dyadic(mass(i, j)) * dyadic(problem.velocity[i]) * dyadic(problem.velocity[j]);
    }
  }
  twice_energy_ = energy.rounded() * (1.0 + kRoundedUp);
  for (std::size_t k = 0; k < rows; ++k) {
    std::vector<Dyadic> row;
    Dyadic speed;
    for (std::size_t j = 0; j < n; ++j) {
      const Dyadic x = entry_of(problem, slip_rows, k, j);
      row.push_back(x.shifted(-shift[j]));
      speed = speed + x * dyadic(problem.velocity[j]);
    }
    row_.push_back(align(row));
    velocity_.push_back(std::move(speed));
  }
  IntegerMatrix system(n, n + rows);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) system(i, j) = own_mass.numbers[i * n + j];
    for (std::size_t k = 0; k < rows; ++k) system(i, n + k) = row_[k].numbers[i];
  }
  bool positive = true;
  divisor_ = solve_in_place(system, &positive);
  if (!positive) divisor_ = 0;
  if (!definite()) return;
  for (std::size_t k = 0; k < rows; ++k) {
    for (std::size_t l = 0; l < rows; ++l) {
      Integer sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum += row_[k].numbers[j] * system(j, n + l);
      const int exponent = row_[k].exponent + row_[l].exponent - own_mass.exponent;
      response_.push_back(sum == 0 ? Dyadic{} : Dyadic{std::move(sum), exponent});
    }
  }
}

double ExactImpact::near_response(int k, int l) const {
  const Dyadic& x = response(k, l);
  return std::ldexp(quotient(x.number, divisor_), x.exponent);
}

std::vector<int> ExactImpact::independent(const std::vector<int>& order) const {
  std::vector<Vector> rows;
  for (const Aligned& row : row_) rows.push_back(row.numbers);
  return enclosure::independent(rows, order);
}

Vector ExactImpact::shares(int k, const std::vector<int>& basis) const {
  Echelon echelon;
  for (const int b : basis) echelon.add(row_[static_cast<std::size_t>(b)].numbers);
  const std::vector<std::size_t> columns = echelon.columns();
  const std::size_t size = basis.size();
  IntegerMatrix system(size, size + 1);
  const Aligned& own = row_[static_cast<std::size_t>(k)];
  for (std::size_t a = 0; a < size; ++a) {
    for (std::size_t c = 0; c < size; ++c) {
      system(c, a) = row_[static_cast<std::size_t>(basis[a])].numbers[columns[c]];
    }
    system(a, size) = own.numbers[columns[a]];
  }
  const Integer divisor = size > 0 ? solve_in_place(system) : Integer(1);
  std::vector<Dyadic> all;
  for (std::size_t a = 0; a < size; ++a) {
    const int shift = own.exponent - row_[static_cast<std::size_t>(basis[a])].exponent;
    const Integer share = divisor < 0 ? Integer(-system(a, size)) : system(a, size);
    all.push_back(share == 0 ? Dyadic{} : Dyadic{share, shift});
  }
  all.push_back({Integer(abs(divisor)), 0});
  Vector result = align(all).numbers;
  make_primitive(result);
  return result;
}

double ExactImpact::twice_energy(const std::vector<int>& basis) const {
  const std::size_t size = basis.size();
  if (size == 0) return 0.0;
  std::vector<Dyadic> speeds, responses;
  for (const int a : basis) {
    speeds.push_back(velocity(a));
    for (const int b : basis) responses.push_back(response(a, b));
  }
  const Aligned speed = align(speeds), own = align(responses);
  IntegerMatrix system(size, size + 1);
  for (std::size_t a = 0; a < size; ++a) {
    for (std::size_t b = 0; b < size; ++b) system(a, b) = own.numbers[a * size + b];
    system(a, size) = speed.numbers[a];
  }
  const Integer divisor = solve_in_place(system);
  Integer sum = 0;
  for (std::size_t a = 0; a < size; ++a) sum += speed.numbers[a] * system(a, size);
  const double energy = quotient(sum * divisor_, divisor);
  return std::ldexp(energy, 2 * speed.exponent - own.exponent) * (1.0 + kRoundedUp);
}

}  // namespace carom::enclosure
