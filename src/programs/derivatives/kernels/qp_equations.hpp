#pragma once

#include "programs/derivatives/kernels/qp_derivative.hpp"

/// The equations of the modes: an independent subset of them, and doubtful rows.
namespace carom::derivatives {

CAROM_HOST_DEVICE inline bool QpDerivative::assemble(bool drop) {
  equations_ = 0;
  for (int i = 0; i < r_; ++i) {
    if (mode_[i] != static_cast<int>(RowMode::held)) continue;
    if (is_edge(i) && owner_[i] != i) continue;
    equation_[equations_++] = i;
  }
  if (fill()) return true;
  if (!drop) return false;
  independent();
  return fill();
}

CAROM_HOST_DEVICE inline bool QpDerivative::fill() {
  const int size = n_ + equations_;
  double* a = factors_.matrix();
  for (long k = 0; k < static_cast<long>(size) * size; ++k) a[k] = 0.0;
  for (int i = 0; i < n_; ++i) {
    for (int j = 0; j < n_; ++j) a[static_cast<long>(i) * size + j] = hessian(i, j);
  }
  for (int i = m_; i < r_; ++i) {
    if (!is_edge(i)) continue;
    for (int j = 0; j < n_; ++j) {
      const double pull = at_.tau[i] * reflect(i) * row(i)[j];
      if (pull == 0.0) continue;
      for (int k = 0; k < n_; ++k) a[static_cast<long>(j) * size + k] -= pull * row(i)[k];
    }
  }
  for (int c = 0; c < equations_; ++c) {
    double* g = at_.gradient + static_cast<long>(c) * n_;
    for (int j = 0; j < n_; ++j) g[j] = 0.0;
    each_row_of(c, [&](int i, double share) {
      for (int j = 0; j < n_; ++j) g[j] += share * row(i)[j];
    });
    for (int j = 0; j < n_; ++j) {
      a[static_cast<long>(n_ + c) * size + j] = g[j];
      a[static_cast<long>(j) * size + n_ + c] = g[j];
    }
  }
  return size > 0 && factors_.factor(size);
}

CAROM_HOST_DEVICE inline void QpDerivative::independent() {
  for (int c = 1; c < equations_; ++c) {  // insertion sort
    const int kept = equation_[c];
    const double key = priority(kept);
    int place = c;
    for (; place > 0 && priority(equation_[place - 1]) < key; --place) {
      equation_[place] = equation_[place - 1];
    }
    equation_[place] = kept;
  }
  int count = 0;
  double* v = at_.sum;
  for (int c = 0; c < equations_; ++c) {
    for (int j = 0; j < n_; ++j) v[j] = 0.0;
    each_row_of(c, [&](int i, double share) {
      for (int j = 0; j < n_; ++j) {
        v[j] += share * row(i)[j] / (at_.column_unit[j] > 0.0 ? at_.column_unit[j] : 1.0);
      }
    });
    double before = 0.0;
    for (int j = 0; j < n_; ++j) before += v[j] * v[j];
    for (int pass = 0; pass < 2; ++pass) {
      for (int k = 0; k < count; ++k) {
        const double* b = at_.basis + static_cast<long>(k) * n_;
        double along = 0.0;
        for (int j = 0; j < n_; ++j) along += b[j] * v[j];
        for (int j = 0; j < n_; ++j) v[j] -= along * b[j];
      }
    }
    double after = 0.0;
    for (int j = 0; j < n_; ++j) after += v[j] * v[j];
    if (!(after > 1e-20 * before) || count >= n_) {
      dependent_ = true;
      if (is_equation(equation_[c])) dependent_equations_ = true;
      continue;
    }
    const double inverse = 1.0 / kernels::square_root(after);
    double* b = at_.basis + static_cast<long>(count) * n_;
    for (int j = 0; j < n_; ++j) b[j] = v[j] * inverse;
    equation_[count++] = equation_[c];
  }
  equations_ = count;
}

CAROM_HOST_DEVICE inline const double* QpDerivative::condition(int i) const {
  double* to = at_.basis;
  for (int j = 0; j < n_; ++j) to[j] = 0.0;
  each_part(i, [&](int k, double share) {
    for (int j = 0; j < n_; ++j) to[j] += share * row(k)[j];
  });
  return to;
}

CAROM_HOST_DEVICE inline void QpDerivative::settle() {
  while (doubtfuls_ > 0) {
    reduce();
    const int b = doubtfuls_;
    bool moved = false;
    for (int i = 0; i < b; ++i) {
      if (in_cone(doubtful_[i]) || mode_[doubtful_[i]] == static_cast<int>(RowMode::held)) {
        continue;
      }
      const bool implied = !(at_.schur[i * b + i] > 1e-9 * at_.size[i]);
      if (!implied && !vanishing_combination(b, at_.schur, i, at_.theta, basic_, at_.work)) {
        continue;
      }
      bool rows_alone = true;
      for (int k = 0; k < b && !implied; ++k) {
        rows_alone = rows_alone && (!(at_.theta[k] > 0.0) || !in_cone(doubtful_[k]));
      }
      if (!rows_alone) continue;
      moved = true;
      mode_[doubtful_[i]] = static_cast<int>(RowMode::held);
      for (int k = 0; k < b && !implied; ++k) {
        if (at_.theta[k] > 0.0) mode_[doubtful_[k]] = static_cast<int>(RowMode::held);
      }
    }
    if (!moved) return;
    doubtfuls_ = 0;
    margin_ = kernels::kInfinity;
    for (int i = 0; i < r_; ++i) {
      if (mode_[i] == static_cast<int>(RowMode::doubtful) || (is_border(i) && owner_[i] == i)) {
        doubtful_[doubtfuls_++] = i;
      }
      if (in_cone(i) || is_equation(i) || !has_bound(i)) continue;
      const double gap =
          kernels::larger(at_.slack[i] / at_.unit[i], sign_[i] * at_.multiplier[i] * at_.feel[i]);
      const bool settled = mode_[i] == static_cast<int>(RowMode::held) && gap <= 1e-9;
      if (!settled) margin_ = kernels::smaller(margin_, gap > 0.0 ? gap : 0.0);
    }
    assemble(true);
    dependent_ = true;
  }
}

CAROM_HOST_DEVICE inline void QpDerivative::reduce() {
  const int b = doubtfuls_;
  for (int l = 0; l < b; ++l) {
    const int i = doubtful_[l];
    const double* along = condition(i);
    for (int j = 0; j < n_; ++j) at_.sum[j] = along[j];
    for (int c = 0; c < equations_; ++c) at_.sum[n_ + c] = 0.0;
    factors_.solve(at_.sum);
    for (int k = 0; k < b; ++k) {
      const int o = doubtful_[k];
      const double* other = condition(o);
      double value = 0.0, size = 0.0;
      for (int j = 0; j < n_; ++j) {
        const double term = other[j] * at_.sum[j];
        value += term;
        size += magnitude(term);
      }
      at_.schur[k * b + l] = value;
      if (k == l) at_.size[k] = kernels::larger(size, free_size(o));
    }
  }
}

}  // namespace carom::derivatives
