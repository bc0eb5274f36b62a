#pragma once

#include <cstdint>

#include <carom/device/arena.hpp>
#include <carom/types/derivative_qp.hpp>
#include <carom/types/qp.hpp>
#include <carom/types/status.hpp>

#include "core/pointers.hpp"
#include "cpu/simd/derivative_code.hpp"
#include "cpu/simd/padding.hpp"
#include "cpu/simd/programs/pack_symmetric.hpp"
#include "programs/derivatives/kernels/report.hpp"

/// Derivatives of QPs with a problem a lane.
namespace carom::cpu::simd {

/// Largest n + m + k that packs take: what a pack works with stays in the cache.
inline constexpr int kMostOfQpInPacks = 128;

/// Problems [begin, end) in one thread. `gradient` is written where its report is (a product from
/// the left), else `tangent`.
struct QpDerivativeRange : QpBatchArrays<ConstPointer> {
  std::int64_t begin, end;
  int variables, rows, cone_rows;
  int cones;
  const Cone* cone;
  const double* solution;
  const double* dual;
  const double* cone_dual;
  const Status* status;
  derivatives::DerivativeRules rules;
  QpWanted wanted;
  QpCotangentArrays<ConstPointer> cotangent;
  QpDirectionArrays<ConstPointer> direction;
  QpGradientArrays<Pointer> gradient;
  QpTangentArrays<Pointer> tangent;
  double* reals;  ///< qp_derivative_pack_reals, on a cache line
  bool* open;     ///< [end - begin], out: what wants derivatives::QpDerivative
};

/// Of packs of `width` lanes; vectors have a zero behind their end. r: rows and cone rows.
template <class Memory>
struct PackQpLayout {
  Memory hessian;       ///< both halves, [n, n]
  Memory definite;      ///< what is factored in its place where there are cones
  Memory normal, bend;  ///< g and k of each cone, [n] each, of r / 2 cones at most
  Memory rows;          ///< [r, n]
  Memory held;          ///< of each lane, [r, n]
  Memory vector, x, x_rest, slope, slope_before, pull, column_unit, root, share, g,
      adjoint;  ///< [n]
  Memory low, up, y, y_before, sign, slack, slack_before, slack_rest, unit, feel, mode, e, wish,
      gain;                            ///< [r]
  Memory asked, edge, tau, rate, gap;  ///< [r]
  Memory right;                        ///< right-hand side and solution, [n + r]
  Memory work;                         ///< [n + r]
  Memory turned;                       ///< a direction of P or of rows, [max(n, r), n]
  Memory factors;

  PackQpLayout() = default;
  CAROM_INLINE constexpr PackQpLayout(kernels::Arena<Memory>& arena, long n, long r, long width)
      : hessian(arena.take(width * n * n)),
        definite(arena.take(width * n * n)),
        normal(arena.take(width * (r / 2) * n)),
        bend(arena.take(width * (r / 2) * n)),
        rows(arena.take(width * r * n)),
        held(arena.take(width * r * n)) {
    for (Memory* array : {&vector, &x, &x_rest, &slope, &slope_before, &pull, &column_unit, &root,
                          &share, &g, &adjoint}) {
      *array = arena.take(width * (n + 1));
    }
    for (Memory* array :
         {&low, &up, &y, &y_before, &sign, &slack, &slack_before, &slack_rest, &unit, &feel, &mode,
          &e, &wish, &gain, &asked, &edge, &tau, &rate, &gap}) {
      *array = arena.take(width * (r + 1));
    }
    right = arena.take(width * (symmetric_order(n + r) + 1));
    work = arena.take(width * (n + r));
    turned = arena.take(width * n * (n > r ? n : r));
    factors = arena.take(width * kernels::values_of<PackSymmetricLayout>(symmetric_order(n + r)));
  }
};

constexpr long qp_derivative_pack_reals(long n, long r) {
  return kernels::values_of<PackQpLayout>(n, r, long{kLargestPadding});
}

}  // namespace carom::cpu::simd
