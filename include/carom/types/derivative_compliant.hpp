#pragma once

#include <carom/types/compliant.hpp>
#include <carom/types/derivative.hpp>

/// The plain structs of carom/derivative_compliant.hpp.
namespace carom {

/// The gradient of a loss in the step's arrays; what is left empty is zero.
template <template <class> class Array>
struct CompliantCotangentArrays {
  using Sizes = CompliantSizes;

  Array<double> velocity;        ///< dL/dv', [problems, nv]
  Array<double> increment;       ///< dL/d(q' - q), [problems, nq or nv]
  Array<double> force;           ///< dL/dlambda, [problems, m]
  Array<double> kinetic_energy;  ///< [problems]

  /// See batch.hpp; likewise below.
  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const std::int64_t p = sizes.problems, nv = sizes.velocities;
    visit("velocity", Extents{p, nv}.or_empty(), tables.velocity...);
    visit("increment", Extents{p, sizes.positions > 0 ? sizes.positions : nv}.or_empty(),
          tables.increment...);
    visit("force", Extents{p, sizes.rows}.or_empty(), tables.force...);
    visit("kinetic_energy", Extents{p}.or_empty(), tables.kinetic_energy...);
  }
};
struct CompliantCotangent : CompliantCotangentArrays<Buffer> {};

/// A direction in the step's inputs, of the batch's names; what is left empty is zero. Of the mass
/// matrix the symmetric part counts.
template <template <class> class Array>
struct CompliantDirectionArrays {
  using Sizes = CompliantSizes;

  Array<double> step_size;       ///< [problems]
  Array<double> mass_matrix;     ///< [problems, nv, nv]
  Array<double> force;           ///< [problems, nv]
  Array<double> velocity;        ///< [problems, nv]
  Array<double> position_map;    ///< [problems, nq, nv]
  Array<double> jacobian;        ///< [problems, m, nv]
  Array<double> jacobian_dot_v;  ///< [problems, m]
  Array<double> phi;             ///< [problems, m]
  Array<double> stiffness;       ///< [problems, m]
  Array<double> damping;         ///< [problems, m]
  Array<double> friction;        ///< [problems, m], of normal rows

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const std::int64_t p = sizes.problems, nv = sizes.velocities, m = sizes.rows;
    visit("step_size", Extents{p}.or_empty(), tables.step_size...);
    visit("mass_matrix", Extents{p, nv, nv}.or_empty(), tables.mass_matrix...);
    visit("force", Extents{p, nv}.or_empty(), tables.force...);
    visit("velocity", Extents{p, nv}.or_empty(), tables.velocity...);
    visit("position_map", Extents{p, sizes.positions, nv}.or_empty(), tables.position_map...);
    visit("jacobian", Extents{p, m, nv}.or_empty(), tables.jacobian...);
    visit("jacobian_dot_v", Extents{p, m}.or_empty(), tables.jacobian_dot_v...);
    visit("phi", Extents{p, m}.or_empty(), tables.phi...);
    visit("stiffness", Extents{p, m}.or_empty(), tables.stiffness...);
    visit("damping", Extents{p, m}.or_empty(), tables.damping...);
    visit("friction", Extents{p, m}.or_empty(), tables.friction...);
  }
};
struct CompliantDirection : CompliantDirectionArrays<Buffer> {};

template <template <class> class Array>
struct CompliantGradientArrays : CompliantDirectionArrays<Array>, DerivativeReportArrays<Array> {
  using Sizes = CompliantSizes;

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    CompliantDirectionArrays<Array>::each_array(sizes, visit, tables...);
    DerivativeReportArrays<Array>::each_report(sizes.problems, visit, tables...);
  }
};
/// Gradients by the batch's names, each of its array's extents, that of M symmetric; zero at absent
/// rows and at those with K = B = 0; empty where not wanted.
struct CompliantGradient : CompliantGradientArrays<Buffer> {};

template <template <class> class Array>
struct CompliantTangentArrays : DerivativeReportArrays<Array> {
  using Sizes = CompliantSizes;

  Array<double> velocity;        ///< dv', [problems, nv]
  Array<double> increment;       ///< d(q' - q), [problems, nq or nv]
  Array<double> force;           ///< dlambda, [problems, m]
  Array<double> kinetic_energy;  ///< [problems]

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const std::int64_t p = sizes.problems, nv = sizes.velocities;
    visit("velocity", Extents{p, nv}, tables.velocity...);
    visit("increment", Extents{p, sizes.positions > 0 ? sizes.positions : nv}, tables.increment...);
    visit("force", Extents{p, sizes.rows}, tables.force...);
    visit("kinetic_energy", Extents{p}, tables.kinetic_energy...);
    DerivativeReportArrays<Array>::each_report(p, visit, tables...);
  }
};
struct CompliantTangent : CompliantTangentArrays<Buffer> {};

}  // namespace carom
