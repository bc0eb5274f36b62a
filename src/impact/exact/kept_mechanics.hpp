#pragma once

#include <cmath>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include <carom/types/impact.hpp>

#include "core/exact/interval.hpp"
#include "impact/friction_polygon.hpp"

/// What the judges of kept impacts compute of a problem, by intervals that hold the true numbers.
namespace carom::exact {

/// Texts and numbers one after the other: why something is refuted.
template <class... Parts>
std::string said(const Parts&... parts) {
  std::ostringstream text;
  text.precision(3);
  (text << ... << parts);
  return text.str();
}

// As the certificates of the samplers have them.
constexpr double kBooks = 1e-12;  ///< of the energy before
constexpr double kCone = 1e-9;    ///< of the limit of friction

class KeptMechanics {
  // Before what is computed of them: M and [Jn; Jt] row by row, numbers and intervals.
  struct Entry {
    std::size_t column;
    FineInterval value;
  };
  using Rows = std::vector<std::vector<Entry>>;  // those that are not zero
  Rows mass_, jacobian_;

 public:
  using F = FineInterval;

  /// `problem` must outlive it.
  KeptMechanics(const ImpactProblem& problem, int friction_directions);

  // NOLINTBEGIN: constants of the problem
  const ImpactProblem& problem;
  const std::size_t nv, contacts, tangents, rows;
  const kernels::FrictionPolygon polygon;
  const F before, speed;  ///< kinetic energy and largest contact speed before the impact
  // NOLINTEND

  /// The impulse at contact i that is rounding: a share of what this energy can give it at most.
  [[nodiscard]] const F& noise(std::size_t i) const { return noise_[i]; }
  /// The impulse at contact i by itself for a unit of its normal speed; 0 where there is none.
  [[nodiscard]] const F& impulse_of_speed(std::size_t i) const { return impulse_of_speed_[i]; }

  /// Not more than `share` of `whole`, for certain.
  static bool within(const F& value, double share, const F& whole) {
    return (F(share) * whole - value).at_least_zero();
  }
  /// Whether it is a number whose products with two others have room in an interval.
  static bool moderate(double value) { return std::fabs(value) <= 1e60; }
  static F size_of(const F& a) { return a.middle() < 0.0 ? -a : a; }

  /// J v, normals first.
  [[nodiscard]] std::vector<F> contact_velocities(const double* v) const {
    return products(jacobian_, std::vector<F>(v, v + nv));
  }
  /// The largest of them.
  static F largest(const std::vector<F>& u) {
    F most;
    for (const F& own : u) most = size_of(own).middle() > most.middle() ? size_of(own) : most;
    return most;
  }
  [[nodiscard]] F kinetic_energy(const double* v) const {
    const std::vector<F> velocity(v, v + nv), momentum = products(mass_, velocity);
    F twice;
    for (std::size_t i = 0; i < nv; ++i) twice = twice + momentum[i] * velocity[i];
    return F(0.5) * twice;
  }

  /// First i for which (M (v - v-))_i is not that of J' impulse, but for a share of what moves or
  /// of what this energy can move there; nv where there is none.
  [[nodiscard]] std::size_t wrong_momentum(const double* v, const std::vector<F>& impulse) const;

  /// The part along corner j of the friction polygon of what has tangent components of(c).
  template <class Of>
  [[nodiscard]] F along(std::size_t j, const Of& of) const {
    F sum;
    for (std::size_t c = 0; c < tangents; ++c) sum = sum + F(polygon.direction[j][c]) * of(c);
    return sum;
  }
  [[nodiscard]] std::size_t corners() const { return static_cast<std::size_t>(polygon.count); }

  /// Whether tangents of(c) lie in the polygon of this limit, `room` added.
  template <class Of>
  [[nodiscard]] bool in_cone(const F& limit, const F& room, const Of& of) const {
    for (std::size_t j = 0; j < corners(); ++j) {
      F out, reach;
      if (tangents == 1) {
        out = along(j, of), reach = F(1.0);
      } else {
        const F normal[2] = {polygon.along[j][1], -F(polygon.along[j][0])};
        out = normal[0] * of(0) + normal[1] * of(1);
        reach = along(j, [&](std::size_t c) { return normal[c]; });
      }
      if (!(limit * reach + room - out).at_least_zero()) return false;
    }
    return true;
  }

 private:
  static std::vector<F> products(const Rows& matrix, const std::vector<F>& with) {
    std::vector<F> sums(matrix.size());
    for (std::size_t i = 0; i < matrix.size(); ++i) {
      for (const Entry& entry : matrix[i]) sums[i] = sums[i] + entry.value * with[entry.column];
    }
    return sums;
  }

  std::vector<F> noise_, impulse_of_speed_;  ///< [contacts]
  std::vector<F> still_;                     ///< [nv]: momenta that are rounding
};

}  // namespace carom::exact
