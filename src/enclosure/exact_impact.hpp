#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <carom/impact.hpp>

#include "enclosure/integer.hpp"

/// The doubles of a problem as the rational numbers that they are.
namespace carom::enclosure {

/// number 2^exponent.
struct Dyadic {
  Integer number = 0;
  int exponent = 0;

  [[nodiscard]] Dyadic shifted(int bits) const { return {number, exponent + bits}; }
  [[nodiscard]] double rounded() const;
};
Dyadic dyadic(double x);
Dyadic operator*(const Dyadic& a, const Dyadic& b);
Dyadic operator+(const Dyadic& a, const Dyadic& b);

/// The same numbers, each times 2^-exponent.
struct Aligned {
  Vector numbers;
  int exponent = 0;
};
Aligned align(const std::vector<Dyadic>& numbers);

struct IntegerMatrix {
  std::size_t rows = 0, columns = 0;
  std::vector<Integer> entries;

  IntegerMatrix(std::size_t r, std::size_t c) : rows(r), columns(c), entries(r * c) {}
  Integer& operator()(std::size_t i, std::size_t j) { return entries[i * columns + j]; }
  const Integer& operator()(std::size_t i, std::size_t j) const { return entries[i * columns + j]; }
};

/// [S | B] with S square becomes [d I | d S^-1 B] and d, the determinant, is returned; 0 where S is
/// singular. Without fractions (Bareiss, 1968). positive: whether all leading minors are.
Integer solve_in_place(IntegerMatrix& system, bool* positive = nullptr);

/// Rows that the others are combinations of: each in `order` that those before are not enough for.
/// Sorted.
std::vector<int> independent(const std::vector<Vector>& rows, const std::vector<int>& order);

/// Rows of slip of a spatial contact: as RoundedImpact has them, or as the problem has them.
enum class SlipRows : std::uint8_t { sums, tangents };

/// The rows of J as they are, each times a power of two.
std::vector<Vector> integer_rows(const ImpactProblem& problem);

/// An impact without rounding: u = J v, A = J M^-1 J'. Rows of J are the normals, then those of
/// slip. M is what its lower triangle says.
class ExactImpact {
 public:
  explicit ExactImpact(const ImpactProblem& problem, SlipRows slips = SlipRows::sums);

  /// Whether M is positive definite; there is no response where it is not.
  [[nodiscard]] bool definite() const { return divisor_ > 0; }
  [[nodiscard]] int rows() const { return static_cast<int>(velocity_.size()); }
  [[nodiscard]] const Dyadic& velocity(int k) const {
    return velocity_[static_cast<std::size_t>(k)];
  }
  /// A(k, l) divisor().
  [[nodiscard]] const Dyadic& response(int k, int l) const {
    return response_[static_cast<std::size_t>(k) * velocity_.size() + static_cast<std::size_t>(l)];
  }
  [[nodiscard]] const Integer& divisor() const { return divisor_; }
  /// A(k, l) to some 2^-51 of it.
  [[nodiscard]] double near_response(int k, int l) const;

  /// See above.
  [[nodiscard]] std::vector<int> independent(const std::vector<int>& order) const;
  /// Row k as a combination of independent ones: shares times a number > 0, which comes last.
  [[nodiscard]] Vector shares(int k, const std::vector<int>& basis) const;
  /// v'M v. Rounded up.
  [[nodiscard]] double twice_energy() const { return twice_energy_; }
  /// u'(A of the basis)^-1 u: twice the energy that pushes can take. Rounded up.
  [[nodiscard]] double twice_energy(const std::vector<int>& basis) const;

 private:
  std::vector<Aligned> row_;  // of J, in coordinates in which M's diagonal is about 1
  std::vector<Dyadic> velocity_, response_;
  Integer divisor_ = 0;
  double twice_energy_ = 0.0;
};

}  // namespace carom::enclosure
