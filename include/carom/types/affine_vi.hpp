#pragma once

#include <carom/types/boxed_lcp.hpp>

/// The plain structs of carom/affine_vi.hpp.
namespace carom {

struct AffineViSizes {
  std::int64_t problems = 0;
  int variables = 0;  ///< v
  int rows = 0;       ///< m
};

template <template <class> class Array>
struct AffineViBatchArrays {
  using Sizes = AffineViSizes;

  Array<double> matrix;        ///< M, row-major, [problems, v, v]
  Array<double> vector;        ///< q, [problems, v]
  Array<double> constraints;   ///< A, row-major, [problems, m, v]
  Array<double> row_lower;     ///< l, [problems, m]; -infinity: absent
  Array<double> row_upper;     ///< u, [problems, m]; infinity: absent
  Array<double> column_lower;  ///< [problems, v]
  Array<double> column_upper;  ///< [problems, v]

  /// See batch.hpp.
  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const auto [p, v, m] = sizes;
    visit("matrix", Extents{p, v, v}, tables.matrix...);
    visit("vector", Extents{p, v}, tables.vector...);
    visit("constraints", Extents{p, m, v}, tables.constraints...);
    visit("row_lower", Extents{p, m}, tables.row_lower...);
    visit("row_upper", Extents{p, m}, tables.row_upper...);
    visit("column_lower", Extents{p, v}, tables.column_lower...);
    visit("column_upper", Extents{p, v}, tables.column_upper...);
  }
};

/// Independent affine variational inequalities of one shape: find x in
/// K = {l <= A x <= u, column_lower <= x <= column_upper} with (M x + q)'(y - x) >= 0 for every y
/// in K (Facchinei and Pang 2003).
struct AffineViBatch : AffineViSizes, AffineViBatchArrays<Buffer> {};

}  // namespace carom
