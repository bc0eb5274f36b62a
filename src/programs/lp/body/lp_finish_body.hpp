#pragma once

#include <carom/device/memory.hpp>

#include "programs/body/convex_lemke.hpp"
#include "programs/lp/body/lp_body.hpp"

/// What the simplex method leaves without a verdict goes through Lemke's method in twice the
/// precision, and is judged like everything else.
namespace carom::kernels {

template <class Memory>
struct LpFinishLayout {
  Memory certificate;
  Memory x;  ///< solution, or the point of an unbounded problem
  Memory direction, y, farkas, body;

  CAROM_INLINE constexpr LpFinishLayout(Arena<Memory>& arena, int rows, int columns)
      : certificate(arena.take(certificate::lp_certificate_workspace(rows, columns))),
        x(arena.take(columns)),
        direction(arena.take(columns)),
        y(arena.take(rows)),
        farkas(arena.take(rows)),
        body(arena.take(convex_lemke_workspace(columns, rows, 2L * rows + columns))) {}
};
CAROM_HOST_DEVICE constexpr long lp_finish_workspace(int rows, int columns) {
  return values_of<LpFinishLayout>(rows, columns);
}

/// Whether an answer of LpSolver is to be tried again.
CAROM_INLINE bool lp_is_open(const LpArrays& arrays, Status status) {
  return status == Status::inaccurate || status == Status::numerical_error ||
         (status == Status::iteration_limit && !arrays.limited);
}

/// One objective's numbers as ConvexLemke reads them.
struct LpLemkeSource {
  certificate::LpData lp;
  CAROM_INLINE int variables() const { return lp.columns; }
  CAROM_INLINE int rows() const { return lp.rows; }
  CAROM_INLINE double hessian(int, int) const { return 0.0; }
  CAROM_INLINE double gradient(int j) const { return lp.cost[j]; }
  CAROM_INLINE double matrix(int i, int j) const {
    return lp.matrix[static_cast<long>(i) * lp.columns + j];
  }
  CAROM_INLINE double lower(int i) const { return lp.row_lower[i]; }
  CAROM_INLINE double upper(int i) const { return lp.row_upper[i]; }
  CAROM_INLINE double column_lower(int j) const { return lp.column_lower[j]; }
  CAROM_INLINE double column_upper(int j) const { return lp.column_upper[j]; }
};

template <class Lanes>
class LpFinish {
 public:
  /// memory: lp_finish_workspace.
  CAROM_HOST_DEVICE LpFinish(const Lanes& lanes, const LpArrays& arrays, double* memory)
      : lanes_(lanes),
        arrays_(arrays),
        at_(placed<LpFinishLayout>(memory, arrays.rows, arrays.columns)),
        certificate_(lanes, arrays.rows, arrays.columns, at_.certificate) {}

  /// The objectives of problem p that are open.
  CAROM_HOST_DEVICE void finish(long p) {
    for (int k = 0; k < arrays_.objectives; ++k) {
      const long at = p * arrays_.objectives + k;
      if (!lp_is_open(arrays_, arrays_.status[at])) continue;
      finish_objective(p, at);
      // What was no more than doubted stands where nothing better was found.
      const bool stands = arrays_.status[at] == Status::inaccurate &&
                          certificate::within(arrays_.residual[at], arrays_.tolerance);
      if (stands) lanes_.for_each(1, [&](int) { arrays_.status[at] = Status::solved; });
    }
  }

 private:
  CAROM_CALL void finish_objective(long p, long at) {
    const long m = arrays_.rows;
    const long n = arrays_.columns;
    const certificate::LpData lp{arrays_.rows,
                                 arrays_.columns,
                                 arrays_.cost + at * n,
                                 arrays_.matrix + p * m * n,
                                 arrays_.row_lower + p * m,
                                 arrays_.row_upper + p * m,
                                 arrays_.column_lower + p * n,
                                 arrays_.column_upper + p * n};
    const LpLemkeSource source{lp};
    using Memory = PlainMemory<double>;
    ConvexLemke<Lanes, Memory, LpLemkeSource> body(lanes_, source, 2 * m + n, Memory{at_.body});
    LpAnswer answer{body.solve(), 0, 0.0};
    answer.pivots = body.pivots();
    if (answer.status == Status::numerical_error) return;
    lanes_.for_each(arrays_.columns, [&](int j) {
      at_.x[j] = body.point(j);
      at_.direction[j] = body.ray(j);
    });
    lanes_.for_each(arrays_.rows, [&](int i) {
      at_.y[i] = body.multiplier(i, answer.status);
      at_.farkas[i] = at_.y[i];
    });
    certificate_.load(lp);
    certificate_.load_cost(lp.cost);
    switch (answer.status) {
      case Status::solved:
        answer.residual = certificate_.residual(at_.x, at_.y);
        break;
      case Status::infeasible:
        answer.residual = certificate_.farkas_residual(at_.farkas);
        break;
      default:
        answer.residual =
            larger(certificate_.ray_residual(at_.direction), certificate_.primal_residual(at_.x));
    }
    if (!certificate::within(answer.residual, arrays_.tolerance)) return;
    // The better answer stands, and a proof that there is none wins.
    if (answer.answered() && arrays_.status[at] == Status::inaccurate &&
        arrays_.residual[at] <= answer.residual) {
      return;
    }
    write_lp(
        lanes_, arrays_, at, answer, at_.x, at_.y, at_.farkas, at_.direction,
        answer.answered() ? certificate_.objective() : std::numeric_limits<double>::quiet_NaN());
  }

  const Lanes& lanes_;
  const LpArrays& arrays_;
  LpFinishLayout<double*> at_;
  certificate::LpCertificate<Lanes> certificate_;
};

}  // namespace carom::kernels
