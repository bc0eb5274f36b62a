#pragma once

#include <cmath>
#include <cstdint>

#include <carom/device/constraint_rows.hpp>
#include <carom/device/numeric.hpp>

#include "models/mechanisms/mechanism.hpp"

/// Scenarios as functors: a mechanism (mechanism.hpp), the compliance of its constraints, a start.
/// Parameters come in the order of the enumerations; names, units and ranges stand in
/// src/models/scenario_table.cpp. All masses are diagonal; positions follow q' = q + h N v'.
namespace carom::kernels {

struct WorldSizes {
  int positions, velocities, rows;
};
CAROM_HOST_DEVICE constexpr WorldSizes world_sizes(const MechanismSizes& sizes, int rows) {
  return {sizes.positions, sizes.velocities, rows * sizes.constraints};
}

/// Scenarios whose worlds are all of one size, for any parameters.
template <class Scenario>
concept SizedAlike = requires {
  Scenario::kSizes.rows;
};

/// What holds a constraint: springs and dampers of its first row and of its tangents.
template <class T>
struct ComplianceOf {
  RowType type = RowType::normal;
  T deformation{0.0};
  T stiffness{0.0};
  T damping{0.0};
  T tangent_damping{0.0};
};

/// What a scenario that does not define a hook gets. It has besides: Mechanism, start, acts
/// (whether a constraint is there in the step), compliance, advance, energy, displacement.
struct ScenarioBase {
  static constexpr int kTangents = 1;  ///< rows after a normal row
  static constexpr int kContacts = 0;  ///< usual number of spatial contacts, if CompliantPack shall
                                       ///< be compiled for it
  static constexpr bool kMany = false;  ///< CompliantMany instead of CompliantStep
  /// Without impacts: energies are those of the positions' time, where the velocity is the mean of
  /// those half a step before and half a step after it.
  static constexpr bool kSmooth = false;
  /// The tangents' dJ/dt v enters the step, not only the normals'.
  static constexpr bool kTangentsTurn = true;
  template <class... Any>
  static CAROM_INLINE bool acts(const Any&...) {
    return true;
  }
  template <class T>
  static CAROM_INLINE bool direct(const T*, T, T*, T*) {
    return false;
  }
  static CAROM_INLINE bool finished(const double*, const double*, const double*) { return false; }
};

/// A row ahead of its contact is there where the gap may close within the step.
template <class T>
CAROM_INLINE bool may_touch(T gap, T speed, T h, T fall) {
  return gap + h * (speed - h * fall) <= 0.0 || gap <= 0.0;
}

/// What numbers that are written down (traced_number.hpp) hold of a computation, to be forgotten
/// where nothing but a decision came of it.
template <class T>
struct Written {
  explicit CAROM_INLINE Written(const T&) {}
  CAROM_INLINE void forget() const {}
};

/// M^-1, F and the constraints' rows of a scenario's mechanism at time t.
template <class Scenario, class T>
CAROM_INLINE void evaluate_scenario(const T* p, T t, T h, const T* q, const T* v, T* inverse_mass,
                                    T* force, ConstraintRowsOf<T>& rows) {
  using Mechanism = typename Scenario::template MechanismOf<T>;
  static_assert(DiagonalMechanism<typename Scenario::Mechanism>);
  constexpr int kRows = Mechanism::kRows;
  const Mechanism at(p, t, q);
  at.inverse_mass(inverse_mass);
  at.force(v, force);
  const int count = Mechanism::sizes(p).constraints;
  for (int i = 0; i < count; ++i) {
    const Written<T> before(h);
    const auto constraint = at.constraint(i);
    const Written<T> of_constraint(h);
    if (!Scenario::acts(p, h, at, constraint, v)) {
      before.forget();
      continue;
    }
    of_constraint.forget();
    const ComplianceOf<T> law = Scenario::compliance(p, h, at, i, constraint);
    const int first = rows.add(law.type, kRows * i, constraint.begin, constraint.end,
                               law.deformation, law.stiffness, law.damping);
    for (int k = 1; k < kRows; ++k) {
      rows.add(RowType::tangent, kRows * i + k, constraint.begin, constraint.end, T(0.0), T(0.0),
               law.tangent_damping);
    }
    if constexpr (kRows > 1) rows.friction[first] = at.friction(constraint);
    at.jacobian(constraint, rows.row(first), rows.velocities);
    T turning[kRows];
    at.jacobian_dot_v(constraint, v, turning);
    const int last = Scenario::kTangentsTurn ? kRows : 1;
    for (int k = 0; k < last; ++k) rows.jacobian_dot_v[first + k] = turning[k];
  }
}

}  // namespace carom::kernels
