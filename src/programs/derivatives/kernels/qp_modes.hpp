#pragma once

#include "programs/derivatives/kernels/qp_derivative.hpp"

/// The modes of rows and cones, from an answer that is polished in them.
namespace carom::derivatives {

CAROM_HOST_DEVICE inline bool QpDerivative::modes(const double* x, const double* dual,
                                                  const double* cone_dual, Report& report) {
  bool stale = true;  // whether the factors are others' than the modes'
  kinds();
  bool found = polish(x, dual, cone_dual, 0.0, report, stale);
  // Forces that are less than what the answer misses say nothing of the cones: their slacks do.
  for (double within = kLargestShift; within > 1e-11 && !found; within *= 1e-2) {
    if (!bent_ || report.status != Smoothness::undefined) return false;
    found = polish(x, dual, cone_dual, within, report, stale);
    if (!found && within == kLargestShift && report.status == Smoothness::undefined) {
      start(x, dual, cone_dual);
      measure();
      if (approach(report.shift)) found = polish(nullptr, nullptr, nullptr, 0.0, report, stale);
    }
    tried_ = within;
  }
  if (!found) return false;
  clean();
  if (stale || edges_ > 0) {
    dependent_ = false;
    if (!assemble(true)) {
      report.status = Smoothness::set_valued;
      return false;
    }
  }
  report.status = Smoothness::smooth;
  const bool doubts = doubtfuls_ > 0;
  if (doubts) settle();
  report.condition = factors_.condition();
  if (is_steep(report) && doubtfuls_ == 0 && !long_) {
    long_ = true;
    for (int round = 0; round < kSteepCorrections; ++round) newton();
    measure(true);
  }
  if (doubts) {
    report.margin = margin_;
    report.doubtful = doubtfuls_;
    // P is definite on what the held rows leave: x is unique whether the multipliers are or not.
    semidefinite_ =
        doubtfuls_ > 0 && !symmetric_definite(doubtfuls_, at_.schur, at_.size, at_.work);
    dependent_ = dependent_ || semidefinite_;
  }
  if (doubtful_cones_ > 0 && report.status == Smoothness::smooth) report.status = Smoothness::kink;
  return true;
}

CAROM_HOST_DEVICE inline bool QpDerivative::polish(const double* x, const double* dual,
                                                   const double* cone_dual, double within,
                                                   Report& report, bool& stale) {
  const bool approached = x == nullptr;
  if (!approached && !start(x, dual, cone_dual)) return false;
  measure();
  if (!(wrong() <= kLargestShift)) return false;
  // Each row takes the nearer of its modes. Which modes are doubtful is decided after the polish.
  double tolerance = rules_.margin_tolerance, before = kernels::kInfinity;
  const bool by_slacks = within > 0.0;
  const Choice choice = by_slacks || approached ? Choice::kept : Choice::nearer;
  // The same start leads to the same end.
  if (by_slacks && tried_ > 0.0) split(tried_, Choice::by_slacks);
  const bool another = split(within, approached  ? Choice::pressed
                                     : by_slacks ? Choice::by_slacks
                                                 : Choice::nearer);
  if (by_slacks && tried_ > 0.0 && !another) return false;
  if (!approached) report.shift = 0.0;
  report.status = Smoothness::undefined;
  stale = true;
  dependent_ = dependent_equations_ = false;
  for (int round = 0; round < (bent_ ? kMostRounds : 5); ++round) {
    if (stale || edges_ > 0) {
      dependent_ = false;
      if (!assemble(true)) {
        report.margin = margin_;
        report.doubtful = doubtfuls_;
        report.status = choice == Choice::kept ? Smoothness::undefined : Smoothness::set_valued;
        return false;
      }
    }
    const double moved = newton();
    report.shift = kernels::larger(report.shift, moved);
    measure(true);
    tolerance = kernels::larger(rules_.margin_tolerance, 10.0 * moved);
    stale = split(rules_.margin_tolerance, choice);
    const bool settled = edges_ == 0 || turn_ <= kSettledEdge;
    // What it moves now is rounding where it moves hardly less than before.
    if (!stale && settled && (moved <= 1e-13 || moved > 0.1 * before)) break;
    before = moved;
    // From modes so far from an answer's the slacks lead to one, if anything does.
    const bool wanders = stale && round >= 3 && choice == Choice::nearer;
    if (bent_ && wanders && moved > kLargestShiftOfQp) return false;
    // Modes that do not settle have gaps about as large as what polishing moved.
    if (wanders) {
      tolerance = kernels::larger(tolerance, 10.0 * report.shift);
      split(tolerance, Choice::doubted);
    }
  }
  stale = split(tolerance, Choice::doubted) || stale;
  report.margin = margin_;
  report.doubtful = doubtfuls_;
  const double most = doubtfuls_ > 0 || m_ < r_ ? kLargestShiftOfQp : kLargestShift;
  // Modes are right where what is polished in them is an answer, by much less than their gaps.
  // However far it moved, what misses nothing is the answer of a convex problem.
  const double missed = wrong();
  if (!(report.shift <= most || missed <= kMissesNothing)) return false;
  if (!(missed <= 10.0 * tolerance)) return false;
  if (edges_ > 0 && !(turn_ <= kSettledEdge)) return false;
  return doubtfuls_ + doubtful_cones_ > 0 || missed <= 0.1 * margin_;
}

CAROM_HOST_DEVICE inline bool QpDerivative::start(const double* x, const double* dual,
                                                  const double* cone_dual) {
  bool finite = true;
  for (int j = 0; j < n_; ++j) {
    at_.x[j] = x[j];
    at_.x_rest[j] = 0.0;
    finite = finite && kernels::is_finite(x[j]);
  }
  for (int i = 0; i < r_; ++i) {
    at_.multiplier[i] = i < m_ ? dual[i] : cone_dual[i - m_];
    finite = finite && kernels::is_finite(at_.multiplier[i]);
  }
  return finite;
}

CAROM_HOST_DEVICE inline void QpDerivative::kinds() {
  for (int i = 0; i < r_; ++i) {
    owner_[i] = -1;
    sign_[i] = 1;
    state_[i] = 0;
    mode_[i] = static_cast<int>(RowMode::free);
  }
  for (int i = 0; i < m_; ++i) {
    if (problem_.lower[i] == problem_.upper[i]) sign_[i] = 0;
  }
  int first = m_;
  for (int c = 0; c < shape_.cones; ++c) {
    const Cone& cone = shape_.cone[c];
    for (int k = 0; k < cone.size; ++k) {
      if (cone.kind == ConeKind::zero) sign_[first + k] = 0;
      if (cone.kind == ConeKind::second_order && cone.size > 1) owner_[first + k] = first;
    }
    bent_ = bent_ || (cone.kind == ConeKind::second_order && cone.size > 1);
    first += cone.size;
  }
  long_ = bent_;
  flat_ = true;
  for (int i = 0; i < n_; ++i) {
    for (int j = 0; j <= i; ++j) {
      const long at = static_cast<long>(i) * n_ + j;
      at_.hessian[at] = at_.hessian[static_cast<long>(j) * n_ + i] = problem_.hessian[at];
    }
  }
  for (int j = 0; j < n_; ++j) {
    double largest = 0.0;
    for (int k = 0; k < n_; ++k) largest = kernels::larger(largest, magnitude(hessian(j, k)));
    flat_ = flat_ && largest == 0.0;
    const double diagonal = hessian(j, j);
    at_.root[j] = diagonal > 1e-8 * largest ? 1.0 / kernels::square_root(diagonal) : 0.0;
  }
  for (int i = 0; i < r_; ++i) {
    double sum = 0.0;
    for (int j = 0; j < n_; ++j) {
      const double share = row(i)[j] * at_.root[j];
      sum += share * share;
    }
    at_.spread[i] = kernels::square_root(sum);
  }
}

CAROM_HOST_DEVICE inline void QpDerivative::measure(bool cones_known) {
  double energy = 0.0, work = 0.0;
  const double* root = at_.root;
  double* column = at_.scratch;  // 1 / unit of the stationarity
  for (int j = 0; j < n_; ++j) at_.column_unit[j] = magnitude(problem_.vector[j]);
  for (int k = 0; k < n_; ++k) {
    for (int j = 0; j < n_; ++j) at_.column_unit[j] += magnitude(hessian(k, j) * at_.x[k]);
  }
  for (int i = 0; i < r_; ++i) {
    if (at_.multiplier[i] == 0.0) continue;
    for (int j = 0; j < n_; ++j) {
      at_.column_unit[j] += magnitude(row(i)[j] * at_.multiplier[i]);
    }
  }
  for (int j = 0; j < n_; ++j) {
    energy = kernels::larger(energy, at_.column_unit[j] * root[j]);
  }
  for (int j = 0; j < n_; ++j) {
    if (root[j] > 0.0) {
      at_.column_unit[j] = kernels::larger(at_.column_unit[j], energy / root[j]);
    }
    column[j] = at_.column_unit[j] > 0.0 ? 1.0 / at_.column_unit[j] : 0.0;
    work += at_.column_unit[j] * magnitude(at_.x[j]);
  }
  if (!cones_known) put_long_slacks();
  for (int i = 0; i < r_; ++i) {
    double value = 0.0, size = 0.0, feel = 0.0;
    for (int j = 0; j < n_; ++j) {
      const double term = row(i)[j] * at_.x[j];
      value += term;
      size += magnitude(term);
      feel = kernels::larger(feel, magnitude(row(i)[j]) * column[j]);
    }
    at_.feel[i] = feel;
    if (i < m_ && sign_[i] != 0) choose_bound(i, value);
    const double limit = has_bound(i) ? bound(i) : 0.0;
    const double side = in_cone(i) || sign_[i] >= 0 ? 1.0 : -1.0;
    if (!in_cone(i)) at_.slack[i] = has_bound(i) ? side * (limit - value) : kernels::kInfinity;
    if (!kernels::is_finite(limit)) at_.slack[i] = kernels::kInfinity;
    at_.unit[i] = kernels::larger(size + (kernels::is_finite(limit) ? magnitude(limit) : 0.0),
                                  at_.spread[i] * energy);
    // A row whose terms are what rounding left is not measured by them.
    if (at_.unit[i] <= kRounding * feel * work) at_.unit[i] = feel * work;
    if (!(at_.unit[i] > 0.0)) at_.unit[i] = 1.0;
  }
  // A cone's rows have one unit.
  for (int i = m_; i < r_; ++i) {
    if (!in_cone(i) || owner_[i] == i) continue;
    const int first = owner_[i];
    at_.unit[first] = kernels::larger(at_.unit[first], at_.unit[i]);
    at_.feel[first] = kernels::larger(at_.feel[first], at_.feel[i]);
  }
  for (int i = m_; i < r_; ++i) {
    if (!in_cone(i)) continue;
    at_.unit[i] = at_.unit[owner_[i]];
    at_.feel[i] = at_.feel[owner_[i]];
  }
}

CAROM_HOST_DEVICE inline double QpDerivative::wrong() const {
  double worst = 0.0;
  double* value = at_.scratch;
  for (int j = 0; j < n_; ++j) value[j] = problem_.vector[j];
  add_hessian_times(at_.x, value);
  add_rows_times(at_.multiplier, value);
  for (int j = 0; j < n_; ++j) {
    const double unit = at_.column_unit[j] > 0.0 ? at_.column_unit[j] : 1.0;
    worst = kernels::larger(worst, magnitude(value[j]) / unit);
  }
  for (int i = 0; i < r_; ++i) {
    if (in_cone(i)) {
      if (owner_[i] != i) continue;
      const double* s = at_.slack;
      const double* z = at_.multiplier;
      worst = kernels::larger(worst, (length(s, i) - s[i]) / at_.unit[i]);
      worst = kernels::larger(worst, (length(z, i) - z[i]) * at_.feel[i]);
      continue;
    }
    if (!has_bound(i)) continue;
    const double open = at_.slack[i] / at_.unit[i];
    if (is_equation(i)) {
      worst = kernels::larger(worst, magnitude(open));
      continue;
    }
    const double closed = sign_[i] * at_.multiplier[i] * at_.feel[i];
    worst = kernels::larger(worst, -open);
    worst = kernels::larger(worst, -closed);
    worst = kernels::larger(worst, kernels::smaller(magnitude(open), magnitude(closed)));
  }
  return worst;
}

CAROM_HOST_DEVICE inline bool QpDerivative::split(double tolerance, Choice choice) {
  bool changed = false;
  doubtfuls_ = doubtful_cones_ = edges_ = 0;
  margin_ = kernels::kInfinity;
  for (int i = 0; i < r_; ++i) {
    RowMode mode = RowMode::free;
    if (in_cone(i)) {
      const int first = owner_[i];
      if (first == i) changed = split_cone(i, tolerance, choice) || changed;
      mode = is_border(first) || state_[first] == static_cast<int>(ConeState::free) ? RowMode::free
                                                                                    : RowMode::held;
    } else if (is_equation(i)) {
      mode = RowMode::held;
    } else if (has_bound(i)) {
      const double open = at_.slack[i] / at_.unit[i];
      const double closed = sign_[i] * at_.multiplier[i] * at_.feel[i];
      const double gap = kernels::larger(open, closed);
      margin_ = kernels::smaller(margin_, gap > 0.0 ? gap : 0.0);
      bool held = closed >= open;
      if (choice == Choice::by_slacks) held = held || open <= tolerance;
      if (choice == Choice::pressed) held = at_.multiplier[i] != 0.0;
      if (choice == Choice::kept) {
        held = mode_[i] == static_cast<int>(RowMode::held) ? closed >= 0.0 : open < 0.0;
      }
      mode = held ? RowMode::held : RowMode::free;
      if (choice == Choice::doubted && !(gap > tolerance)) mode = RowMode::doubtful;
      if (mode == RowMode::doubtful) doubtful_[doubtfuls_++] = i;
    }
    changed = changed || mode_[i] != static_cast<int>(mode);
    mode_[i] = static_cast<int>(mode);
  }
  return changed;
}

CAROM_HOST_DEVICE inline bool QpDerivative::split_cone(int first, double tolerance, Choice choice) {
  const double* s = at_.slack;
  const double* z = at_.multiplier;
  const double s_length = length(s, first), z_length = length(z, first);
  const double s_inside = (s[first] - s_length) / at_.unit[first];
  const double z_inside = (z[first] - z_length) * at_.feel[first];
  const double s_size = (magnitude(s[first]) + s_length) / at_.unit[first];
  const double z_size = (magnitude(z[first]) + z_length) * at_.feel[first];
  ConeState state = ConeState::edge;
  double gap = 0.0;
  if (z_size <= s_inside) {
    state = ConeState::free;
    gap = s_inside;
  } else if (s_size <= z_inside) {
    state = ConeState::apex;
    gap = z_inside;
  } else {
    gap = kernels::smaller(s_size, z_size);
  }
  margin_ = kernels::smaller(margin_, gap > 0.0 ? gap : 0.0);
  if (choice == Choice::by_slacks) {
    state = s_size <= tolerance     ? ConeState::apex
            : s_inside <= tolerance ? ConeState::edge
                                    : ConeState::free;
  } else if (choice == Choice::pressed) {
    state = z_size == 0.0             ? ConeState::free
            : at_.target[first] > 0.0 ? ConeState::edge
                                      : ConeState::apex;
  } else if (choice == Choice::kept) {
    state = static_cast<ConeState>(state_[first]);
    if (state == ConeState::free) {
      if (s_inside < 0.0) state = ConeState::edge;
    } else if (state == ConeState::apex) {
      if (z_inside < 0.0) {
        state = ConeState::edge;
        leave_apex(first);
      }
    } else if (z[first] < 0.0) {
      state = ConeState::free;
    } else if (s[first] < 0.0) {
      state = ConeState::apex;
    }
  } else if (!(gap > tolerance) && !(choice == Choice::nearer && s_size > tolerance)) {
    // between states: the freer one; near its tip an edge has no equations
    if (s_size > tolerance && z_size <= tolerance) {
      state = ConeState::border;
      doubtful_[doubtfuls_++] = first;
    } else {
      ++doubtful_cones_;
      state = z_size > tolerance ? ConeState::apex : ConeState::free;
    }
  }
  if (state == ConeState::edge) ++edges_;
  const bool changed = state_[first] != static_cast<int>(state);
  state_[first] = static_cast<int>(state);
  double along = 0.0, square = 0.0;
  for (int k = first; k < r_ && owner_[k] == first; ++k) {
    along += reflect(k) * s[k] * z[k];
    square += s[k] * s[k];
  }
  for (int k = first; k < r_ && owner_[k] == first; ++k) {
    at_.tau[k] = state == ConeState::edge ? along / square : 0.0;
  }
  return changed;
}

CAROM_HOST_DEVICE inline void QpDerivative::leave_apex(int first) {
  const double side = length(at_.multiplier, first);
  if (!(side > 0.0)) return;
  const double size = rules_.margin_tolerance * at_.unit[first];
  at_.multiplier[first] = side;
  for (int k = first; k < r_ && owner_[k] == first; ++k) {
    at_.slack[k] = size * reflect(k) * at_.multiplier[k] / side;
    at_.slack_rest[k] = 0.0;
  }
}

CAROM_HOST_DEVICE inline double QpDerivative::newton() {
  double* step = at_.sum;
  // Held rows that the kept ones imply keep their multipliers, which are as good as any.
  for (int i = 0; i < r_; ++i) {
    at_.theta[i] = at_.multiplier[i];
    if (is_edge(i)) {
      at_.multiplier[i] = at_.tau[i] * reflect(i) * at_.slack[i];
    } else if (mode_[i] != static_cast<int>(RowMode::held)) {
      at_.multiplier[i] = 0.0;
    }
  }
  descent(step);
  for (int c = 0; c < equations_; ++c) {
    const int i = equation_[c];
    if (is_edge(i)) {
      LongSum<double> square;
      each_row_of(c, [&](int k, double share) {
        square.add_product(0.5 * share, at_.slack[k]);
        square.add_rest(share * at_.slack_rest[k]);
      });
      step[n_ + c] = square.value();
    } else if (in_cone(i)) {
      step[n_ + c] = at_.slack[i];
    } else {
      step[n_ + c] = long_ ? long_slack(i) : (sign_[i] >= 0 ? 1.0 : -1.0) * at_.slack[i];
    }
  }
  factors_.solve(step);
  double moved = 0.0;
  turn_ = 0.0;
  advance(step);
  double* before = at_.extra;
  for (int i = m_; i < r_; ++i) {
    before[i] = at_.slack[i];
  }
  put_long_slacks();
  each_row_times(step, [&](int i, double change) {
    if (has_bound(i)) moved = kernels::larger(moved, magnitude(change) / at_.unit[i]);
  });
  double* pulled = at_.rest;
  for (int j = 0; j < n_; ++j) pulled[j] = 0.0;
  add_hessian_times(step, pulled);
  for (int j = 0; j < n_; ++j) {
    if (at_.column_unit[j] > 0.0) {
      moved = kernels::larger(moved, magnitude(pulled[j]) / at_.column_unit[j]);
    }
  }
  for (int c = 0; c < equations_; ++c) {
    const int i = equation_[c];
    if (!is_edge(i)) {
      at_.multiplier[i] += step[n_ + c];
      continue;
    }
    double size = 0.0, change = 0.0;
    for (int k = i; k < r_ && owner_[k] == i; ++k) {
      size = kernels::larger(size, magnitude(at_.slack[k]));
      change = kernels::larger(change, magnitude(at_.slack[k] - before[k]));
      at_.tau[k] += step[n_ + c];
    }
    const double turn = change / size + magnitude(step[n_ + c] / at_.tau[i]);
    turn_ = turn <= turn_ ? turn_ : turn;  // NaN stays
  }
  for (int i = m_; i < r_; ++i) {
    if (is_edge(i)) at_.multiplier[i] = at_.tau[i] * reflect(i) * at_.slack[i];
  }
  for (int i = 0; i < r_ && !dependent_; ++i) {  // else they are not unique
    moved = kernels::larger(moved, at_.feel[i] * magnitude(at_.multiplier[i] - at_.theta[i]));
  }
  return moved;
}

CAROM_HOST_DEVICE inline void QpDerivative::descent(double* to) const {
  if (long_) {
    int j = 0;
    for (; j + kSideBySide <= n_; j += kSideBySide) long_descent<kSideBySide>(j, to);
    for (; j < n_; ++j) long_descent<1>(j, to);
    return;
  }
  for (int j = 0; j < n_; ++j) to[j] = problem_.vector[j];
  add_hessian_times(at_.x, to);
  add_rows_times(at_.multiplier, to);
  for (int j = 0; j < n_; ++j) to[j] = -to[j];
}

template <int kColumns>
CAROM_HOST_DEVICE void QpDerivative::long_descent(int first, double* to) const {
  LongSum<double> sum[kColumns];
  for (int c = 0; c < kColumns; ++c) sum[c] = LongSum<double>(problem_.vector[first + c]);
  for (int k = 0; k < n_; ++k) {
    for (int c = 0; c < kColumns; ++c) {
      const double entry = hessian(k, first + c);
      sum[c].add_product(entry, at_.x[k]);
      sum[c].add_rest(entry * at_.x_rest[k]);
    }
  }
  for (int i = 0; i < r_; ++i) {
    const double z = at_.multiplier[i];
    if (z == 0.0) continue;
    const double* of = row(i) + first;
    for (int c = 0; c < kColumns; ++c) sum[c].add_product(of[c], z);
    if (!is_edge(i)) continue;  // what z = tau R s leaves
    const double tau = at_.tau[i] * reflect(i);
    const double left = kernels::fused(tau, at_.slack[i], -z) + tau * at_.slack_rest[i];
    for (int c = 0; c < kColumns; ++c) sum[c].add_rest(of[c] * left);
  }
  for (int c = 0; c < kColumns; ++c) to[first + c] = -sum[c].value();
}

template <int kRows>
CAROM_HOST_DEVICE void QpDerivative::long_slacks(int first, LongSum<double>* to) const {
  for (int k = 0; k < kRows; ++k) to[k] = LongSum<double>(bound(first + k));
  for (int j = 0; j < n_; ++j) {
    for (int k = 0; k < kRows; ++k) {
      const double entry = -row(first + k)[j];
      to[k].add_product(entry, at_.x[j]);
      to[k].add_rest(entry * at_.x_rest[j]);
    }
  }
}

CAROM_HOST_DEVICE inline void QpDerivative::put_long_slacks() {
  for (int i = m_; i < r_;) {
    int count = 0;
    while (count < kSideBySide && i + count < r_ && in_cone(i + count)) ++count;
    LongSum<double> slack[kSideBySide];
    if (count == kSideBySide) {
      long_slacks<kSideBySide>(i, slack);
    } else if (count > 0) {
      count = 1;
      long_slacks<1>(i, slack);
    }
    for (int k = 0; k < count; ++k) {
      at_.slack[i + k] = slack[k].value();
      at_.slack_rest[i + k] = slack[k].rest();
    }
    i += count > 0 ? count : 1;
  }
}

CAROM_HOST_DEVICE inline void QpDerivative::advance(const double* step) {
  for (int j = 0; j < n_; ++j) {
    if (!long_) {
      at_.x[j] += step[j];
      continue;
    }
    LongSum<double> sum(at_.x[j]);
    sum.add(step[j]);
    sum.add_rest(at_.x_rest[j]);
    at_.x[j] = sum.value();
    at_.x_rest[j] = sum.rest();
  }
}

CAROM_HOST_DEVICE inline void QpDerivative::clean() {
  for (int i = 0; i < r_; ++i) {
    if (mode_[i] != static_cast<int>(RowMode::held)) at_.multiplier[i] = 0.0;
  }
}

}  // namespace carom::derivatives
