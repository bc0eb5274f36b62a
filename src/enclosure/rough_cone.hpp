#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <carom/impact_enclosure.hpp>

#include "enclosure/double_description.hpp"

/// The double description method in doubles: estimates of the polyhedra, without proof.
namespace carom::enclosure {

/// A row or direction whose largest number is 1, or a point whose first number is; numbers beyond
/// the coordinates are 0.
inline constexpr std::size_t kMostNumbersOfTuple = 2 * kMaxEnclosedContacts + 1;
using Tuple = std::array<double, kMostNumbersOfTuple>;
using Tuples = std::vector<Tuple>;

/// Products below it are zero, of tuples whose largest number is 1.
inline constexpr double kRoughZero = 1e-11;

/// Of a point, or of what has no first number.
Tuple rough(const Vector& v);
Tuples rough(const std::vector<Vector>& vectors);
/// few: not more than kFewNumbers, as of two contacts, so that the others are left out.
inline constexpr std::size_t kFewNumbers = 5;
inline double dot(const Tuple& a, const Tuple& b, bool few) {
  static_assert(kMostNumbersOfTuple == 9 && kFewNumbers == 5);
  const double first = (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]);
  if (few) return first + a[4] * b[4];
  const double second = (a[4] * b[4] + a[5] * b[5]) + (a[6] * b[6] + a[7] * b[7]);
  return first + second + a[8] * b[8];
}
/// 0 where it is nothing.
inline int sign_of_dot(const Tuple& a, const Tuple& b, bool few) {
  const double sum = dot(a, b, few);
  return sum > kRoughZero ? 1 : (sum < -kRoughZero ? -1 : 0);
}

/// Where the line between two points of different signs has none.
Tuple crossing(const Tuple& row, const Tuple& p, const Tuple& q, bool few);

struct RoughHull {
  bool known = false;      ///< false: too many rows or points
  Tuples equations, rows;  ///< of cone(points)
  Tuples cut;              ///< rays of its part where all sides are >= 0
};

/// As `hull`. n: of the tuples' numbers; many: of up to 256 rows instead of 64.
RoughHull rough_hull(std::size_t n, std::span<const Tuple> points, std::span<const Tuple> sides,
                     bool many);
/// As `generators`, only rays; empty as well where there are too many rows.
Tuples rough_rays(std::size_t n, std::span<const Tuple> equations, std::span<const Tuple> rows,
                  bool many);

}  // namespace carom::enclosure
