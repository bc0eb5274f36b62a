#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <carom/lp.hpp>
#include <carom/qp.hpp>
#include <carom/types/solver_objects.hpp>

/// The same matrices over and over, as in simulation and control. Objects keep what all their
/// problems share, on the cpu, in host memory; one call at a time.
namespace carom {

/// QPs l <= A x <= u of one P and one A, of which P^-1 and A P^-1 A' are kept, or with matrices of
/// each problem's own, of which P^-1 is: about as much memory as they take. A problem begins with
/// the rows that were active before (a dual active set: Goldfarb and Idnani 1983). Every answer
/// passes the certificate of solve_qp; what does not is solved by solve_qp anew, so that no status
/// depends on the start.
class QpSolver {
 public:
  /// matrices: one problem, of which P and A are read and which serve all, or all problems that
  /// solve() is to have; no cones. Errors: InvalidInput for shapes,
  /// settings and numbers that are not finite.
  explicit QpSolver(const QpBatch& matrices, const QpSettings& settings = {});
  ~QpSolver();
  QpSolver(QpSolver&&) noexcept;
  QpSolver& operator=(QpSolver&&) noexcept;

  /// Whether starts are taken: at most 128 variables and 1 to 512 rows, the method automatic, and
  /// P definite, that of all or of one problem at least. The others are solved by solve_qp.
  [[nodiscard]] bool keeps_factors() const;

  /// held: [problems, m], the working sets: 0 inactive, 1 at l, 2 at u (equations always take
  /// part); where the problems end they are written back. All zero: a start without rows.
  /// Errors: InvalidInput for sizes.
  QpResult solve(const QpVectors& vectors, std::span<std::uint8_t> held);
  /// The same, written to `result`: empty, or of an earlier call with as many problems, whose
  /// memory is then reused. Nothing is allocated in that case if each problem has its own vectors
  /// and none has to be passed on to solve_qp.
  void solve(const QpVectors& vectors, std::span<std::uint8_t> held, QpResult& result);

 private:
  struct Kept;
  std::unique_ptr<Kept> kept_;
};

/// LPs of one c and one A: a basis that was optimal for some bounds is optimal for all for which
/// its point lies within them. A pool keeps bases with their inverses and multipliers, and tries
/// the likely ones; what none of them answers is solved by solve_lp from the basis of least
/// violation, whose end joins the pool. Every answer passes the certificate of solve_lp.
class LpSolver {
 public:
  /// costs: one problem and one objective, of which c and A are read; pool: the largest number of
  /// bases, at most kLargestPool. Errors: InvalidInput for shapes, settings and numbers that are
  /// not finite.
  explicit LpSolver(const LpBatch& costs, const LpSettings& settings = {}, int pool = 256);
  ~LpSolver();
  LpSolver(LpSolver&&) noexcept;
  LpSolver& operator=(LpSolver&&) noexcept;

  /// start: [problems], the number of the basis that each problem tries first, or -1; where it ends
  /// is written back, or the one of least violation. Errors: InvalidInput for sizes.
  LpResult solve(const LpBounds& bounds, std::span<std::int32_t> start);
  /// Takes a basis in (LpResult::basis of one problem) where there is room and its block of A is
  /// regular; its number, or -1.
  int add(std::span<const BasisStatus> basis);
  [[nodiscard]] int pooled() const;

 private:
  struct Kept;
  std::unique_ptr<Kept> kept_;
};

}  // namespace carom
