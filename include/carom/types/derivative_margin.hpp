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
  bool wrench = true;
  bool centre_of_mass = true;
};

template <template <class> class Array>
struct MarginGradientArrays : DerivativeReportArrays<Array> {
  using Sizes = PostureSizes;

  Array<double> value;     ///< the margin itself [m], [problems]
  Array<double> position;  ///< [problems, k, 3]; this and what follows is empty where not wanted
  Array<double> normal;    ///< [m], [problems, k, 3], orthogonal to the normals
  Array<double> friction;  ///< [m], [problems, k]
  Array<double> wrench;    ///< [m / N] and [1 / N], [problems, 6]
  Array<double> centre_of_mass;  ///< minus the outward normal of the nearest side, [problems, 3]

  /// See batch.hpp.
  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const std::int64_t p = sizes.problems, k = sizes.contacts;
    visit("value", Extents{p}, tables.value...);
    visit("position", Extents{p, k, 3}.or_empty(), tables.position...);
    visit("normal", Extents{p, k, 3}.or_empty(), tables.normal...);
    visit("friction", Extents{p, k}.or_empty(), tables.friction...);
    visit("wrench", Extents{p, 6}.or_empty(), tables.wrench...);
    visit("centre_of_mass", Extents{p, 3}.or_empty(), tables.centre_of_mass...);
    DerivativeReportArrays<Array>::each_report(p, visit, tables...);
  }
};
/// Gradients of margins. residual: of balance, friction cones, the half-plane's proof and their
/// complementarity; margin: least gap of that, relative to |f| and the contacts' extent; condition:
/// of the balance of those forces that can change; shift: what Newton's method moved; reach is NaN.
struct MarginGradient : MarginGradientArrays<Buffer> {};

}  // namespace carom
