#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <carom/lp.hpp>
#include <carom/qp.hpp>
#include <carom/types/solver_objects.hpp>

/// Solvers for problems that come again with new numbers, as in simulation and control. They store
/// factors and bases between calls. CPU and host memory only; one call at a time.
namespace carom {

/// QPs l <= A x <= u that share P and A, for which P^-1 and A P^-1 A' are stored, or that each have
/// their own, for which P^-1 is stored (about as much memory as the matrices take). Each solve
/// starts from the rows that were active before (dual active set: Goldfarb and Idnani 1983). Every
/// answer must pass the certificate of solve_qp; a problem that fails is solved again by solve_qp.
/// So the start does not change what a status means.
class QpSolver {
 public:
  /// matrices: one problem, whose P and A all problems share, or all problems that solve() will
  /// get; without cones. Errors: InvalidInput for shapes, settings and numbers that are not
  /// finite.
  explicit QpSolver(const QpBatch& matrices, const QpSettings& settings = {});
  ~QpSolver();
  QpSolver(QpSolver&&) noexcept;
  QpSolver& operator=(QpSolver&&) noexcept;

  /// Whether warm starts are used: at most 128 variables, 1 to 512 rows, method automatic, and a
  /// definite P (of one problem at least). Other problems are solved by solve_qp.
  [[nodiscard]] bool keeps_factors() const;

  /// held: [problems, m], the active rows to start with: 0 inactive, 1 at l, 2 at u (equations are
  /// always active); overwritten by those of the answer. All zero: a start without active rows.
  /// Errors: InvalidInput for sizes.
  QpResult solve(const QpVectors& vectors, std::span<std::uint8_t> held);
  /// The same, written to `result`, which is empty or from an earlier call with the same number of
  /// problems. Its memory is then reused, and nothing is allocated, if each problem has its own
  /// vectors and none needs solve_qp.
  void solve(const QpVectors& vectors, std::span<std::uint8_t> held, QpResult& result);

 private:
  struct Kept;
  std::unique_ptr<Kept> kept_;
};

/// LPs that share c and A. A basis that was optimal once is optimal for all bounds for which its
/// point is feasible. A pool stores bases with inverses and multipliers and tries the likely ones.
/// If none fits, solve_lp starts from the basis of least violation, and the final basis joins the
/// pool. Every answer passes the certificate of solve_lp.
class LpSolver {
 public:
  /// costs: one problem and one objective, of which c and A are read; pool: the largest number of
  /// bases, at most kLargestPool. Errors: InvalidInput for shapes, settings and numbers that are
  /// not finite.
  explicit LpSolver(const LpBatch& costs, const LpSettings& settings = {}, int pool = 256);
  ~LpSolver();
  LpSolver(LpSolver&&) noexcept;
  LpSolver& operator=(LpSolver&&) noexcept;

  /// start: [problems], the basis that each problem tries first, or -1; overwritten by the final
  /// basis, or by the one of least violation. Errors: InvalidInput for sizes.
  LpResult solve(const LpBounds& bounds, std::span<std::int32_t> start);
  /// Adds a basis (LpResult::basis of one problem) to the pool if there is room and its block of A
  /// is regular. Returns its number, or -1.
  int add(std::span<const BasisStatus> basis);
  [[nodiscard]] int pooled() const;

 private:
  struct Kept;
  std::unique_ptr<Kept> kept_;
};

}  // namespace carom
