#pragma once

#include <carom/kernels/lanes.hpp>
#include <carom/kernels/qp_problem.hpp>

/// Products with the matrices of a quadratic program as its certificates need them: computed where
/// they are asked for, or by many lanes beforehand. Both have the same bits.
namespace carom::certificate::detail {

template <class V, class Data, class Memory>
CAROM_INLINE V row_value(const kernels::QpShape& shape, const Data& matrix, const Memory& x,
                         int i) {
  const long n = shape.variables;
  V sum(0.0);
  for (int t = shape.row_first[i]; t < shape.row_first[i + 1]; ++t) {
    const int j = shape.column[t];
    sum = sum + matrix[i * n + j] * x[j];
  }
  return sum;
}

template <class V, class Data, class Memory>
CAROM_INLINE V hessian_value(int variables, const Data& hessian, const Memory& x, int j) {
  const long n = variables;
  V sum(0.0);
  for (int k = 0; k < variables; ++k) {
    sum = sum + (k <= j ? hessian[j * n + k] : hessian[k * n + j]) * x[k];
  }
  return sum;
}

/// Row j of P x and of |P| |x|.
template <class V>
struct ProductAndSize {
  V product, size;
};
template <class V, class Data, class Memory>
CAROM_INLINE ProductAndSize<V> hessian_product(int variables, const Data& hessian, const Memory& x,
                                               int j) {
  using kernels::magnitude;
  const long n = variables;
  ProductAndSize<V> sum{V(0.0), V(0.0)};
  const auto add = [&sum](V term) {
    sum.product = sum.product + term;
    sum.size = sum.size + magnitude(term);
  };
  for (int k = 0; k <= j; ++k) add(hessian[j * n + k] * x[k]);
  for (int k = j + 1; k < variables; ++k) add(hessian[k * n + j] * x[k]);
  return sum;
}

/// to = A'y by any lanes, rows in their order.
template <class V, class Lanes, class Data, class Answer, class Memory>
CAROM_HOST_DEVICE void pull_of(const Lanes& lanes, const kernels::QpShape& shape,
                               const Data& matrix, const Answer& y, const Memory& to) {
  const long n = shape.variables;
  lanes.for_each(shape.variables, [&](int j) { to[j] = V(0.0); });
  for (int i = 0; i < shape.rows; ++i) {
    const int first = shape.row_first[i];
    lanes.for_each(shape.row_first[i + 1] - first, [&](int t) {
      const int j = shape.column[first + t];
      to[j] = to[j] + matrix[i * n + j] * y[i];
    });
  }
}

/// A x, P x and A'y where they are asked for; A'y was computed before.
template <class V, class Data, class Answer, class Memory>
struct QpProducts {
  const kernels::QpShape& shape;
  const kernels::QpView<Data>& view;
  const Answer& x;
  const Memory& transposed;
  CAROM_INLINE V row(int i) const { return row_value<V>(shape, view.matrix, x, i); }
  CAROM_INLINE V pull(int j) const { return transposed[j]; }
  CAROM_INLINE ProductAndSize<V> bent(int j) const {
    return hessian_product<V>(shape.variables, view.hessian, x, j);
  }
};

/// The same from memory.
template <class Memory>
struct QpStoredProducts {
  Memory rows, transposed, curved, size;
  CAROM_INLINE double row(int i) const { return rows[i]; }
  CAROM_INLINE double pull(int j) const { return transposed[j]; }
  CAROM_INLINE ProductAndSize<double> bent(int j) const { return {curved[j], size[j]}; }
  CAROM_INLINE Memory end(const kernels::QpShape& shape) const { return size + shape.variables; }
};

template <class Lanes, class Data, class Answer, class Memory>
CAROM_HOST_DEVICE QpStoredProducts<Memory> store_products(const Lanes& lanes,
                                                          const kernels::QpShape& shape,
                                                          const kernels::QpView<Data>& view,
                                                          const Answer& x, const Answer& y,
                                                          const Memory& memory) {
  const int n = shape.variables;
  const QpStoredProducts<Memory> to{memory, memory + shape.rows, memory + shape.rows + n,
                                    memory + shape.rows + 2 * n};
  lanes.for_each(shape.rows,
                 [&](int i) { to.rows[i] = row_value<double>(shape, view.matrix, x, i); });
  lanes.for_each(n, [&](int j) {
    const auto bent = hessian_product<double>(n, view.hessian, x, j);
    to.curved[j] = bent.product;
    to.size[j] = bent.size;
  });
  pull_of<double>(lanes, shape, view.matrix, y, to.transposed);
  return to;
}

}  // namespace carom::certificate::detail
