#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <carom/qp.hpp>

/// The optimality conditions of problem p in plain loops, apart from the library's certificate.
namespace carom::test {

struct PlainKkt {
  double primal = 0.0;
  double dual = 0.0;
  double gap = 0.0;
  double objective = 0.0;
};

/// Each relative to the largest of its own terms, at least one.
inline PlainKkt plain_kkt(const QpBatch& batch, const QpResult& result, std::int64_t p) {
  const int n = batch.variables;
  const int m = batch.rows;
  const int k = batch.cone_rows();
  const double* hessian = batch.hessian.data() + p * n * n;
  const double* x = result.solution.data() + p * n;
  const double* y = result.dual.data() + p * m;
  const double* z = result.cone_dual.data() + p * k;
  PlainKkt kkt;
  double primal_scale = 1.0;
  double dual_scale = 1.0;
  double gap_scale = 1.0;
  const auto row = [&](const double* matrix, int i) {
    double sum = 0.0;
    for (int j = 0; j < n; ++j) sum += matrix[i * n + j] * x[j];
    primal_scale = std::max(primal_scale, std::abs(sum));
    return sum;
  };
  const double* a = batch.matrix.data() + p * m * n;
  for (int i = 0; i < m; ++i) {
    const double value = row(a, i);
    const double l = batch.lower.data()[p * m + i];
    const double u = batch.upper.data()[p * m + i];
    kkt.primal = std::max({kkt.primal, l - value, value - u});
    const double bound = y[i] > 0.0 ? u : l;
    if (std::isfinite(bound)) {
      kkt.gap += std::abs(y[i] * (value - bound));
      gap_scale = std::max(gap_scale, std::abs(y[i] * bound));
    } else {
      kkt.dual = std::max(kkt.dual, std::abs(y[i]));
    }
  }
  const double* c = batch.cone_matrix.data() + p * k * n;
  int first = 0;
  for (const Cone& cone : batch.cones) {
    double product = 0.0;
    double s_tail = 0.0;
    double z_tail = 0.0;
    std::vector<double> s;
    for (int t = 0; t < cone.size; ++t) {
      const int i = first + t;
      s.push_back(batch.cone_vector.data()[p * k + i] - row(c, i));
      product += s.back() * z[i];
      if (cone.kind == ConeKind::zero) kkt.primal = std::max(kkt.primal, std::abs(s.back()));
      if (cone.kind == ConeKind::nonnegative) {
        kkt.primal = std::max(kkt.primal, -s.back());
        kkt.dual = std::max(kkt.dual, -z[i]);
      }
      if (t > 0) {
        s_tail += s.back() * s.back();
        z_tail += z[i] * z[i];
      }
    }
    if (cone.kind == ConeKind::second_order) {
      kkt.primal = std::max(kkt.primal, std::sqrt(s_tail) - s[0]);
      kkt.dual = std::max(kkt.dual, std::sqrt(z_tail) - z[first]);
    }
    kkt.gap += std::abs(product);
    first += cone.size;
  }
  for (int j = 0; j < n; ++j) {
    double curved = 0.0;
    double pull = 0.0;
    for (int i = 0; i < n; ++i) curved += hessian[i * n + j] * x[i];
    for (int i = 0; i < m; ++i) pull += a[i * n + j] * y[i];
    for (int i = 0; i < k; ++i) pull += c[i * n + j] * z[i];
    const double q = batch.vector.data()[p * n + j];
    kkt.dual = std::max(kkt.dual, std::abs(curved + q + pull));
    dual_scale = std::max({dual_scale, std::abs(curved), std::abs(q), std::abs(pull)});
    kkt.objective += x[j] * (0.5 * curved + q);
    gap_scale = std::max({gap_scale, std::abs(x[j] * curved), std::abs(x[j] * q)});
  }
  kkt.primal /= primal_scale;
  kkt.dual /= dual_scale;
  kkt.gap /= gap_scale;
  return kkt;
}

}  // namespace carom::test
