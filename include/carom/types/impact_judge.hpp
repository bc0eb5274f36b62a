#pragma once

#include <cstdint>

#include <carom/types/batch.hpp>
#include <carom/types/impact.hpp>
#include <carom/types/status.hpp>

/// The plain structs of carom/impact_judge.hpp.
namespace carom {

template <template <class> class Array>
struct MeasuredImpactArrays {
  using Sizes = ImpactSizes;

  Array<double> measured_velocity;    ///< v+ as measured, [problems, nv]
  Array<double> measured_covariance;  ///< of it, [problems, nv, nv], positive definite; empty:
                                      ///< distances are |.|_M over |v-|_M

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const std::int64_t p = sizes.problems, nv = sizes.velocities;
    visit("measured_velocity", Extents{p, nv}, tables.measured_velocity...);
    visit("measured_covariance", Extents{p, nv, nv}.or_empty(), tables.measured_covariance...);
  }
};
/// What was measured after the impacts of a batch, in host memory.
struct MeasuredImpacts : MeasuredImpactArrays<Buffer> {};

template <template <class> class Array>
struct ImpactFloorArrays {
  using Sizes = ImpactSizes;

  Array<double> floor;           ///< [problems]; NaN where the program was not solved
  Array<double> floor_impulse;   ///< an impulse that comes as close, in its cones, [problems, d m]
  Array<Status> floor_status;    ///< of the cone program, [problems]
  Array<double> floor_residual;  ///< its certified residual, [problems]; relative

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const std::int64_t p = sizes.problems;
    visit("floor", Extents{p}, tables.floor...);
    visit("floor_impulse", Extents{p, sizes.contact_rows()}, tables.floor_impulse...);
    visit("floor_status", Extents{p}, tables.floor_status...);
    visit("floor_residual", Extents{p}, tables.floor_residual...);
  }
};
/// How close any impulse in the friction cones comes to what was measured.
struct ImpactFloor : ImpactFloorArrays<Buffer> {};

}  // namespace carom
