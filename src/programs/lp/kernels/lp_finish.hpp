#pragma once

#include <carom/device/memory.hpp>

#include "programs/kernels/convex_lemke.hpp"
#include "programs/lp/kernels/lp.hpp"

/// LPs that the simplex method leaves undecided are solved by Lemke's method in double-double
/// arithmetic, and certified like all others.
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
      const certificate::LpData lp = data(p, at);
      if (!finish_objective(lp, at)) stand(at);
      if (arrays_.status[at] == Status::numerical_error) take_for_zeros(lp, at);
    }
  }

 private:
  [[nodiscard]] CAROM_INLINE certificate::LpData data(long p, long at) const {
    const long m = arrays_.rows;
    const long n = arrays_.columns;
    return {arrays_.rows,
            arrays_.columns,
            arrays_.cost + at * n,
            arrays_.matrix + p * m * n,
            arrays_.row_lower + p * m,
            arrays_.row_upper + p * m,
            arrays_.column_lower + p * n,
            arrays_.column_upper + p * n};
  }

  /// Rows that contradict each other but for the rounding of their entries: a point would lie so
  /// far away that no double meets them, and none was certified. What the simplex method left in
  /// place of y then is the proof, by the certificate's rule.
  CAROM_CALL void take_for_zeros(const certificate::LpData& lp, long at) {
    double* const y = arrays_.dual + at * lp.rows;
    double largest = 0.0;
    for (int i = 0; i < lp.rows; ++i) largest = larger(largest, magnitude(y[i]));
    lanes_.for_each(
        lp.rows, [&](int i) { at_.farkas[i] = magnitude(y[i]) <= kDust * largest ? 0.0 : y[i]; });
    lanes_.for_each(lp.rows, [&](int i) { y[i] = std::numeric_limits<double>::quiet_NaN(); });
    certificate_.load(lp);
    const LpAnswer answer{Status::infeasible, arrays_.pivots[at],
                          certificate_.farkas_residual(at_.farkas)};
    if (!certificate::within(answer.residual, arrays_.tolerance)) return;
    write_lp(lanes_, arrays_, at, answer, at_.x, at_.y, at_.farkas, at_.direction,
             std::numeric_limits<double>::quiet_NaN());
  }

  /// What is no more than doubted stands where nothing else is found.
  CAROM_CALL void stand(long at) const {
    const bool good = arrays_.status[at] == Status::inaccurate &&
                      certificate::within(arrays_.residual[at], arrays_.tolerance);
    if (good) lanes_.for_each(1, [&](int) { arrays_.status[at] = Status::solved; });
  }

  /// False where Lemke's method comes to no end.
  CAROM_CALL bool finish_objective(const certificate::LpData& lp, long at) {
    const long m = arrays_.rows;
    const long n = arrays_.columns;
    const LpLemkeSource source{lp};
    using Memory = PlainMemory<double>;
    ConvexLemke<Lanes, Memory, LpLemkeSource> body(lanes_, source, 2 * m + n, Memory{at_.body});
    LpAnswer answer{body.solve(), 0, 0.0};
    answer.pivots = body.pivots();
    if (answer.status == Status::numerical_error) return false;
    lanes_.for_each(arrays_.columns, [&](int j) {
      at_.x[j] = clamped(body.point(j), lp.column_lower[j], lp.column_upper[j]);
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
        answer.residual =
            proves(lp, body) ? certificate_.farkas_residual(at_.farkas) : kernels::kInfinity;
        break;
      default:
        answer.residual =
            leads_away(lp, body) ? certificate_.ray_residual(at_.direction) : kernels::kInfinity;
        if (certificate::within(answer.residual, arrays_.tolerance)) {
          double point = certificate_.primal_residual(at_.x);
          if (!certificate::within(point, arrays_.tolerance) && step_inside(lp)) {
            point = certificate_.primal_residual(at_.x);
          }
          answer.residual = larger(answer.residual, point);
        }
    }
    // The better answer stands, and a proof that there is none wins.
    const bool doubted = arrays_.status[at] == Status::inaccurate &&
                         certificate::within(arrays_.residual[at], arrays_.tolerance);
    const bool certified = certificate::within(answer.residual, arrays_.tolerance);
    if (certified && !(doubted && answer.answered() && arrays_.residual[at] <= answer.residual)) {
      write_lp(
          lanes_, arrays_, at, answer, at_.x, at_.y, at_.farkas, at_.direction,
          answer.answered() ? certificate_.objective() : std::numeric_limits<double>::quiet_NaN());
    } else if (doubted && (certified || arrays_.residual[at] <= kRounding ||
                           (answer.answered() && agrees(lp, at)))) {
      lanes_.for_each(1, [&](int) { arrays_.status[at] = Status::solved; });
    }
    return true;
  }

  /// Whether the objective of x is the one that was found before.
  CAROM_CALL bool agrees(const certificate::LpData& lp, long at) const {
    constexpr double kSame = 1e-6;
    double own = 0.0;
    double terms = 0.0;
    for (int j = 0; j < lp.columns; ++j) {
      own += lp.cost[j] * at_.x[j];
      terms += magnitude(lp.cost[j] * at_.x[j]);
    }
    return magnitude(own - arrays_.objective[at]) <= kSame * terms;
  }

  /// Another x of an unbounded problem whose vertex lies so far away that its rounding leaves the
  /// rows: they are asked for as much as that, where they have the room.
  CAROM_CALL bool step_inside(const certificate::LpData& lp) {
    constexpr double kRoom = 0x1p-48;  // of the terms of a row
    lanes_.for_each(lp.rows, [&](int i) {
      double room = 0.0;
      for (int j = 0; j < lp.columns; ++j) {
        room += kRoom * magnitude(lp.matrix[static_cast<long>(i) * lp.columns + j] * at_.x[j]);
      }
      const bool wide = 4.0 * room <= lp.row_upper[i] - lp.row_lower[i];
      at_.y[i] = lp.row_lower[i] + (wide ? room : 0.0);
      at_.farkas[i] = lp.row_upper[i] - (wide ? room : 0.0);
    });
    certificate::LpData inside = lp;
    inside.row_lower = at_.y;
    inside.row_upper = at_.farkas;
    const LpLemkeSource source{inside};
    using Memory = PlainMemory<double>;
    ConvexLemke<Lanes, Memory, LpLemkeSource> body(lanes_, source, 2L * lp.rows + lp.columns,
                                                   Memory{at_.body});
    if (body.solve() != Status::unbounded) return false;
    lanes_.for_each(lp.columns, [&](int j) {
      at_.x[j] = clamped(body.point(j), lp.column_lower[j], lp.column_upper[j]);
    });
    return true;
  }

  static CAROM_INLINE double clamped(double x, double lower, double upper) {
    return smaller(larger(x, lower), upper);
  }

  /// Whether what Farkas' vector has to have of zeros, before it was rounded, is zero.
  template <class Body>
  CAROM_CALL bool proves(const certificate::LpData& lp, const Body& body) const {
    return lanes_
               .argmin(lp.columns, kInfinity,
                       [&](int j) {
                         Doubled sum(0.0);
                         double size = 0.0;
                         for (int i = 0; i < lp.rows; ++i) {
                           const double a = lp.matrix[static_cast<long>(i) * lp.columns + j];
                           if (a == 0.0) continue;
                           const Doubled term = body.fine_multiplier(i, Status::infeasible) * a;
                           sum += term;
                           size = larger(size, magnitude(term.hi));
                         }
                         const double bound =
                             sum.hi < 0.0 ? lp.column_lower[j] : lp.column_upper[j];
                         const bool zero = magnitude(sum.hi) <= kZero * size;
                         return zero || magnitude(bound) < kInfinity ? kInfinity : 0.0;
                       })
               .index < 0;
  }
  /// Whether rows that the ray must not move stand still, before it was rounded.
  template <class Body>
  CAROM_CALL bool leads_away(const certificate::LpData& lp, const Body& body) const {
    return lanes_
               .argmin(lp.rows, kInfinity,
                       [&](int i) {
                         Doubled sum(0.0);
                         double size = 0.0;
                         for (int j = 0; j < lp.columns; ++j) {
                           const double a = lp.matrix[static_cast<long>(i) * lp.columns + j];
                           if (a == 0.0) continue;
                           const Doubled term = body.fine_ray(j) * a;
                           sum += term;
                           size = larger(size, magnitude(term.hi));
                         }
                         const double bound = sum.hi < 0.0 ? lp.row_lower[i] : lp.row_upper[i];
                         const bool zero = magnitude(sum.hi) <= kZero * size;
                         return zero || !(magnitude(bound) < kInfinity) ? kInfinity : 0.0;
                       })
               .index < 0;
  }

  static constexpr double kDust = 1e-12;      // of the largest multiplier
  static constexpr double kZero = 0x1p-80;    // of the terms of a sum in twice the precision
  static constexpr double kRounding = 1e-12;  // an answer so good is as the digits have it

  const Lanes& lanes_;
  const LpArrays& arrays_;
  LpFinishLayout<double*> at_;
  certificate::LpCertificate<Lanes> certificate_;
};

}  // namespace carom::kernels
