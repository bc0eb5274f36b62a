#pragma once

#include <cstdint>

#include <carom/device/constraint_rows.hpp>
#include <carom/types/models/scenarios.hpp>

#include "compliant/scenarios/base.hpp"
#include "cpu/simd/derivative_code.hpp"
#include "cpu/simd/padding.hpp"

/// Products from the left with the derivatives of a scenario's maps, by dual numbers whose lanes
/// are directions.
namespace carom::cpu::simd {

/// A map of a scenario and the gradient of a loss in what it returns.
struct WorldMap {
  enum class Name : std::uint8_t {
    start,         ///< p to (q, v)
    rows,          ///< (q, v, p, h) to M^-1, f and the constraints' rows
    advance,       ///< (q, v', p, h) to q'
    direct,        ///< (q, v, p, h) to (q', v'), of scenarios that step themselves
    displacement,  ///< (q, p) to a number
  };
  Name name;
  const double* position = nullptr;      ///< gradient in q or q'; of displacement: in that, [1]
  const double* velocity = nullptr;      ///< in v or v'
  const double* inverse_mass = nullptr;  ///< rows: in 1 / M_jj
  const double* force = nullptr;         ///< rows: in f
  /// rows: in G, (dG/dt) v, phi, K, B and mu, as many rows as the map returns.
  const kernels::ConstraintRows* rows = nullptr;
};

struct WorldPullback {
  models::ScenarioKind kind;
  kernels::WorldSizes sizes;
  int parameters;
  double step;        ///< its number: the time is this times h
  const double* at;   ///< (q, v, p, h)
  const int* wanted;  ///< which numbers of `at` to differentiate in
  int wanted_count;
  double* reals;   ///< world_pullback_reals
  int* ints;       ///< world_pullback_ints
  RowType* types;  ///< [sizes.rows]
};

constexpr long world_inputs(const kernels::WorldSizes& sizes, int parameters) {
  return sizes.positions + sizes.velocities + parameters + 1L;
}
constexpr long world_pullback_reals(const kernels::WorldSizes& sizes, int parameters) {
  return 2L * kLargestPadding *
         (world_inputs(sizes, parameters) + 2L * sizes.velocities +
          kernels::constraint_reals(sizes.rows, sizes.velocities) + 1L);
}
constexpr long world_pullback_ints(const kernels::WorldSizes& sizes) {
  return kernels::constraint_ints(sizes.rows);
}

}  // namespace carom::cpu::simd
