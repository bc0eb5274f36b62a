#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <carom/impact.hpp>

/// Rates of the normal velocities while a contact pushes, for the quadratic bounds of an impact.
namespace carom::enclosure {

inline constexpr int kRateBits = 44;  ///< behind the binary point of rates ...
inline constexpr int kFormBits = 40;  ///< ... and of forms

/// Normal velocity u_i is in units of sqrt(2 K A_ii), with K the kinetic energy before the impact
/// and A = J M^-1 J', so that 1 is the largest that the energy allows; its part max(u_i, 0) is
/// coordinate 2 i, max(-u_i, 0) coordinate 2 i + 1.
struct NormalRates {
  int contacts = 0;
  std::vector<double> largest;   ///< sqrt(2 K A_kk) of every row of J, normals first [m/s]
  std::vector<double> velocity;  ///< J v, likewise [m/s]
  std::vector<double> parts;     ///< the coordinates before the impact, [2 m]
  /// rate[i][d][j]: of u_j where contact i pushes with friction in direction d, times 2^kRateBits;
  /// directions are corners of a polygon around the friction disk (planar: both ends of the
  /// segment), so that every polygon within the disk is covered.
  std::vector<std::vector<std::vector<std::int64_t>>> rate;
  /// By how much each may be wrong.
  std::vector<std::vector<std::vector<std::int64_t>>> doubt;
  bool known = false;  ///< false: M is positive definite only by rounding
};

NormalRates normal_rates(const ImpactProblem& problem);

/// gamma K / K before + sum_ab form_ab y_a y_b of the coordinates y, times 2^kFormBits.
struct QuadraticForm {
  std::int64_t gamma = std::int64_t{1} << kFormBits;
  std::vector<std::int64_t> entries;  ///< of the lower triangle, by rows; none: all are 0

  static std::size_t place(std::size_t a, std::size_t b) {
    return a < b ? place(b, a) : a * (a + 1) / 2 + b;
  }
  [[nodiscard]] std::int64_t operator()(std::size_t a, std::size_t b) const {
    return entries.empty() ? 0 : entries[place(a, b)];
  }
};

/// Half the form's rate of change, without the energy's share, for y of only coordinate `of`,
/// while contact `pushing` pushes: the largest over all signs of the other contacts' velocities.
/// entry(a, b): the form's. active: the coordinates that those signs make change, one a contact.
template <class Number, class Entry>
Number worst_rate(const NormalRates& rates, const Entry& entry, std::size_t pushing,
                  std::size_t direction, std::size_t of, std::vector<std::size_t>* active) {
  Number sum = 0;
  for (std::size_t j = 0; j < static_cast<std::size_t>(rates.contacts); ++j) {
    const Number rate = static_cast<Number>(rates.rate[pushing][direction][j]);
    const Number up = rate * static_cast<Number>(entry(2 * j, of));
    const Number down = -rate * static_cast<Number>(entry(2 * j + 1, of));
    bool positive = up >= down;
    if (j == pushing) positive = false;
    if (j == of / 2) positive = of % 2 == 0;
    sum += positive ? up : down;
    if (active != nullptr) active->push_back(positive ? 2 * j : 2 * j + 1);
  }
  return sum;
}

/// That no push lets the form grow, whatever the other contacts do, for all rates within their
/// doubt. Exact.
bool never_grows(const NormalRates& rates, const QuadraticForm& form);
/// Its value before the impact, rounded up.
double value_before(const NormalRates& rates, const QuadraticForm& form);

}  // namespace carom::enclosure
