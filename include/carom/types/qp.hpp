#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <carom/types/backend.hpp>
#include <carom/types/batch.hpp>
#include <carom/types/settings.hpp>
#include <carom/types/status.hpp>
#include <carom/types/words.hpp>
#include <carom/types/workspace.hpp>

/// The plain structs of carom/qp.hpp.
namespace carom {

/// Largest number of variables, and of rows with cone rows, of a dense quadratic program.
inline constexpr int kMaxQpVariables = 2048;
inline constexpr int kMaxQpRows = 8192;

/// What a block of cone rows is held in. Cones follow one another in the order of their rows.
enum class ConeKind : std::uint8_t {
  zero,          ///< {0}
  nonnegative,   ///< every component >= 0
  second_order,  ///< {(t, v): t >= |v|_2}; of size 1 a half-line
};

template <>
inline constexpr auto words<ConeKind> = std::to_array<Word<ConeKind>>({
    {ConeKind::zero, "zero"},
    {ConeKind::nonnegative, "nonneg"},
    {ConeKind::second_order, "second_order"},
});

struct Cone {
  ConeKind kind = ConeKind::nonnegative;
  int size = 0;
};

struct QpSizes {
  std::int64_t problems = 0;
  int variables = 0;        ///< n, 1..kMaxQpVariables
  int rows = 0;             ///< m, rows of A
  std::vector<Cone> cones;  ///< K; k = sum of the sizes, the same for every problem

  /// k
  [[nodiscard]] int cone_rows() const {
    int sum = 0;
    for (const Cone& cone : cones) sum += cone.size;
    return sum;
  }
};

template <template <class> class Array>
struct QpBatchArrays {
  using Sizes = QpSizes;

  Array<double> hessian;      ///< P, row-major, [problems, n, n], symmetric; the lower half is read
  Array<double> vector;       ///< q, [problems, n]
  Array<double> matrix;       ///< A, row-major, [problems, m, n]
  Array<double> lower;        ///< l, [problems, m], -infinity where absent
  Array<double> upper;        ///< u, [problems, m], +infinity where absent
  Array<double> cone_matrix;  ///< C, row-major, [problems, k, n]
  Array<double> cone_vector;  ///< b, [problems, k]

  /// See batch.hpp; likewise below.
  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const std::int64_t p = sizes.problems, n = sizes.variables, m = sizes.rows;
    const std::int64_t k = sizes.cone_rows();
    visit("hessian", Extents{p, n, n}, tables.hessian...);
    visit("vector", Extents{p, n}, tables.vector...);
    visit("matrix", Extents{p, m, n}, tables.matrix...);
    visit("lower", Extents{p, m}, tables.lower...);
    visit("upper", Extents{p, m}, tables.upper...);
    visit("cone_matrix", Extents{p, k, n}, tables.cone_matrix...);
    visit("cone_vector", Extents{p, k}, tables.cone_vector...);
  }
};

/// Independent convex quadratic programs of one shape:
///   minimise 1/2 x'P x + q'x   subject to   l <= A x <= u   and   b - C x in K.
/// Rows with l = u are equations; infinite bounds are absent, and a row whose two bounds are
/// infinite is switched off, which is how problems of one batch differ in their number of rows.
struct QpBatch : QpSizes, QpBatchArrays<Buffer> {
  [[nodiscard]] QpBatch to(MemorySpace space) const { return copy_to(*this, space); }
};

enum class QpMethod : std::uint8_t {
  /// A dual active set for few unknowns and a definite P without second-order cones, on cuda admm
  /// above 64 variables without cones, else interior_point; what that cannot certify goes to
  /// active_set or admm.
  automatic,
  interior_point,  ///< predictor-corrector, Nesterov-Todd scaling; takes no warm start
  active_set,      ///< exact dual active set; no second-order cones of two or more rows
  admm,            ///< operator splitting, one factorisation, polished
  projected,       ///< accelerated restarted projected gradient on the dual; P positive definite
  /// Lemke's method on the optimality conditions in twice the precision: slow and exact to the last
  /// digit; no second-order cones, at most 96 variables and rows together. What other methods
  /// leave without a verdict is tried by it.
  lemke,
};

template <>
inline constexpr auto words<QpMethod> = std::to_array<Word<QpMethod>>({
    {QpMethod::automatic, "auto"},
    {QpMethod::interior_point, "interior_point"},
    {QpMethod::active_set, "active_set"},
    {QpMethod::admm, "admm"},
    {QpMethod::projected, "projected"},
    {QpMethod::lemke, "lemke"},
});

struct QpSettings {
  QpMethod method = QpMethod::automatic;
  double tolerance = 1e-9;       ///< on the certified residual, certificate::qp_residual
  int max_iterations = 0;        ///< 0: 100, 20 (n + m + k), 20000 and 100000, in methods' order
  bool polish = true;            ///< admm and projected: finish by Newton steps on the active set
  double over_relaxation = 1.6;  ///< admm, in (0, 2)
  double penalty = 0.1;          ///< admm, the first rho, > 0
  int threads = 0;               ///< cpu: 0 = all hardware threads

