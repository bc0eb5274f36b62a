#pragma once

#include <carom/types/derivative.hpp>
#include <carom/types/lcp.hpp>

/// The plain structs of carom/derivative_lcp.hpp.
namespace carom {

/// The gradient of a loss in the answer's arrays; what is left empty is zero.
template <template <class> class Array>
struct LcpCotangentArrays {
  using Sizes = LcpSizes;

  Array<double> solution;  ///< dL/dz, [problems, n]
  Array<double> w;         ///< dL/dw of w = M z + q, [problems, n]

  /// See batch.hpp; likewise below.
  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const auto [p, n] = sizes;
    visit("solution", Extents{p, n}.or_empty(), tables.solution...);
    visit("w", Extents{p, n}.or_empty(), tables.w...);
  }
};
struct LcpCotangent : LcpCotangentArrays<Buffer> {};

/// A direction in the problem's arrays; what is left empty is zero.
template <template <class> class Array>
struct LcpDirectionArrays {
  using Sizes = LcpSizes;

  Array<double> matrix;  ///< dM, row-major, [problems, n, n]
  Array<double> vector;  ///< dq, [problems, n]

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const auto [p, n] = sizes;
    visit("matrix", Extents{p, n, n}.or_empty(), tables.matrix...);
    visit("vector", Extents{p, n}.or_empty(), tables.vector...);
  }
};
struct LcpDirection : LcpDirectionArrays<Buffer> {};

/// Which gradients are wanted. Without `matrix` that of M still is -adjoint solution' + (dL/dw)
/// solution', its factors.
struct LcpWanted {
  bool matrix = true;
  bool vector = true;
};

template <template <class> class Array>
struct LcpGradientArrays : DerivativeReportArrays<Array> {
  using Sizes = LcpSizes;

  Array<double> matrix;    ///< dL/dM, row-major, [problems, n, n]; empty where not wanted
  Array<double> vector;    ///< dL/dq, [problems, n]; empty where not wanted
  Array<double> adjoint;   ///< y, [problems, n], zero in rows with z = 0
  Array<double> solution;  ///< z, polished, [problems, n]
  /// A t, [problems]: no |dM_ij| <= t |M_ij|, |dq_i| <= t |q_i| changes the modes. Proven up to
  /// rounding, not the largest; 0 at doubtful rows; empty without DerivativeSettings::radius.
  Array<double> radius;

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const auto [p, n] = sizes;
    visit("matrix", Extents{p, n, n}.or_empty(), tables.matrix...);
    visit("vector", Extents{p, n}.or_empty(), tables.vector...);
    visit("adjoint", Extents{p, n}, tables.adjoint...);
    visit("solution", Extents{p, n}, tables.solution...);
    visit("radius", Extents{p}.or_empty(), tables.radius...);
    DerivativeReportArrays<Array>::each_report(p, visit, tables...);
  }
};
struct LcpGradient : LcpGradientArrays<Buffer> {};

template <template <class> class Array>
struct LcpTangentArrays : DerivativeReportArrays<Array> {
  using Sizes = LcpSizes;

  Array<double> solution;  ///< dz, [problems, n]
  Array<double> w;         ///< dw, [problems, n]
  Array<double> radius;    ///< as in a gradient

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const auto [p, n] = sizes;
    visit("solution", Extents{p, n}, tables.solution...);
    visit("w", Extents{p, n}, tables.w...);
    visit("radius", Extents{p}.or_empty(), tables.radius...);
    DerivativeReportArrays<Array>::each_report(p, visit, tables...);
  }
};
struct LcpTangent : LcpTangentArrays<Buffer> {};

}  // namespace carom
