#pragma once

#include "programs/qp/kernels/qp_polish.hpp"

/// The scaled problem's iterate, shared by the methods admm, projected and active_set.
namespace carom::kernels {

template <class Memory>
struct QpIterateLayout {
  QpPolishLayout<Memory> polish;
  ScaledQp<Memory> scaled;
  Memory factor;  ///< of a matrix of n rows, L D L'
  Memory inverse;
  Memory x;
  Memory y;

  QpIterateLayout() = default;
  CAROM_INLINE constexpr QpIterateLayout(Arena<Memory>& arena, long n, long rows)
      : polish(arena, n, rows),
        scaled(scaled_qp(arena, n, rows)),
        factor(arena.take(n * n)),
        inverse(arena.take(n)),
        x(arena.take(n)),
        y(arena.take(rows)) {}
};

/// Layout: begins with QpIterateLayout. V: double or a pack.
template <class V, class Lanes, class Memory, template <class> class Layout>
class QpIterate {
 public:
  CAROM_HOST_DEVICE QpIterate(const Lanes& lanes, const QpShape& shape, Memory memory)
      : lanes_(lanes),
        n_(shape.variables),
        m_(shape.rows),
        at_(placed<Layout>(memory, n_, m_)),
        rows_{lanes, shape, at_.scaled},
        polish_(rows_, at_.polish) {}

  CAROM_INLINE V solution(int j) const { return at_.x[j]; }
  CAROM_INLINE V dual(int i) const { return at_.y[i]; }

 protected:
  /// The caller's x_j and y_i in the units of the scaled problem.
  CAROM_INLINE V scaled_x(int j, V value) const {
    return value / (scale_.length * rows_.scaled.column_scale[j]);
  }
  CAROM_INLINE V scaled_y(int i, V value) const {
    return value * scale_.cost / rows_.scaled.row_scale[i];
  }
  /// x, y back to the problem's units.
  CAROM_HOST_DEVICE void unscale() {
    lanes_.for_each(
        n_, [&](int j) { at_.x[j] = at_.x[j] * scale_.length * rows_.scaled.column_scale[j]; });
    lanes_.for_each(m_,
                    [&](int i) { at_.y[i] = at_.y[i] * rows_.scaled.row_scale[i] / scale_.cost; });
  }

  const Lanes& lanes_;
  int n_;
  int m_;
  Layout<Memory> at_;
  QpRows<V, Lanes, Memory> rows_;
  QpPolish<V, Lanes, Memory> polish_;
  QpScale<V> scale_{};
};

}  // namespace carom::kernels