  /// See settings.hpp.
  template <class Visit, class... Tables>
  static void each_setting(Visit&& visit, Tables&&... tables) {
    using Range = SettingRange;
    visit({"tolerance", "Largest relative residual of a solution", Range::tolerance()},
          tables.tolerance...);
    visit({"max_iterations", "Largest number of iterations", Range::at_least(0), "",
           "the method's own"},
          tables.max_iterations...);
    visit({"polish", "admm and projected: finish with Newton's method on the active set"},
          tables.polish...);
    visit({"over_relaxation", "Over-relaxation of admm", Range::inside(0, 2)},
          tables.over_relaxation...);
    visit({"penalty", "Initial penalty rho of admm", Range::above(0)}, tables.penalty...);
    visit({"threads", "CPU threads", Range::at_least(0), "", "all"}, tables.threads...);
    visit({"method", "Method; auto chooses by size and cones"}, tables.method...);
  }

  /// Errors: InvalidInput naming the field and its value.
  void validate() const;
};

template <template <class> class Array>
struct QpStartArrays {
  using Sizes = QpSizes;

  Array<double> solution;   ///< x, [problems, n]
  Array<double> dual;       ///< y, [problems, m]
  Array<double> cone_dual;  ///< z, [problems, k]

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const std::int64_t p = sizes.problems;
    visit("solution", Extents{p, sizes.variables}.or_empty(), tables.solution...);
    visit("dual", Extents{p, sizes.rows}.or_empty(), tables.dual...);
    visit("cone_dual", Extents{p, sizes.cone_rows()}.or_empty(), tables.cone_dual...);
  }
};
/// Where admm, projected and active_set start. Empty buffers are taken as zero.
struct QpWarmStart : QpStartArrays<Buffer> {};

template <template <class> class Array>
struct QpResultArrays {
  using Sizes = QpSizes;

  Array<double> solution;          ///< x, [problems, n]; NaN unless solved or inaccurate
  Array<double> dual;              ///< y, [problems, m]; NaN likewise
  Array<double> cone_dual;         ///< z, [problems, k]; NaN likewise
  Array<double> objective;         ///< 1/2 x'P x + q'x, [problems]; NaN likewise
  Array<Status> status;            ///< [problems]
  Array<QpMethod> method;          ///< [problems], the one that gave the answer
  Array<std::int32_t> iterations;  ///< [problems], of that method
  /// [problems], recomputed: certificate::qp_residual of an answer, that of the proof where the
  /// status is infeasible or unbounded; NaN where there is neither
  Array<double> residual;
  /// [problems, max(n, m + k)], NaN unless the status is proven by it:
  /// infeasible: (y, z) with A'y + C'z = 0, z in K*, and u'y+ - l'y- + b'z < 0 (Farkas); where
  /// l_i > u_i for some row, the unit vector of the first such row, whose bounds are the proof;
  /// unbounded: a direction d with P d = 0, q'd < 0 along which no row and no cone ends;
  /// nonconvex: a direction d with d'P d < 0 and E d = 0 in the rows with l = u and zero cones;
  /// no_interior, `point` NaN: a face (y, z) with A'y + C'z = 0, z in K* and not 0,
  /// u'y+ - l'y- + b'z = 0: z is at right angles to b - C x wherever the rows hold;
  /// no_interior, `point` numbers: d as of unbounded, with q'd = 0 and C d not 0: no multipliers
  /// are inside of all cones;
  /// solved, where every optimum lies on such a face and has multipliers only there: the face.
  /// z then need not be in K*, only z's >= 0 for all s in K at right angles to the face's z.
  Array<double> certificate;
  /// [problems, n], NaN unless unbounded or no_interior with a direction: meets the rows and cones
  Array<double> point;

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const std::int64_t p = sizes.problems, n = sizes.variables, m = sizes.rows;
    const std::int64_t k = sizes.cone_rows();
    visit("solution", Extents{p, n}, tables.solution...);
    visit("dual", Extents{p, m}, tables.dual...);
    visit("cone_dual", Extents{p, k}, tables.cone_dual...);
    visit("objective", Extents{p}, tables.objective...);
    visit("status", Extents{p}, tables.status...);
    visit("method", Extents{p}, tables.method...);
    visit("iterations", Extents{p}, tables.iterations...);
    visit("residual", Extents{p}, tables.residual...);
    visit("certificate", Extents{p, n > m + k ? n : m + k}, tables.certificate...);
    visit("point", Extents{p, n}, tables.point...);
  }
};
/// Multipliers satisfy P x + q + A'y + C'z = 0 with z in the dual cone of K, y_i >= 0 where the row
/// is at its upper bound, y_i <= 0 at its lower one.
struct QpResult : QpResultArrays<Buffer> {};

}  // namespace carom
