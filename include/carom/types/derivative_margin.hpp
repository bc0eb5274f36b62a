#pragma once

#include <carom/types/derivative.hpp>
#include <carom/types/posture.hpp>

/// The plain structs of carom/derivative_margin.hpp.
namespace carom {

/// Inputs whose gradients are wanted. The status of a problem is that of all of them.
struct MarginWanted {
  bool position = true;
  bool normal = true;
  bool friction = true;
  bool length = true;  ///< of planar patches
  bool wrench = true;
  bool centre_of_mass = true;
};

template <template <class> class Array>
struct MarginGradientArrays : DerivativeReportArrays<Array> {
  using Sizes = PostureSizes;

  Array<double> value;  ///< the margin itself [m], [problems]
  /// [problems, k, dimension]; this and what follows is empty where not wanted
  Array<double> position;
  Array<double> normal;    ///< [m], [problems, k, dimension], orthogonal to the normals
  Array<double> friction;  ///< [m], [problems, k]
  Array<double> length;    ///< [problems, k]; empty where the posture has no patches
  Array<double> wrench;    ///< [m / N] and [1 / N], [problems, wrench_size]
  /// Minus the outward normal of the nearest side, [problems, dimension].
  Array<double> centre_of_mass;

  /// See batch.hpp.
  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const std::int64_t p = sizes.problems, k = sizes.contacts;
    const int dimension = sizes.dimension;
    visit("value", Extents{p}, tables.value...);
    visit("position", Extents{p, k, dimension}.or_empty(), tables.position...);
    visit("normal", Extents{p, k, dimension}.or_empty(), tables.normal...);
    visit("friction", Extents{p, k}.or_empty(), tables.friction...);
    visit("length", Extents{p, k}.or_empty(), tables.length...);
    visit("wrench", Extents{p, wrench_size(dimension)}.or_empty(), tables.wrench...);
    visit("centre_of_mass", Extents{p, dimension}.or_empty(), tables.centre_of_mass...);
    DerivativeReportArrays<Array>::each_report(p, visit, tables...);
  }
};
/// Gradients of margins. residual: of balance, friction cones, the half-plane's proof and their
/// complementarity; margin: least gap of that, relative to |f| and the contacts' extent; condition:
/// of the balance of those forces that can change; shift: what polishing moved; reach is NaN.
struct MarginGradient : MarginGradientArrays<Buffer> {};

}  // namespace carom
