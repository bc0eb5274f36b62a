#pragma once

#include "compliant/kernels/step_derivative.hpp"

/// Products with the Jacobian from the left (vjp) and the right (jvp), their residuals and reach.
namespace carom::derivatives {

template <class V>
CAROM_HOST_DEVICE typename StepDerivative<V>::Mask StepDerivative<V>::adjoint(
    const StepCotangentView<V>& cotangent, const StepGradientView<V>& gradient,
    ReportOf<V>& report) {
  Mask good = !refuses(gradient);
  if (!any_of(good)) {
    report.status = Smoothness::undefined;
    return none(gradient);
  }
  // g_v and g_p, the losses' gradients in v' and p.
  V* pull = at_.column;
  const V energy = cotangent.kinetic_energy != nullptr ? *cotangent.kinetic_energy : V(0.0);
  for (int j = 0; j < n_; ++j) {
    V value = cotangent.velocity != nullptr ? cotangent.velocity[j] : V(0.0);
    if (cotangent.kinetic_energy != nullptr) value += energy * times_mass(at_.velocity, j);
    pull[j] = value;
  }
  if (cotangent.increment != nullptr) {
    for (int j = 0; j < n_; ++j) {
      if (shape_.positions == 0) {
        pull[j] += h_ * cotangent.increment[j];
        continue;
      }
      for (int i = 0; i < shape_.positions; ++i) {
        pull[j] +=
            h_ * problem_.position_map[static_cast<long>(i) * n_ + j] * cotangent.increment[i];
      }
    }
  }
  for (int k = 0; k < count_; ++k) {
    V value = cotangent.force != nullptr ? cotangent.force[row_[k]] / h_ : V(0.0);
    for (int j = first(k); j < last(k); ++j) value += flexible(k)[j] * pull[j];
    at_.g[k] = value;
    at_.y[k] = value;
  }
  solve_transposed(at_.y);
  good = good & corrected(report, true, [&] { return residual_of(at_.y); });
  V* total = at_.extra;
  bool smooth = true;
  if constexpr (kAlone) {
    smooth = doubtfuls_ + loose_ == 0;
    if (!smooth && !adjoint_in_doubt(total, report)) return none(gradient);
  }
  if (!any_of(good)) {
    report.status = Smoothness::undefined;
    return none(gradient);
  }
  if (smooth) {
    for (int k = 0; k < count_; ++k) total[k] = at_.y[k];
  }
  write(cotangent, gradient, total, energy, pull);
  count_kinds(gradient.jacobian_dot_v != nullptr, report.condition);
  if (rules_.reach) report.reach = smooth ? reach_down(gradient) : V(0.0);
  return good;
}

template <class V>
CAROM_HOST_DEVICE typename StepDerivative<V>::Mask StepDerivative<V>::tangent(
    const StepDirectionView<V>& d, const StepTangentView<V>& out, ReportOf<V>& report) {
  Mask good = !moment_refuses(d.jacobian_dot_v != nullptr,
                              d.jacobian != nullptr || d.mass_matrix != nullptr);
  if (!any_of(good)) report.status = Smoothness::undefined;
  change(d);
  solve_change(d);
  if constexpr (kAlone) {
    if (!tangent_in_doubt(d, report)) report.status = Smoothness::undefined;
  }
  if (report.status != Smoothness::undefined) {
    good = good & corrected(report, false, [&] { return tangent_residual(d); });
    if (!any_of(good)) report.status = Smoothness::undefined;
  } else {
    good = good & !good;
  }
  const bool fine = any_of(good);
  for (int i = 0; i < shape_.rows; ++i) out.force[i] = V(fine ? 0.0 : kNone);
  const V dh = d.step_size != nullptr ? d.step_size[0] : V(0.0);
  // dv' = what parameters do at fixed p, and M^-1 G'dp.
  V energy = V(0.0);
  for (int j = 0; j < n_; ++j) at_.lambda_other[j] = at_.lambda[j];
  for (int k = 0; k < count_; ++k) {
    for (int j = first(k); j < last(k); ++j) {
      at_.lambda_other[j] += flexible(k)[j] * at_.y[k];
    }
  }
  for (int j = 0; j < n_; ++j) {
    energy += times_mass(at_.velocity, j) * at_.lambda_other[j];
    if (d.mass_matrix != nullptr) {
      energy += V(0.5) * at_.velocity[j] * turned_mass(d, j, at_.velocity);
    }
    out.velocity[j] = fine ? at_.lambda_other[j] : V(kNone);
  }
  *out.kinetic_energy = fine ? energy : V(kNone);
  if (shape_.positions == 0) {
    for (int j = 0; j < n_; ++j) {
      out.increment[j] = fine ? h_ * at_.lambda_other[j] + dh * at_.velocity[j] : V(kNone);
    }
  }
  for (int i = 0; i < shape_.positions; ++i) {
    V value = V(0.0);
    for (int j = 0; j < n_; ++j) {
      const long place = static_cast<long>(i) * n_ + j;
      const V map = problem_.position_map[place];
      value += map * (h_ * at_.lambda_other[j] + dh * at_.velocity[j]);
      if (d.position_map != nullptr) value += h_ * d.position_map[place] * at_.velocity[j];
    }
    out.increment[i] = fine ? value : V(kNone);
  }
  for (int k = 0; k < count_; ++k) {
    if (fine) out.force[row_[k]] = (at_.y[k] - dh * at_.impulse[k] / h_) / h_;
  }
  count_kinds(d.jacobian_dot_v != nullptr, report.condition);
  if (fine && rules_.reach) report.reach = reach_along();
  return good;
}

template <class V>
CAROM_HOST_DEVICE typename StepDerivative<V>::Mask StepDerivative<V>::none(
    const StepGradientView<V>& gradient) const {
  const long r = shape_.rows;
  fill(gradient.step_size, 1);
  fill(gradient.mass_matrix, shape_.diagonal ? n_ : static_cast<long>(n_) * n_);
  fill(gradient.force, n_);
  fill(gradient.velocity, n_);
  fill(gradient.position_map, static_cast<long>(shape_.positions) * n_);
  fill(gradient.jacobian, r * n_);
  for (V* rows : {gradient.jacobian_dot_v, gradient.phi, gradient.stiffness, gradient.damping,
                  gradient.friction}) {
    fill(rows, r);
  }
  return V(0.0) < V(0.0);
}

template <class V>
CAROM_HOST_DEVICE V StepDerivative<V>::residual_of(const V* y) {
  V* sum = at_.row;
  V* size = at_.psi_other;
  V* psi = at_.psi;
  for (int k = 0; k < count_; ++k) psi[k] = V(0.0);
  for (int k = 0; k < count_; ++k) {
    each_flow(k, [&](int l, V share) { psi[l] += share * y[k]; });
  }
  times_delassus(psi, sum, size);
  for (int k = 0; k < count_; ++k) {
    sum[k] -= at_.g[k];
    size[k] += magnitude(at_.g[k]);
  }
  for (int k = 0; k < count_; ++k) {
    each_impulse(k, [&](int l, V share) {
      sum[l] += share * y[k];
      size[l] += magnitude(share * y[k]);
    });
  }
  certificate::MaxAbs<V> worst;
  for (int k = 0; k < count_; ++k) worst.add(share_of(sum[k], size[k]));
  return worst.value;
}

template <class V>
template <class Judge>
CAROM_HOST_DEVICE typename StepDerivative<V>::Mask StepDerivative<V>::corrected(ReportOf<V>& report,
                                                                                bool transposed,
                                                                                Judge&& judge) {
  report.residual = judge();
  const V most(rules_.error_tolerance);
  V error = report.condition * report.residual;
  // With theta of what is in doubt there are other equations besides.
  const bool may = transposed || report.status != Smoothness::kink;
  for (int round = 0; may && round < kMostCorrections; ++round) {
    const Mask going = (error > most) & (error < V(kernels::kInfinity));
    if (!any_of(going)) break;
    error = select(going, correct(going, transposed), error);
    report.residual = judge();
  }
  const Mask fine = (report.residual <= V(kLargestResidual)) & (error <= most);
  if (!any_of(fine)) report.status = Smoothness::undefined;
  return fine;
}

template <class V>
CAROM_HOST_DEVICE V StepDerivative<V>::correct(Mask going, bool transposed) {
  V* by = at_.extra;
  V* value = at_.psi;
  V* rest = at_.psi_other;
  // E_F'x at row l: only rows of its contact have a part in it.
  const auto flow_part = [&](int l, const V* x) {
    LongSum<V> sum;
    each_of_contact(l, [&](int k) {
      each_flow(k, [&](int m, V share) {
        if (m == l) sum.add_product(share, x[k]);
      });
    });
    return sum;
  };
  for (int k = 0; k < count_; ++k) {
    LongSum<V> sum;
    if (transposed) {
      sum = flow_part(k, at_.y);
    } else {
      for (int l = 0; l < count_; ++l) sum.add_product(w(k, l), at_.y[l]);
    }
    value[k] = sum.value();
    rest[k] = sum.rest();
  }
  for (int k = 0; k < count_; ++k) {
    LongSum<V> sum(at_.g[k]);
    const auto subtract = [&](V share, int l) {
      sum.add_product(-share, value[l]);
      sum.add_rest(-share * rest[l]);
    };
    if (transposed) {
      for (int l = 0; l < count_; ++l) subtract(w(k, l), l);
      each_of_contact(k, [&](int l) {
        each_impulse(l, [&](int m, V share) {
          if (m == k) sum.add_product(-share, at_.y[l]);
        });
      });
    } else {
      each_flow(k, [&](int l, V share) { subtract(share, l); });
      each_impulse(k, [&](int l, V share) { sum.add_product(-share, at_.y[l]); });
    }
    by[k] = select(going, sum.value(), V(0.0));
  }
  for (int k = 0; k < count_; ++k) rest[k] = at_.g[k];
  if (transposed) {
    solve_transposed(by);
  } else {
    solve_modes(by);
  }
  for (int k = 0; k < count_; ++k) at_.g[k] = rest[k];
  V size(0.0), moved(0.0);
  for (int k = 0; k < count_; ++k) at_.y[k] = select(going, at_.y[k] + by[k], at_.y[k]);
  for (int k = 0; k < count_; ++k) {  // in impulses
    const V unit = square_root(at_.weight[k]);
    const V all = transposed ? flow_part(k, at_.y).value() : at_.y[k];
    const V part = transposed ? flow_part(k, by).value() : by[k];
    size = larger(size, magnitude(all) / unit);
    moved = larger(moved, magnitude(part) / unit);
  }
  return select(size > V(0.0), moved / size, V(0.0));
}

template <class V>
CAROM_HOST_DEVICE void StepDerivative<V>::write(const StepCotangentView<V>& cotangent,
                                                const StepGradientView<V>& gradient, const V* y,
                                                V energy, const V* pull) {
  V* psi = at_.psi;
  for (int k = 0; k < count_; ++k) psi[k] = V(0.0);
  for (int k = 0; k < count_; ++k) {
    each_flow(k, [&](int l, V share) { psi[l] += share * y[k]; });
  }
  if constexpr (kAlone) {
    for (int d = 0; d < doubtfuls_; ++d) {
      if (at_.doubt[doubtful_[d]] == 1.0) psi[doubtful_[d]] += at_.direct[d];
    }
  }
  if (moves_ || (centripetal_ && gradient.jacobian_dot_v != nullptr)) {
    for (int k = 0; k < count_; ++k) at_.turn[k] = -psi[k] * at_.per_rate[k];
    over_kinds(at_.turn, at_.along_turn);
  }
  V* lambda = at_.lambda;
  for (int j = 0; j < n_; ++j) lambda[j] = pull[j];
  for (int k = 0; k < count_; ++k) {
    for (int j = first(k); j < last(k); ++j) lambda[j] -= jacobian(k)[j] * psi[k];
  }
  over_mass(lambda);
  const V* v = at_.velocity;
  if (gradient.mass_matrix != nullptr) {
    for (int i = 0; i < n_; ++i) {
      for (int j = shape_.diagonal ? i : 0; j <= i; ++j) {
        const V one = lambda[i] * (v[j] - problem_.velocity[j]);
        const V other = lambda[j] * (v[i] - problem_.velocity[i]);
        V twist = V(0.0);
        for (int kind = 0; kind < kernels::kRowGroups * n_ && moves_; kind += n_) {
          twist += at_.along_turn[kind + i] * at_.along_moment[kind + j] +
                   at_.along_turn[kind + j] * at_.along_moment[kind + i];
        }
        const V own = V(0.5) * (energy * (v[i] * v[j]) - (one + other) + twist);
        if (shape_.diagonal) {
          gradient.mass_matrix[i] = own;
        } else {
          gradient.mass_matrix[static_cast<long>(i) * n_ + j] = own;
          gradient.mass_matrix[static_cast<long>(j) * n_ + i] = own;
        }
      }
    }
  }
  V step = V(0.0);
  for (int j = 0; j < n_; ++j) {
    if (gradient.force != nullptr) gradient.force[j] = h_ * lambda[j];
    if (gradient.velocity != nullptr) gradient.velocity[j] = times_mass(lambda, j);
    step += lambda[j] * problem_.force[j];
  }
  const int nq = shape_.positions;
  for (int i = 0; i < (nq > 0 ? nq : n_); ++i) {
    const V asked = cotangent.increment != nullptr ? cotangent.increment[i] : V(0.0);
    if (nq == 0) {
      step += asked * v[i];
      continue;
    }
    for (int j = 0; j < n_; ++j) {
      const long place = static_cast<long>(i) * n_ + j;
      step += asked * problem_.position_map[place] * v[j];
      if (gradient.position_map != nullptr) gradient.position_map[place] = h_ * asked * v[j];
    }
  }
  for (int i = 0, k = 0; i < shape_.rows; ++i) {
    if (gradient.friction != nullptr) gradient.friction[i] = V(0.0);
    if (k < count_ && row_[k] == i) {  // has its own below
      ++k;
      continue;
    }
    for (V* rows : {gradient.jacobian_dot_v, gradient.phi, gradient.stiffness, gradient.damping}) {
      if (rows != nullptr) rows[i] = V(0.0);
    }
    if (gradient.jacobian == nullptr) continue;
    for (int j = 0; j < n_; ++j) gradient.jacobian[static_cast<long>(i) * n_ + j] = V(0.0);
  }
  for (int k = 0; k < count_; ++k) {
    const int i = row_[k];
    const V stiff = problem_.stiffness[i], damp = problem_.damping[i], phi = problem_.phi[i];
    const V per_s = at_.per_rate[k], p = at_.impulse[k];
    const V pressed = pressure(k), sprung = stiff * phi * per_s + pressed;
    if (gradient.jacobian != nullptr) {
      V* to = gradient.jacobian + static_cast<long>(i) * n_;
      for (int j = first(k); j < last(k); ++j) to[j] = p * lambda[j] - psi[k] * v[j];
    }
    if (gradient.jacobian_dot_v != nullptr) {
      gradient.jacobian_dot_v[i] = -h_ * psi[k] + (centripetal_ ? at_.turn[k] : V(0.0));
    }
    if (moves_ && gradient.jacobian != nullptr) {
      V* to = gradient.jacobian + static_cast<long>(i) * n_;
      const int kind = kind_of(i) * n_;
      for (int j = first(k); j < last(k); ++j) {
        to[j] -=
            at_.turn[k] * at_.along_moment[kind + j] + at_.moment[k] * at_.along_turn[kind + j];
      }
    }
    if (gradient.phi != nullptr) gradient.phi[i] = -psi[k] * stiff * per_s;
    if (gradient.stiffness != nullptr) {
      gradient.stiffness[i] = psi[k] * per_s * (h_ * pressed - phi * damp * per_s);
    }
    if (gradient.damping != nullptr) gradient.damping[i] = psi[k] * per_s * sprung;
    step +=
        psi[k] * (stiff * per_s * sprung + p * per_eta(k) * per_h_ - problem_.jacobian_dot_v[i]);
    if (cotangent.force != nullptr) step -= p / h_ * cotangent.force[i] / h_;
    const Mask slides = has_mode(k, StepMode::slide);
    if (gradient.friction != nullptr && any_of(slides)) {
      const V pull_of = at_.impulse[normal_[k]] * y[k] * at_.flow[k];
      gradient.friction[row_[normal_[k]]] -= select(slides, pull_of, V(0.0));
    }
  }
  if constexpr (kAlone) {
    for (int d = 0; d < doubtfuls_ && gradient.friction != nullptr; ++d) {
      const int k = doubtful_[d];
      if (at_.doubt[k] == 2.0) gradient.friction[row_[k]] -= at_.direct[d] * at_.impulse[k];
    }
  }
  if (gradient.step_size != nullptr) *gradient.step_size = step;
}

template <class V>
CAROM_HOST_DEVICE void StepDerivative<V>::change(const StepDirectionView<V>& d) {
  const V dh = d.step_size != nullptr ? d.step_size[0] : V(0.0);
  const V* v = at_.velocity;
  V* dv = at_.lambda;
  for (int j = 0; j < n_; ++j) at_.column[j] = v[j] - problem_.velocity[j];
  for (int i = 0; i < n_; ++i) {
    V sum = dh * problem_.force[i];
    if (d.force != nullptr) sum += h_ * d.force[i];
    if (d.mass_matrix != nullptr) sum -= turned_mass(d, i, at_.column);
    if (d.velocity != nullptr) sum += times_mass(d.velocity, i);
    for (int k = 0; k < count_ && d.jacobian != nullptr; ++k) {
      sum += d.jacobian[static_cast<long>(row_[k]) * n_ + i] * at_.impulse[k];
    }
    dv[i] = sum;
  }
  over_mass(dv);
  const bool turned = centripetal_ && (moves_ || d.jacobian_dot_v != nullptr);
  if (turned) change_moment(d);
  for (int k = 0; k < count_; ++k) {
    const int i = row_[k];
    const V stiff = problem_.stiffness[i], damp = problem_.damping[i], phi = problem_.phi[i];
    const V per_s = at_.per_rate[k], p = at_.impulse[k];
    const V pressed = pressure(k), sprung = stiff * phi * per_s + pressed;
    const V dk = d.stiffness != nullptr ? d.stiffness[i] : V(0.0);
    const V db = d.damping != nullptr ? d.damping[i] : V(0.0);
    V sum = dh * problem_.jacobian_dot_v[i];
    if (d.jacobian_dot_v != nullptr) sum += h_ * d.jacobian_dot_v[i];
    if (d.phi != nullptr) sum += stiff * d.phi[i] * per_s;
    if (turned) sum += at_.turn[k] * per_s;
    sum -= dk * per_s * (h_ * pressed - phi * damp * per_s);
    sum -= db * per_s * sprung;
    sum -= dh * (stiff * per_s * sprung + p * per_eta(k) * per_h_);
    for (int j = first(k); j < last(k); ++j) {
      sum += jacobian(k)[j] * dv[j];
      if (d.jacobian != nullptr) sum += d.jacobian[static_cast<long>(i) * n_ + j] * v[j];
    }
    at_.row[k] = sum;
  }
}

template <class V>
CAROM_HOST_DEVICE void StepDerivative<V>::change_moment(const StepDirectionView<V>& d) {
  for (int j = 0; j < kernels::kRowGroups * n_; ++j) at_.along_turn[j] = V(0.0);
  for (int k = 0; k < count_ && moves_ && d.jacobian != nullptr; ++k) {
    V* own = at_.along_turn + kind_of(row_[k]) * n_;
    for (int j = first(k); j < last(k); ++j) {
      own[j] += d.jacobian[static_cast<long>(row_[k]) * n_ + j] * at_.moment[k];
    }
  }
  for (int kind = 0; kind < kernels::kRowGroups * n_ && moves_; kind += n_) {
    V* own = at_.along_turn + kind;
    for (int i = 0; i < n_ && d.mass_matrix != nullptr; ++i) {
      own[i] -= turned_mass(d, i, at_.along_moment + kind);
    }
    over_mass(own);
  }
  for (int k = 0; k < count_; ++k) {
    const int kind = kind_of(row_[k]) * n_;
    V sum = d.jacobian_dot_v != nullptr ? d.jacobian_dot_v[row_[k]] : V(0.0);
    for (int j = 0; j < n_ && moves_; ++j) {
      sum -= jacobian(k)[j] * at_.along_turn[kind + j];
      if (d.jacobian != nullptr) {
        sum -= d.jacobian[static_cast<long>(row_[k]) * n_ + j] * at_.along_moment[kind + j];
      }
    }
    at_.turn[k] = sum;
  }
  over_kinds(at_.turn, nullptr);
}

template <class V>
CAROM_HOST_DEVICE void StepDerivative<V>::solve_change(const StepDirectionView<V>& d,
                                                       bool accurate) {
  for (int k = 0; k < count_; ++k) {
    V sum = V(0.0);
    each_flow(k, [&](int l, V share) { sum -= share * at_.row[l]; });
    const V pushed = at_.impulse[normal_[k]] * at_.flow[k] * friction_change(d, k);
    sum -= select(has_mode(k, StepMode::slide), pushed, V(0.0));
    at_.y[k] = sum;
  }
  solve_modes(at_.y, accurate);
}

template <class V>
CAROM_HOST_DEVICE V StepDerivative<V>::tangent_residual(const StepDirectionView<V>& d) {
  certificate::MaxAbs<V> worst;
  V* df = at_.psi;
  V* size = at_.psi_other;
  times_delassus(at_.y, df, size);
  for (int k = 0; k < count_; ++k) {
    df[k] += at_.row[k];
    size[k] += magnitude(at_.row[k]);
  }
  for (int k = 0; k < count_; ++k) {
    V sum = V(0.0), terms = V(0.0);
    each_flow(k, [&](int l, V share) {
      sum += share * df[l];
      terms += magnitude(share) * size[l];
    });
    each_impulse(k, [&](int l, V share) {
      sum += share * at_.y[l];
      terms += magnitude(share * at_.y[l]);
    });
    const V pushed = select(has_mode(k, StepMode::slide),
                            at_.impulse[normal_[k]] * at_.flow[k] * friction_change(d, k), V(0.0));
    sum += pushed;
    terms += magnitude(pushed);
    for (int i = 0; i < doubtfuls_; ++i) {
      const V driven = at_.source[static_cast<long>(i) * count_ + k] * at_.theta[i];
      sum -= driven;
      terms += magnitude(driven);
    }
    worst.add(share_of(sum, terms));
  }
  if constexpr (kAlone) {
    for (int i = 0; i < doubtfuls_; ++i) {
      double terms = 0.0;
      const double value = condition_of(i, at_.y, d, terms);
      if (at_.theta[i] < 0.0) worst.add(kernels::kInfinity);
      worst.add(at_.theta[i] > 0.0 || value < 0.0 ? share_of(value, terms) : 0.0);
    }
  }
  return worst.value;
}

template <class V>
CAROM_HOST_DEVICE V StepDerivative<V>::reach_along() const {
  const V* dp = at_.y;
  const V* df = at_.psi;
  V reach = V(kernels::kInfinity);
  if (doubtfuls_ > 0) return V(0.0);
  const V zero(0.0);
  for (int k = 0; k < count_; ++k) {
    if (is_tangent(k) || is_bilateral(k)) continue;
    const Mask open = has_mode(k, StepMode::open);
    const V value = select(open, at_.flow[k], at_.impulse[k]);
    const V slope = select(open, df[k], dp[k]);
    reach = select(slope < zero, smaller(reach, zero_or_more(value) / -slope), reach);
    const int t = tangents(k);
    if (t == 0) continue;
    const Mask presses = !open;
    const Mask slides = presses & has_mode(k + 1, StepMode::slide);
    if (any_of(slides)) {
      V rate = zero;
      for (int c = 1; c <= t; ++c) rate += at_.slip[k + c] * df[k + c];
      const V step = length(at_.flow, k, t) / -rate;
      reach = select(slides & (rate < zero), smaller(reach, step), reach);
    }
    const Mask sticks = presses & has_mode(k + 1, StepMode::closed);
    if (any_of(sticks)) {
      // (R + t dR)^2 = |p_t + t dp_t|^2
      const V radius = friction(k) * at_.impulse[k], grows = friction(k) * dp[k];
      V a = grows * grows, b = radius * grows, c0 = radius * radius;
      for (int c = 1; c <= t; ++c) {
        a -= dp[k + c] * dp[k + c];
        b -= at_.impulse[k + c] * dp[k + c];
        c0 -= at_.impulse[k + c] * at_.impulse[k + c];
      }
      const V root = b * b - a * c0;
      const Mask real = sticks & !(root < zero);
      const V down = -b + square_root(select(real, root, zero));
      reach = select(real & (down > zero), smaller(reach, zero_or_more(c0) / down), reach);
    }
  }
  return reach;
}

template <class V>
CAROM_HOST_DEVICE V StepDerivative<V>::reach_down(const StepGradientView<V>& gradient) {
  StepDirectionView<V> d;
  d.step_size = gradient.step_size;
  d.mass_matrix = gradient.mass_matrix;
  d.force = gradient.force;
  d.velocity = gradient.velocity;
  d.position_map = nullptr;
  d.jacobian = gradient.jacobian;
  d.jacobian_dot_v = gradient.jacobian_dot_v;
  d.phi = gradient.phi;
  d.stiffness = gradient.stiffness;
  d.damping = gradient.damping;
  d.friction = gradient.friction;
  change(d);
  solve_change(d, false);  // a reach is a ratio
  if (by_velocities_) push(at_.y, at_.inner);
  for (int k = 0; k < count_; ++k) {
    V sum = at_.row[k];
    if (by_velocities_) {
      sum += at_.y[k] * per_eta(k);
      for (int j = first(k); j < last(k); ++j) sum += jacobian(k)[j] * at_.inner[j];
    } else {
      for (int l = 0; l < count_; ++l) sum += w(k, l) * at_.y[l];
    }
    at_.psi[k] = -sum;
  }
  for (int k = 0; k < count_; ++k) at_.y[k] = -at_.y[k];
  return reach_along();
}

}  // namespace carom::derivatives
