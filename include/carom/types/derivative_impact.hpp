#pragma once

#include <carom/types/derivative.hpp>
#include <carom/types/impact.hpp>

/// The plain structs of carom/derivative_impact.hpp.
namespace carom {

/// The gradient of a loss in what was kept of samples.
template <template <class> class Array>
struct ImpactCotangentArrays {
  using Sizes = ImpactSampleSizes;

  Array<double> velocity;  ///< dL/dv+, [problems, count, nv]

  /// See batch.hpp; likewise below.
  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    visit("velocity", Extents{sizes.problems, sizes.count, sizes.velocities}, tables.velocity...);
  }
};
struct ImpactCotangent : ImpactCotangentArrays<Buffer> {};

/// A direction in the problems' arrays, of all samples of a problem; what is left empty is zero.
template <template <class> class Array>
struct ImpactDirectionArrays {
  using Sizes = ImpactSizes;

  Array<double> mass_matrix;       ///< [problems, nv, nv], symmetric
  Array<double> normal_jacobian;   ///< [problems, m, nv]
  Array<double> tangent_jacobian;  ///< [problems, (dimension-1) m, nv]
  Array<double> friction;          ///< [problems, m]
  Array<double> velocity;          ///< v before the impact, [problems, nv]
  Array<double> step_size;         ///< h, [problems]

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const auto [p, dimension, nv, m] = sizes;
    visit("mass_matrix", Extents{p, nv, nv}.or_empty(), tables.mass_matrix...);
    visit("normal_jacobian", Extents{p, m, nv}.or_empty(), tables.normal_jacobian...);
    visit("tangent_jacobian", Extents{p, (dimension - 1) * m, nv}.or_empty(),
          tables.tangent_jacobian...);
    visit("friction", Extents{p, m}.or_empty(), tables.friction...);
    visit("velocity", Extents{p, nv}.or_empty(), tables.velocity...);
    visit("step_size", Extents{p}.or_empty(), tables.step_size...);
  }
};
struct ImpactDirection : ImpactDirectionArrays<Buffer> {};

/// Which gradients are wanted besides that in the velocity. Where contacts depend on each other
/// those in the Jacobians do not exist: what then is asked without them is still smooth.
struct ImpactWanted {
  bool mass_matrix = true;
  bool jacobians = true;
  bool friction = true;
};

struct ImpactDerivativeSizes : ImpactSizes {
  std::int64_t count = 0;  ///< samples of each problem
};

/// Of all samples together, and what each says of itself: the report's arrays are
/// [problems, count]. A sample without a derivative makes the sums of its problem NaN unless its
/// cotangent is zero.
template <template <class> class Array>
struct ImpactGradientArrays : DerivativeReportArrays<Array> {
  using Sizes = ImpactDerivativeSizes;

  Array<double> mass_matrix;       ///< symmetric, [problems, nv, nv]; empty where not wanted
  Array<double> normal_jacobian;   ///< [problems, m, nv]; empty where not wanted
  Array<double> tangent_jacobian;  ///< [problems, (dimension-1) m, nv]; likewise
  Array<double> friction;          ///< [problems, m]; empty where not wanted
  Array<double> velocity;          ///< [problems, nv]
  Array<double> step_size;         ///< [problems]: in h, which the others hold
  Array<double> sample_velocity;   ///< one gradient a sample, [problems, count, nv]
  Array<double> sample_friction;   ///< [problems, count, m]; empty where not wanted

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const std::int64_t p = sizes.problems, nv = sizes.velocities, m = sizes.contacts;
    const std::int64_t count = sizes.count;
    visit("mass_matrix", Extents{p, nv, nv}.or_empty(), tables.mass_matrix...);
    visit("normal_jacobian", Extents{p, m, nv}.or_empty(), tables.normal_jacobian...);
    visit("tangent_jacobian", Extents{p, (sizes.dimension - 1) * m, nv}.or_empty(),
          tables.tangent_jacobian...);
    visit("friction", Extents{p, m}.or_empty(), tables.friction...);
    visit("velocity", Extents{p, nv}, tables.velocity...);
    visit("step_size", Extents{p}, tables.step_size...);
    visit("sample_velocity", Extents{p, count, nv}, tables.sample_velocity...);
    visit("sample_friction", Extents{p, count, m}.or_empty(), tables.sample_friction...);
    DerivativeReportArrays<Array>::each_report(p * count, visit, tables...);
  }
};
struct ImpactGradient : ImpactGradientArrays<Buffer> {};

template <template <class> class Array>
struct ImpactTangentArrays : DerivativeReportArrays<Array> {
  using Sizes = ImpactDerivativeSizes;

  Array<double> velocity;  ///< dv+, [problems, count, nv]

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    visit("velocity", Extents{sizes.problems, sizes.count, sizes.velocities}, tables.velocity...);
    DerivativeReportArrays<Array>::each_report(sizes.problems * sizes.count, visit, tables...);
  }
};
struct ImpactTangent : ImpactTangentArrays<Buffer> {};

}  // namespace carom
