#pragma once

#include <carom/types/derivative.hpp>
#include <carom/types/qp.hpp>

/// The plain structs of carom/derivative_qp.hpp.
namespace carom {

/// Largest n + m + k of a QP that is differentiated: its equations are dense.
inline constexpr int kMaxQpDerivative = 1024;

/// The gradient of a loss in the answer's arrays; what is left empty is zero.
template <template <class> class Array>
struct QpCotangentArrays {
  using Sizes = QpSizes;

  Array<double> solution;   ///< dL/dx, [problems, n]
  Array<double> dual;       ///< dL/dy, [problems, m]
  Array<double> cone_dual;  ///< dL/dz, [problems, k]
  Array<double> objective;  ///< dL/d(1/2 x'P x + q'x), [problems]

  /// See batch.hpp; likewise below.
  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const std::int64_t p = sizes.problems;
    visit("solution", Extents{p, sizes.variables}.or_empty(), tables.solution...);
    visit("dual", Extents{p, sizes.rows}.or_empty(), tables.dual...);
    visit("cone_dual", Extents{p, sizes.cone_rows()}.or_empty(), tables.cone_dual...);
    visit("objective", Extents{p}.or_empty(), tables.objective...);
  }
};
struct QpCotangent : QpCotangentArrays<Buffer> {};

/// A direction in the problem's arrays, of the batch's names; what is left empty is zero. Of
/// `hessian` the symmetric part counts; entries at infinite bounds do not.
template <template <class> class Array>
struct QpDirectionArrays : QpBatchArrays<Array> {
  template <class Visit, class... Tables>
  static void each_array(const QpSizes& sizes, Visit&& visit, Tables&&... tables) {
    QpBatchArrays<Array>::each_array(
        sizes,
        [&](const char* name, const Extents& extents, auto&&... arrays) {
          visit(name, extents.or_empty(), arrays...);
        },
        tables...);
  }
};
struct QpDirection : QpDirectionArrays<Buffer> {};

/// Which gradients are wanted, by the batch's names. Rows that depend on each other have gradients
/// in P and q only, so this decides what the status says.
struct QpWanted {
  bool hessian = true;
  bool vector = true;
  bool matrix = true;
  bool lower = true;
  bool upper = true;
  bool cone_matrix = true;
  bool cone_vector = true;

  /// Whether anything of the rows is wanted.
  [[nodiscard]] constexpr bool rows() const {
    return matrix || lower || upper || cone_matrix || cone_vector;
  }
  template <class Visit>
  static void each(const QpWanted& wanted, Visit&& visit) {
    visit("hessian", wanted.hessian);
    visit("vector", wanted.vector);
    visit("matrix", wanted.matrix);
    visit("lower", wanted.lower);
    visit("upper", wanted.upper);
    visit("cone_matrix", wanted.cone_matrix);
    visit("cone_vector", wanted.cone_vector);
  }
};

template <template <class> class Array>
struct QpGradientArrays : QpDirectionArrays<Array>, DerivativeReportArrays<Array> {
  using Sizes = QpSizes;

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    QpDirectionArrays<Array>::each_array(sizes, visit, tables...);
    DerivativeReportArrays<Array>::each_report(sizes.problems, visit, tables...);
  }
};
/// Gradients by the batch's names, each of its array's extents, that of P symmetric; empty where
/// not wanted.
struct QpGradient : QpGradientArrays<Buffer> {};

template <template <class> class Array>
struct QpTangentArrays : DerivativeReportArrays<Array> {
  using Sizes = QpSizes;

  Array<double> solution;   ///< dx, [problems, n]
  Array<double> dual;       ///< dy, [problems, m]
  Array<double> cone_dual;  ///< dz, [problems, k]
  Array<double> objective;  ///< [problems]

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const std::int64_t p = sizes.problems;
    visit("solution", Extents{p, sizes.variables}, tables.solution...);
    visit("dual", Extents{p, sizes.rows}, tables.dual...);
    visit("cone_dual", Extents{p, sizes.cone_rows()}, tables.cone_dual...);
    visit("objective", Extents{p}, tables.objective...);
    DerivativeReportArrays<Array>::each_report(p, visit, tables...);
  }
};
struct QpTangent : QpTangentArrays<Buffer> {};

}  // namespace carom
