#pragma once

#include "programs/derivatives/kernels/qp_derivative.hpp"

/// Products with the Jacobian from the left (vjp) and the right (jvp), their residuals and reach.
namespace carom::derivatives {

CAROM_HOST_DEVICE inline bool QpDerivative::adjoint(const QpCotangentView& cotangent,
                                                    const QpWanted& wanted,
                                                    const QpGradientView& gradient,
                                                    Report& report) {
  const double objective = cotangent.objective != nullptr ? *cotangent.objective : 0.0;
  bool asks_multipliers = false;
  // dL/dx, with what the multipliers of edges depend on x.
  for (int j = 0; j < n_; ++j) {
    LongSum<double> value(cotangent.solution != nullptr ? cotangent.solution[j] : 0.0);
    if (objective != 0.0) {
      double slope = problem_.vector[j];
      for (int k = 0; k < n_; ++k) slope += hessian(j, k) * at_.x[k];
      value.add_product(objective, slope);
    }
    at_.g[j] = value.value();
    at_.g_rest[j] = value.rest();
  }
  for (int j = 0; j < n_; ++j) at_.sum[j] = at_.g[j];
  for (int i = m_; i < r_; ++i) {
    if (!is_edge(i)) continue;
    const double pull = at_.tau[i] * reflect(i) * wish(cotangent, i);
    for (int j = 0; j < n_; ++j) at_.sum[j] -= row(i)[j] * pull;
  }
  for (int c = 0; c < equations_; ++c) {
    double value = 0.0;
    each_row_of(c, [&](int i, double weight) { value += weight * wish(cotangent, i); });
    at_.sum[n_ + c] = value;
  }
  for (int i = 0; i < r_; ++i) {
    const bool active = mode_[i] != static_cast<int>(RowMode::free);
    asks_multipliers = asks_multipliers || (active && wish(cotangent, i) != 0.0);
  }
  if (dependent_ && report.status != Smoothness::set_valued) {
    if (asks_multipliers) {
      report.status = Smoothness::set_valued;
    } else if (wanted.rows()) {
      report.status = dependent_equations_ ? Smoothness::undefined : Smoothness::kink;
    }
    if (asks_multipliers || report.status == Smoothness::undefined) {
      return none(gradient);
    }
  }
  factors_.solve(at_.sum);  // symmetric
  bool seen = false;
  for (int k = 0; k < doubtfuls_; ++k) {
    const int i = doubtful_[k];
    double value = 0.0;
    each_part(i, [&](int l, double share) { value += share * wish(cotangent, l); });
    double size = magnitude(value);
    const double* along = condition(i);
    for (int j = 0; j < n_; ++j) {
      const double term = along[j] * at_.sum[j];
      value -= term;
      size += magnitude(term);
    }
    at_.touch[k] = value;
    seen = seen || magnitude(value) > (kUnseen + 4e-16 * report.condition) * size;
  }
  const bool by_rows = report.status == Smoothness::smooth && seen;
  if (by_rows) report.status = Smoothness::kink;
  AtKink element = AtKink::free;
  if (report.status == Smoothness::kink) element = rules_.at_kink;
  if (element == AtKink::nan) return none(gradient);
  double weight = 0.0;  // of the element where doubtful rows are held
  if (report.status == Smoothness::kink && seen) {
    weight = element == AtKink::held ? 1.0 : element == AtKink::mean ? 0.5 : 0.0;
  }
  for (int k = 0; k < doubtfuls_; ++k) at_.theta[k] = 0.0;
  if (weight > 0.0) {
    double* t = at_.theta;
    const int b = doubtfuls_;
    bool found = true;
    if (semidefinite_) {
      found = solve_semidefinite(b, at_.schur, at_.size, at_.touch, t, at_.regular, at_.work);
    } else {
      for (int k = 0; k < b * b; ++k) at_.regular[k] = at_.schur[k];
      for (int k = 0; k < b; ++k) t[k] = at_.touch[k];
      found = eliminate(b, at_.regular, t);
    }
    if (!found) {
      report.status = Smoothness::undefined;
      return none(gradient);
    }
    for (int j = 0; j < n_ + equations_; ++j) at_.extra[j] = 0.0;
    for (int k = 0; k < doubtfuls_; ++k) {
      const double* along = condition(doubtful_[k]);
      for (int j = 0; j < n_; ++j) at_.extra[j] += along[j] * t[k];
    }
    factors_.solve(at_.extra);
    for (int j = 0; j < n_ + equations_; ++j) at_.sum[j] += weight * at_.extra[j];
  }
  // The rows' part: c, and e of cones.
  double* e = at_.scratch;
  for (int i = 0; i < r_; ++i) e[i] = 0.0;
  for (int c = 0; c < equations_; ++c) {
    each_row_of(c, [&](int i, double share) { e[i] += share * at_.sum[n_ + c]; });
  }
  for (int k = 0; k < doubtfuls_; ++k) {
    each_part(doubtful_[k], [&](int i, double share) { e[i] = -weight * share * at_.theta[k]; });
  }
  double bent = 0.0;  // what curvature takes from a, as forces
  for (int i = m_; i < r_; ++i) {
    if (!is_edge(i)) continue;
    double along = -wish(cotangent, i), size = magnitude(along);
    for (int j = 0; j < n_; ++j) {
      const double term = row(i)[j] * at_.sum[j];
      along += term;
      size += magnitude(term);
    }
    e[i] -= at_.tau[i] * reflect(i) * along;
    bent = kernels::larger(bent, magnitude(at_.tau[i]) * size * largest_of_row(i));
  }
  const bool fine = refined(
      report, e, [&](int i) { return wish(cotangent, i); },
      [&] { return adjoint_residual(cotangent, e, weight); });
  if (!fine) return none(gradient);
  bend(report, bent, e);
  report.reach = kNone;
  write(gradient, objective, e);
  if (rules_.reach) {
    const bool at_border = doubtfuls_ + doubtful_cones_ > 0 || dependent_;
    report.reach = at_border ? 0.0 : reach_down(wanted, objective, e);
  }
  return true;
}

CAROM_HOST_DEVICE inline bool QpDerivative::tangent(const QpDirectionView& d,
                                                    const QpTangentView& out, Report& report) {
  bool turned = false;  // whether an active row's entries move
  // sum: r1 and r2; target: what each row's slack gains at fixed x.
  for (int j = 0; j < n_; ++j) {
    double value = d.vector != nullptr ? d.vector[j] : 0.0;
    if (d.hessian != nullptr) {
      for (int k = 0; k < n_; ++k) {
        value +=
            0.5 *
            (d.hessian[static_cast<long>(j) * n_ + k] + d.hessian[static_cast<long>(k) * n_ + j]) *
            at_.x[k];
      }
    }
    at_.g[j] = -value;
    at_.g_rest[j] = 0.0;
  }
  for (int i = 0; i < r_; ++i) {
    const double* turn = row_direction(d, i);
    double gain = bound_direction(d, i);
    if (turn != nullptr) {
      for (int j = 0; j < n_; ++j) {
        gain -= turn[j] * at_.x[j];
        at_.g[j] -= turn[j] * at_.multiplier[i];
        turned = turned || (turn[j] != 0.0 && mode_[i] != static_cast<int>(RowMode::free));
      }
    }
    at_.target[i] = gain;
  }
  for (int j = 0; j < n_; ++j) at_.sum[j] = at_.g[j];
  for (int i = m_; i < r_; ++i) {
    if (!is_edge(i)) continue;
    for (int j = 0; j < n_; ++j) {
      at_.sum[j] -= at_.tau[i] * reflect(i) * row(i)[j] * at_.target[i];
    }
  }
  for (int c = 0; c < equations_; ++c) {
    double value = 0.0;
    each_row_of(c, [&](int i, double share) { value += share * at_.target[i]; });
    at_.sum[n_ + c] = value;
  }
  // Only bounds may move where rows depend on each other, as long as the rows agree, which the
  // residual shows: then every multiplier is as good as any other.
  if ((dependent_ && turned) || doubtful_cones_ > 0) report.status = Smoothness::undefined;
  factors_.solve(at_.sum);
  bool moved = false;
  for (int k = 0; k < doubtfuls_; ++k) {
    const int i = doubtful_[k];
    double value = 0.0;
    each_part(i, [&](int l, double share) { value += share * at_.target[l]; });
    double size = magnitude(value);
    const double* along = condition(i);
    for (int j = 0; j < n_; ++j) {
      const double term = along[j] * at_.sum[j];
      value -= term;
      size += magnitude(term);
    }
    at_.touch[k] = magnitude(value) > kUnseen * size ? value : 0.0;
    at_.theta[k] = 0.0;
    moved = moved || at_.touch[k] != 0.0;
  }
  if (report.status == Smoothness::smooth && moved) report.status = Smoothness::kink;
  if (report.status == Smoothness::kink) {
    const bool found =
        semidefinite_
            ? solve_semidefinite_doubtful(doubtfuls_, at_.schur, at_.size, at_.touch, at_.theta,
                                          basic_, at_.regular, at_.regular + r_ * r_, at_.work)
            : solve_doubtful(doubtfuls_, at_.schur, at_.touch, at_.theta, basic_, at_.work);
    if (!found) report.status = Smoothness::undefined;
    for (int j = 0; j < n_ + equations_; ++j) at_.extra[j] = 0.0;
    for (int k = 0; k < doubtfuls_; ++k) {
      const double* along = condition(doubtful_[k]);
      for (int j = 0; j < n_; ++j) at_.extra[j] += along[j] * at_.theta[k];
    }
    factors_.solve(at_.extra);
    for (int j = 0; j < n_ + equations_; ++j) at_.sum[j] -= at_.extra[j];
  }
  double* dz = at_.scratch;  // of all rows
  for (int i = 0; i < r_; ++i) dz[i] = 0.0;
  for (int c = 0; c < equations_; ++c) {
    each_row_of(c, [&](int i, double share) { dz[i] += share * at_.sum[n_ + c]; });
  }
  for (int k = 0; k < doubtfuls_; ++k) {
    each_part(doubtful_[k], [&](int i, double share) { dz[i] = share * at_.theta[k]; });
  }
  double* ds = at_.extra;
  double bent = 0.0;
  for (int i = 0; i < r_; ++i) {
    ds[i] = at_.target[i];
    for (int j = 0; j < n_; ++j) ds[i] -= row(i)[j] * at_.sum[j];
    if (!is_edge(i)) continue;
    dz[i] += at_.tau[i] * reflect(i) * ds[i];
    double size = magnitude(at_.target[i]);
    for (int j = 0; j < n_; ++j) size += magnitude(row(i)[j] * at_.sum[j]);
    bent = kernels::larger(bent, magnitude(at_.tau[i]) * size * largest_of_row(i));
  }
  const bool branch = report.status == Smoothness::set_valued;
  const bool fine = report.status != Smoothness::undefined &&
                    refined(
                        report, dz, [&](int i) { return at_.target[i]; },
                        [&] {
                          for (int i = 0; i < r_; ++i) {
                            ds[i] = at_.target[i];
                            for (int j = 0; j < n_; ++j) ds[i] -= row(i)[j] * at_.sum[j];
                          }
                          return tangent_residual(dz, ds, branch);
                        });
  if (fine) bend(report, bent, dz);
  double objective = 0.0;
  for (int j = 0; j < n_; ++j) {
    double slope = problem_.vector[j];
    for (int k = 0; k < n_; ++k) slope += hessian(j, k) * at_.x[k];
    objective += slope * at_.sum[j];
    if (d.vector != nullptr) objective += d.vector[j] * at_.x[j];
    if (d.hessian != nullptr) {
      for (int k = 0; k < n_; ++k) {
        objective += 0.5 * d.hessian[static_cast<long>(j) * n_ + k] * at_.x[j] * at_.x[k];
      }
    }
    out.solution[j] = fine ? at_.sum[j] : kNone;
  }
  // The multipliers of rows that depend on each other are not unique.
  for (int i = 0; i < r_; ++i) {
    const bool unknown = dependent_ && mode_[i] != static_cast<int>(RowMode::free);
    const double value = fine && !unknown ? dz[i] : kNone;
    if (i < m_) {
      out.dual[i] = value;
    } else {
      out.cone_dual[i - m_] = value;
    }
  }
  *out.objective = fine ? objective : kNone;
  if (fine && rules_.reach) report.reach = dependent_ ? 0.0 : reach_along(dz, ds);
  return fine;
}

CAROM_HOST_DEVICE inline void QpDerivative::bend(Report& report, double bent,
                                                 const double* e) const {
  if (!(bent > 0.0)) return;
  double size = 0.0;
  for (int j = 0; j < n_; ++j) size = kernels::larger(size, magnitude(at_.g[j]));
  for (int i = 0; i < r_; ++i) {
    if (e[i] != 0.0) size = kernels::larger(size, magnitude(e[i]) * largest_of_row(i));
  }
  const double curved = kCurvature * bent / size;
  if (curved > 1e6) report.condition = kernels::larger(report.condition, curved);
}

CAROM_HOST_DEVICE inline bool QpDerivative::none(const QpGradientView& gradient) const {
  fill_array(gradient.hessian, static_cast<long>(n_) * n_);
  fill_array(gradient.vector, n_);
  fill_array(gradient.matrix, static_cast<long>(m_) * n_);
  fill_array(gradient.lower, m_);
  fill_array(gradient.upper, m_);
  fill_array(gradient.cone_matrix, static_cast<long>(r_ - m_) * n_);
  fill_array(gradient.cone_vector, r_ - m_);
  return false;
}

CAROM_HOST_DEVICE inline void QpDerivative::write(const QpGradientView& gradient, double objective,
                                                  const double* e) const {
  const double* a = at_.sum;
  for (int i = 0; i < n_; ++i) {
    if (gradient.vector != nullptr) gradient.vector[i] = objective * at_.x[i] - a[i];
    if (gradient.hessian == nullptr) continue;
    for (int j = 0; j < n_; ++j) {
      gradient.hessian[static_cast<long>(i) * n_ + j] =
          0.5 * (objective * (at_.x[i] * at_.x[j]) - (a[i] * at_.x[j] + a[j] * at_.x[i]));
    }
  }
  for (int i = 0; i < r_; ++i) {
    double* turned = i < m_ ? gradient.matrix : gradient.cone_matrix;
    if (turned != nullptr) {
      double* to = turned + static_cast<long>(i < m_ ? i : i - m_) * n_;
      for (int j = 0; j < n_; ++j) to[j] = -(at_.multiplier[i] * a[j] + e[i] * at_.x[j]);
    }
    if (i >= m_) {
      if (gradient.cone_vector != nullptr) gradient.cone_vector[i - m_] = e[i];
      continue;
    }
    double up = 0.0;  // share of the upper bound
    if (is_equation(i)) {
      const double y = at_.multiplier[i];
      up = y > 0.0 ? 1.0 : y < 0.0 ? 0.0 : 0.5;
    } else {
      up = sign_[i] > 0 ? 1.0 : 0.0;
    }
    if (gradient.upper != nullptr) gradient.upper[i] = up == 0.0 ? 0.0 : up * e[i];
    if (gradient.lower != nullptr) gradient.lower[i] = up == 1.0 ? 0.0 : (1.0 - up) * e[i];
  }
}

CAROM_HOST_DEVICE inline certificate::MaxAbs<> QpDerivative::stationarity_residual(
    const double* of_rows) {
  const double* a = at_.sum;
  solution_size_ = factors_.size_in_units(a);
  double* sum = at_.scratch + r_;  // behind `of_rows`
  double* size = sum + n_;
  typical_columns(size);
  for (int j = 0; j < n_; ++j) {
    sum[j] = -at_.g[j];
    size[j] = magnitude(at_.g[j]) + size[j];
  }
  const auto add = [&](const double* of, double by) {
    for (int j = 0; j < n_; ++j) {
      sum[j] += of[j] * by;
      size[j] += magnitude(of[j] * by);
    }
  };
  for (int k = 0; k < n_; ++k) add(at_.hessian + static_cast<long>(k) * n_, a[k]);
  for (int i = 0; i < r_; ++i) {
    if (of_rows[i] != 0.0) add(row(i), of_rows[i]);
  }
  certificate::MaxAbs<> worst;
  for (int j = 0; j < n_; ++j) worst.add(certificate::share_of(sum[j], size[j]));
  return worst;
}

CAROM_HOST_DEVICE inline double QpDerivative::adjoint_residual(const QpCotangentView& cotangent,
                                                               const double* e, double weight) {
  const double* a = at_.sum;
  certificate::MaxAbs<> worst = stationarity_residual(e);
  for (int i = 0; i < r_; ++i) {
    const bool border = is_border(i);
    const bool doubtful = border || mode_[i] == static_cast<int>(RowMode::doubtful);
    if (border && owner_[i] != i) continue;
    if ((!border && mode_[i] == static_cast<int>(RowMode::free)) || (doubtful && weight != 1.0)) {
      continue;
    }
    if (is_edge(i) && owner_[i] != i) continue;
    double sum = 0.0, size = 0.0;
    const auto add = [&](int k, double share) {
      sum -= share * wish(cotangent, k);
      size += magnitude(share * wish(cotangent, k)) + magnitude(share) * typical(k);
      for (int j = 0; j < n_; ++j) {
        sum += share * row(k)[j] * a[j];
        size += magnitude(share * row(k)[j] * a[j]);
      }
    };
    if (is_edge(i)) {
      for (int k = i; k < r_ && owner_[k] == i; ++k) add(k, reflect(k) * at_.slack[k]);
    } else if (border) {
      each_part(i, add);
    } else {
      add(i, 1.0);
    }
    if (doubtful && dependent_) continue;
    worst.add(certificate::share_of(sum, size));
  }
  return worst.value;
}

CAROM_HOST_DEVICE inline double QpDerivative::tangent_residual(const double* dz, const double* ds,
                                                               bool branch) {
  certificate::MaxAbs<> worst = stationarity_residual(dz);
  for (int i = 0; i < r_; ++i) {
    const bool border = is_border(i);
    if (border && owner_[i] != i) continue;
    if (border || mode_[i] == static_cast<int>(RowMode::doubtful)) {
      if (branch) continue;
      double slack = 0.0, multiplier = 0.0, terms = 0.0;
      each_part(i, [&](int k, double share) {
        slack += share * ds[k];
        multiplier += share * dz[k];
        terms += magnitude(share) * size_of(k);
      });
      if (multiplier < 0.0) worst.add(kernels::kInfinity);
      worst.add(multiplier > 0.0 || slack < 0.0 ? certificate::share_of(slack, terms) : 0.0);
      continue;
    }
    if (mode_[i] == static_cast<int>(RowMode::free)) continue;
    if (!is_edge(i)) {
      worst.add(certificate::share_of(ds[i], size_of(i)));
      continue;
    }
    if (owner_[i] != i) continue;
    double sum = 0.0, size = 0.0;
    for (int k = i; k < r_ && owner_[k] == i; ++k) {
      sum += reflect(k) * at_.slack[k] * ds[k];
      size += magnitude(at_.slack[k]) * size_of(k);
    }
    worst.add(certificate::share_of(sum, size));
  }
  return worst.value;
}

CAROM_HOST_DEVICE inline double QpDerivative::reach_along(const double* dz,
                                                          const double* ds) const {
  double reach = kernels::kInfinity;
  for (int i = 0; i < r_; ++i) {
    if (in_cone(i)) {
      if (owner_[i] != i) continue;
      const auto state = static_cast<ConeState>(state_[i]);
      if (state == ConeState::border) return 0.0;
      if (state != ConeState::apex) reach = kernels::smaller(reach, leaves(i, at_.slack, ds));
      if (state != ConeState::free) reach = kernels::smaller(reach, leaves(i, at_.multiplier, dz));
      continue;
    }
    if (!has_bound(i) || is_equation(i)) continue;
    if (mode_[i] == static_cast<int>(RowMode::held)) {
      const double rate = sign_[i] * dz[i];
      if (rate < 0.0) {
        reach = kernels::smaller(reach, sign_[i] * at_.multiplier[i] / -rate);
      }
    } else if (mode_[i] == static_cast<int>(RowMode::free)) {
      const double rate = sign_[i] * ds[i];
      if (rate < 0.0) reach = kernels::smaller(reach, at_.slack[i] / -rate);
    }
  }
  return reach;
}

CAROM_HOST_DEVICE inline double QpDerivative::leaves(int first, const double* v,
                                                     const double* dv) const {
  const double inside = v[first] - length(v, first);
  if (state_[first] == static_cast<int>(ConeState::edge)) {
    return dv[first] < 0.0 ? v[first] / -dv[first] : kernels::kInfinity;
  }
  // (v0 + t d0)^2 = |v1 + t d1|^2, its least positive root.
  double a = dv[first] * dv[first], b = v[first] * dv[first], c = v[first] * v[first];
  for (int k = first + 1; k < r_ && owner_[k] == first; ++k) {
    a -= dv[k] * dv[k];
    b -= v[k] * dv[k];
    c -= v[k] * v[k];
  }
  if (!(inside > 0.0)) return 0.0;
  const double root = b * b - a * c;
  if (root < 0.0) return kernels::kInfinity;
  const double down = -b + kernels::square_root(root);
  // c / (-b + root) is the smaller positive root without cancellation.
  return down > 0.0 ? c / down : kernels::kInfinity;
}

CAROM_HOST_DEVICE inline double QpDerivative::reach_down(const QpWanted& wanted, double objective,
                                                         const double* e) {
  const double* a = at_.sum;
  double* gain = at_.target;
  double* rhs = at_.extra;
  double square = 0.0, along = 0.0;
  for (int j = 0; j < n_; ++j) {
    square += at_.x[j] * at_.x[j];
    along += a[j] * at_.x[j];
  }
  for (int j = 0; j < n_; ++j) {
    double value = 0.0;
    if (wanted.vector) value += a[j] - objective * at_.x[j];
    if (wanted.hessian) {
      value += 0.5 * (a[j] * square + at_.x[j] * along) - 0.5 * objective * at_.x[j] * square;
    }
    at_.g[j] = -value;
  }
  for (int i = 0; i < r_; ++i) {
    const bool turned = i < m_ ? wanted.matrix : wanted.cone_matrix;
    const bool moved = i >= m_          ? wanted.cone_vector
                       : is_equation(i) ? (at_.multiplier[i] >= 0.0 ? wanted.upper : wanted.lower)
                                        : (sign_[i] > 0 ? wanted.upper : wanted.lower);
    const double y = at_.multiplier[i];
    gain[i] = moved ? -e[i] : 0.0;
    if (!turned) continue;
    gain[i] -= y * along + e[i] * square;  // dA = y a' + e x'
    for (int j = 0; j < n_; ++j) at_.g[j] -= y * (y * a[j] + e[i] * at_.x[j]);
  }
  for (int j = 0; j < n_; ++j) rhs[j] = at_.g[j];
  for (int i = m_; i < r_; ++i) {
    if (!is_edge(i)) continue;
    for (int j = 0; j < n_; ++j) rhs[j] -= at_.tau[i] * reflect(i) * row(i)[j] * gain[i];
  }
  for (int c = 0; c < equations_; ++c) {
    double value = 0.0;
    each_row_of(c, [&](int i, double share) { value += share * gain[i]; });
    rhs[n_ + c] = value;
  }
  factors_.solve(rhs);
  double* dz = at_.theta;
  double* ds = at_.touch;
  for (int i = 0; i < r_; ++i) dz[i] = 0.0;
  for (int c = 0; c < equations_; ++c) {
    each_row_of(c, [&](int i, double share) { dz[i] += share * rhs[n_ + c]; });
  }
  for (int i = 0; i < r_; ++i) {
    ds[i] = gain[i];
    for (int j = 0; j < n_; ++j) ds[i] -= row(i)[j] * rhs[j];
    if (is_edge(i)) dz[i] += at_.tau[i] * reflect(i) * ds[i];
  }
  return reach_along(dz, ds);
}

}  // namespace carom::derivatives
