#pragma once

#include <carom/certificate_derivative.hpp>
#include <carom/device/arena.hpp>
#include <carom/types/derivative_compliant.hpp>

#include "compliant/kernels/compliant_centripetal.hpp"
#include "core/pointers.hpp"
#include "programs/derivatives/kernels/dense.hpp"
#include "programs/derivatives/kernels/doubtful.hpp"
#include "programs/derivatives/kernels/report.hpp"

/// Derivatives of a compliant step under the law complementarity: docs/explanation/derivatives.md.
namespace carom::derivatives {

struct StepView : CompliantBatchArrays<ConstPointer> {};
struct StepDirectionView : CompliantDirectionArrays<ConstPointer> {};
struct StepGradientView : CompliantDirectionArrays<Pointer> {};
struct StepCotangentView : CompliantCotangentArrays<ConstPointer> {};
struct StepTangentView {
  double* velocity;
  double* increment;
  double* force;
  double* kinetic_energy;
};

/// Modes of a row that carries: what its equation is.
enum class StepMode : int {
  open,    ///< p = 0
  closed,  ///< F = 0: bilateral, closed, sticking
  slide,   ///< p_t |F_t| + mu p_n F_t = 0, of a tangent
};

/// n velocities, r rows.
template <class Memory>
struct StepModesLayout {
  Memory mass;      ///< Cholesky factor of M, its diagonal by inverses, [n, n]
  Memory velocity;  ///< v', polished
  Memory push;      ///< v0 = v + h M^-1 f
  Memory flexible;  ///< M^-1 G_i', [r, n]
  Memory delassus;  ///< W, [r, r]
  Memory constant;  ///< u
  Memory impulse;   ///< p
  Memory flow;      ///< F
  Memory unit;      ///< of an impulse of the row
  Memory weight;    ///< rho = 1 / W_ii
  Memory factors;
  Memory schur, size, work;
  Memory source, test;  ///< of doubtful conditions: U and N', [r, r] each
  Memory touch, theta, direct;
  Memory g, y, extra, psi, psi_other, row;  ///< [r]
  Memory lambda, lambda_other, column;      ///< [n]
  Memory slip;                              ///< n or F^ of a contact at its tangents, [r]
  Memory hat;           ///< Cholesky factors of D of each kind of rows, diagonals by inverses
  Memory moment, turn;  ///< m = M^ (dG/dt) v, and its adjoint, [r]
  Memory along_moment, along_turn;  ///< M^-1 G'm and M^-1 G't of each kind, [5 n]

  StepModesLayout() = default;
  CAROM_INLINE constexpr StepModesLayout(kernels::Arena<Memory>& arena, long n, long r)
      : mass(arena.take(n * n)),
        velocity(arena.take(n)),
        push(arena.take(n)),
        flexible(arena.take(r * n)),
        delassus(arena.take(r * r)),
        constant(arena.take(r)),
        impulse(arena.take(r)),
        flow(arena.take(r)),
        unit(arena.take(r)),
        weight(arena.take(r)),
        factors(arena.take(kernels::values_of<FactorsLayout>(r))),
        schur(arena.take(r * r)),
        size(arena.take(r)),
        work(arena.take(doubtful_workspace(r))),
        source(arena.take(r * r)),
        test(arena.take(r * r)),
        touch(arena.take(r)),
        theta(arena.take(r)),
        direct(arena.take(r)),
        g(arena.take(r)),
        y(arena.take(r)),
        extra(arena.take(r)),
        psi(arena.take(r)),
        psi_other(arena.take(r)),
        row(arena.take(r)),
        lambda(arena.take(n)),
        lambda_other(arena.take(n)),
        column(arena.take(n)),
        slip(arena.take(r)),
        hat(arena.take(r * r)),
        moment(arena.take(r)),
        turn(arena.take(r)),
        along_moment(arena.take(kernels::kRowGroups * n)),
        along_turn(arena.take(kernels::kRowGroups * n)) {}
};
CAROM_HOST_DEVICE constexpr long step_derivative_reals(int n, int r) {
  return kernels::values_of<StepModesLayout>(static_cast<long>(n), static_cast<long>(r));
}
CAROM_HOST_DEVICE constexpr long step_derivative_ints(int r) { return 9L * r; }

struct StepShape {
  int velocities, rows, positions;
};

/// One step with its answer; modes() comes first. Rows that exert nothing, absent or with K = B =
/// 0, are left out: k counts the rows that carry.
class StepDerivative {
 public:
  CAROM_INLINE StepDerivative(const StepShape& shape, const StepView& problem, bool centripetal,
                              const DerivativeRules& rules, double* reals, int* ints)
      : shape_(shape),
        n_(shape.velocities),
        problem_(problem),
        centripetal_(centripetal),
        rules_(rules),
        at_(kernels::placed<StepModesLayout>(reals, static_cast<long>(n_),
                                             static_cast<long>(shape.rows))),
        row_(ints),
        normal_(ints + 1L * shape.rows),
        mode_(ints + 2L * shape.rows),
        doubt_(ints + 3L * shape.rows),
        doubtful_(ints + 4L * shape.rows),
        basic_(ints + 5L * shape.rows),
        pivots_(ints + 6L * shape.rows),
        before_(ints + 7L * shape.rows),
        picked_(ints + 8L * shape.rows),
        factors_(at_.factors, pivots_, shape.rows),
        h_(problem.step_size[0]) {}

  CAROM_HOST_DEVICE bool modes(const double* force, Report& report) {
    if (!carry(force)) return false;
    report.status = Smoothness::undefined;
    if (!prepare()) return false;
    flow();
    measure();
    if (!(wrong() <= kLargestShift)) {
      report.status = Smoothness::not_solved;
      return false;
    }
    double tolerance = rules_.margin_tolerance;
    split(tolerance);
    report.shift = 0.0;
    bool stale = true;  // whether the factors are others' than the modes'
    for (int round = 0; round < 5; ++round) {
      if (!assemble()) {
        report.margin = margin_;
        return false;
      }
      const double moved = newton();
      report.shift = kernels::larger(report.shift, moved);
      flow();
      measure();
      tolerance = kernels::larger(rules_.margin_tolerance, 10.0 * moved);
      // Modes that do not settle have gaps about as large as what polishing moved.
      if (round >= 3) tolerance = kernels::larger(tolerance, 10.0 * report.shift);
      const bool changed = split(tolerance);
      stale =
          changed || slides_;  // a slide's equation changes with its flow, however small that is
      if (!changed && moved <= 1e-13) break;
    }
    report.margin = margin_;
    report.doubtful = doubtfuls_;
    if (!(report.shift <= kLargestShift) || !(wrong() <= 10.0 * tolerance)) return false;
    if (stale && !assemble()) return false;
    finish();
    report.condition = factors_.condition();
    // Each mode's determinant is positive unless friction has turned an answer over, beside which
    // there are others.
    report.status = factors_.sign() > 0 ? Smoothness::smooth : Smoothness::set_valued;
    if (doubtfuls_ > 0) {
      reduce();
      if (!shown_unique(doubtfuls_, at_.schur, at_.size, at_.work)) {
        report.status = Smoothness::set_valued;
      }
    }
    return true;
  }

  CAROM_HOST_DEVICE bool adjoint(const StepCotangentView& cotangent,
                                 const StepGradientView& gradient, Report& report) {
    if (moment_refuses(gradient.jacobian_dot_v != nullptr,
                       gradient.jacobian != nullptr || gradient.mass_matrix != nullptr)) {
      report.status = Smoothness::undefined;
      return none(gradient);
    }
    // g_v and g_p, the losses' gradients in v' and p.
    double* pull = at_.column;
    const double energy = cotangent.kinetic_energy != nullptr ? *cotangent.kinetic_energy : 0.0;
    for (int j = 0; j < n_; ++j) {
      double value = cotangent.velocity != nullptr ? cotangent.velocity[j] : 0.0;
      if (energy != 0.0) {
        double momentum = 0.0;
        for (int l = 0; l < n_; ++l) momentum += mass(j, l) * at_.velocity[l];
        value += energy * momentum;
      }
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
      double value = cotangent.force != nullptr ? cotangent.force[row_[k]] / h_ : 0.0;
      for (int j = 0; j < n_; ++j) value += flexible(k)[j] * pull[j];
      at_.g[k] = value;
      at_.y[k] = value;
    }
    factors_.solve_transposed(at_.y);
    bool seen = false;
    const int b = doubtfuls_;
    for (int d = 0; d < b; ++d) {
      double value = 0.0, size = 0.0;
      for (int k = 0; k < count_; ++k) {
        const double term = at_.source[d * count_ + k] * at_.y[k];
        value += term;
        size += magnitude(term);
      }
      at_.touch[d] = value;
      seen = seen || magnitude(value) > (kUnseen + 4e-16 * report.condition) * size;
    }
    // A contact that touches without slip may take any direction of friction.
    const bool open_ended = loose_ > 0 && any_seen(at_.y);
    if (report.status == Smoothness::smooth && (seen || open_ended)) {
      report.status = Smoothness::kink;
    }
    AtKink element = AtKink::free;
    const bool kink = report.status == Smoothness::kink;
    if (kink) element = rules_.at_kink;
    if (element == AtKink::nan) return none(gradient);
    report.residual = 0.0;
    for (int k = 0; k < count_; ++k) at_.psi[k] = 0.0;
    for (int d = 0; d < b; ++d) at_.direct[d] = 0.0;
    double* total = at_.extra;
    for (int k = 0; k < count_; ++k) total[k] = 0.0;
    if (!kink || b == 0) {
      for (int k = 0; k < count_; ++k) total[k] = at_.y[k];
      report.residual = residual_of(total);
    } else {
      const bool both = element == AtKink::mean;
      const double share = both ? 0.5 : 1.0;
      for (int part = 0; part < 2; ++part) {
        const bool held = part == 0;
        if (!both && held != (element == AtKink::held)) continue;
        if (!add_element(held, share, total)) {
          report.status = Smoothness::undefined;
          return none(gradient);
        }
      }
      report.residual = residual_of(at_.y);
    }
    if (!certified(report, rules_)) return none(gradient);
    write(cotangent, gradient, total, energy, pull);
    report.reach = b + loose_ > 0 ? 0.0 : reach_down(gradient);
    return true;
  }

  CAROM_HOST_DEVICE bool tangent(const StepDirectionView& d, const StepTangentView& out,
                                 Report& report) {
    if (moment_refuses(d.jacobian_dot_v != nullptr,
                       d.jacobian != nullptr || d.mass_matrix != nullptr)) {
      report.status = Smoothness::undefined;
    }
    change(d);
    const int b = doubtfuls_;
    solve_change(d);
    bool moved = false;
    for (int i = 0; i < b; ++i) {
      double size = 0.0;
      const double value = condition_of(i, at_.y, d, size);
      at_.touch[i] = magnitude(value) > kUnseen * size ? value : 0.0;
      at_.theta[i] = 0.0;
      moved = moved || at_.touch[i] != 0.0;
    }
    if (loose_ > 0) report.status = Smoothness::undefined;
    if (report.status == Smoothness::smooth && moved) report.status = Smoothness::kink;
    if (report.status == Smoothness::kink) {
      if (!solve_doubtful(b, at_.schur, at_.touch, at_.theta, basic_, at_.work)) {
        report.status = Smoothness::undefined;
      }
      for (int i = 0; i < b; ++i) {
        if (!(at_.theta[i] > 0.0)) continue;
        for (int k = 0; k < count_; ++k) at_.extra[k] = at_.source[i * count_ + k];
        solve_modes(at_.extra);
        for (int k = 0; k < count_; ++k) at_.y[k] += at_.theta[i] * at_.extra[k];
      }
    }
    if (report.status != Smoothness::undefined) report.residual = tangent_residual(d);
    const bool fine = report.status != Smoothness::undefined && certified(report, rules_);
    for (int i = 0; i < shape_.rows; ++i) out.force[i] = fine ? 0.0 : kNone;
    const double dh = d.step_size != nullptr ? d.step_size[0] : 0.0;
    // dv' = what parameters do at fixed p, and M^-1 G'dp.
    double energy = 0.0;
    for (int j = 0; j < n_; ++j) {
      double value = at_.lambda[j];
      for (int k = 0; k < count_; ++k) value += flexible(k)[j] * at_.y[k];
      at_.lambda_other[j] = value;
    }
    for (int j = 0; j < n_; ++j) {
      double momentum = 0.0;
      for (int l = 0; l < n_; ++l) {
        momentum += mass(j, l) * at_.velocity[l];
        if (d.mass_matrix != nullptr) {
          energy += 0.5 * d.mass_matrix[static_cast<long>(j) * n_ + l] * at_.velocity[j] *
                    at_.velocity[l];
        }
      }
      energy += momentum * at_.lambda_other[j];
      out.velocity[j] = fine ? at_.lambda_other[j] : kNone;
    }
    *out.kinetic_energy = fine ? energy : kNone;
    if (shape_.positions == 0) {
      for (int j = 0; j < n_; ++j) {
        out.increment[j] = fine ? h_ * at_.lambda_other[j] + dh * at_.velocity[j] : kNone;
      }
    }
    for (int i = 0; i < shape_.positions; ++i) {
      double value = 0.0;
      for (int j = 0; j < n_; ++j) {
        const long place = static_cast<long>(i) * n_ + j;
        const double map = problem_.position_map[place];
        value += map * (h_ * at_.lambda_other[j] + dh * at_.velocity[j]);
        if (d.position_map != nullptr) value += h_ * d.position_map[place] * at_.velocity[j];
      }
      out.increment[i] = fine ? value : kNone;
    }
    for (int k = 0; k < count_; ++k) {
      if (fine) out.force[row_[k]] = (at_.y[k] - dh * at_.impulse[k] / h_) / h_;
    }
    if (fine) report.reach = reach_along();
    return fine;
  }

  static CAROM_INLINE void fill(double* to, long count) {
    if (to == nullptr) return;
    for (long i = 0; i < count; ++i) to[i] = kNone;
  }

  CAROM_HOST_DEVICE bool none(const StepGradientView& gradient) const {
    const long r = shape_.rows;
    fill(gradient.step_size, 1);
    fill(gradient.mass_matrix, static_cast<long>(n_) * n_);
    fill(gradient.force, n_);
    fill(gradient.velocity, n_);
    fill(gradient.position_map, static_cast<long>(shape_.positions) * n_);
    fill(gradient.jacobian, r * n_);
    for (double* rows : {gradient.jacobian_dot_v, gradient.phi, gradient.stiffness,
                         gradient.damping, gradient.friction}) {
      fill(rows, r);
    }
    return false;
  }

 private:
  CAROM_INLINE double mass(int i, int j) const {
    return problem_.mass_matrix[static_cast<long>(i) * n_ + j];
  }
  CAROM_INLINE const double* jacobian(int k) const {
    return problem_.jacobian + static_cast<long>(row_[k]) * n_;
  }
  CAROM_INLINE double* flexible(int k) const { return at_.flexible + static_cast<long>(k) * n_; }
  CAROM_INLINE double w(int k, int l) const {
    return at_.delassus[static_cast<long>(k) * count_ + l];
  }
  CAROM_INLINE double rate(int k) const {  // s = h K + B
    return h_ * problem_.stiffness[row_[k]] + problem_.damping[row_[k]];
  }
  CAROM_INLINE double eta(int k) const { return h_ * rate(k); }
  CAROM_INLINE bool is_tangent(int k) const { return normal_[k] != k; }
  CAROM_INLINE bool is_bilateral(int k) const {
    return problem_.type[row_[k]] == RowType::bilateral;
  }
  CAROM_INLINE double friction(int k) const { return problem_.friction[row_[normal_[k]]]; }
  /// Tangents of normal k, which follow it.
  CAROM_INLINE int tangents(int k) const {
    int count = 0;
    while (k + count + 1 < count_ && normal_[k + count + 1] == k) ++count;
    return count;
  }
  CAROM_INLINE double length(const double* values, int k, int tangent_count) const {
    double sum = 0.0;
    for (int t = 1; t <= tangent_count; ++t) sum += values[k + t] * values[k + t];
    return kernels::square_root(sum);
  }

  /// The rows that carry, with their impulses. False where a number is not finite.
  CAROM_HOST_DEVICE bool carry(const double* force) {
    count_ = 0;
    int normal = -1;  // of the contact, -1 where its tangents exert nothing
    for (int i = 0; i < shape_.rows; ++i) {
      const RowType type = problem_.type[i];
      if (!kernels::is_finite(force[i])) return false;
      if (type == RowType::none) continue;
      const bool carries = h_ * (h_ * problem_.stiffness[i] + problem_.damping[i]) > 0.0;
      if (type == RowType::tangent) {
        if (normal < 0 || !carries) continue;
      } else {
        normal = -1;
        if (!carries) continue;
      }
      row_[count_] = i;
      at_.impulse[count_] = h_ * force[i];
      if (type == RowType::normal) {
        bool all = true;  // tangents limit each other: one without a damper lets none exert
        for (int t = i + 1; t < shape_.rows && problem_.type[t] == RowType::tangent; ++t) {
          all = all && h_ * problem_.stiffness[t] + problem_.damping[t] > 0.0;
        }
        normal = all ? count_ : -1;
      }
      normal_[count_] = type == RowType::tangent ? normal : count_;
      mode_[count_] = 0;
      ++count_;
    }
    return true;
  }

  /// Cholesky of M, M^-1 G', W and u. False where M is not definite.
  CAROM_HOST_DEVICE bool prepare() {
    for (int i = 0; i < n_; ++i) {
      for (int j = 0; j <= i; ++j) {
        double sum = mass(i, j);
        for (int l = 0; l < j; ++l) sum -= at_.mass[i * n_ + l] * at_.mass[j * n_ + l];
        if (i == j) {
          if (!(sum > 0.0)) return false;
          at_.mass[i * n_ + i] = 1.0 / kernels::square_root(sum);
        } else {
          at_.mass[i * n_ + j] = sum * at_.mass[j * n_ + j];
        }
      }
    }
    for (int j = 0; j < n_; ++j) at_.push[j] = problem_.force[j];
    over_mass(at_.push);
    for (int j = 0; j < n_; ++j) at_.push[j] = problem_.velocity[j] + h_ * at_.push[j];
    for (int k = 0; k < count_; ++k) {
      for (int j = 0; j < n_; ++j) flexible(k)[j] = jacobian(k)[j];
      over_mass(flexible(k));
    }
    moves_ = false;
    for (int k = 0; k < count_; ++k) {
      at_.moment[k] = 0.0;
      moves_ = moves_ || (centripetal_ && problem_.jacobian_dot_v[row_[k]] != 0.0);
    }
    if (moves_) {
      factor_kinds();
      if (mixed_) return false;
      for (int k = 0; k < count_; ++k) at_.moment[k] = problem_.jacobian_dot_v[row_[k]];
      over_kinds(at_.moment);
      push_back(at_.moment, at_.along_moment);
    }
    for (int k = 0; k < count_; ++k) {
      for (int l = 0; l <= k; ++l) {
        double sum = 0.0;
        for (int j = 0; j < n_; ++j) sum += jacobian(k)[j] * flexible(l)[j];
        if (k == l) sum += 1.0 / eta(k);
        at_.delassus[static_cast<long>(k) * count_ + l] = sum;
        at_.delassus[static_cast<long>(l) * count_ + k] = sum;
      }
      at_.weight[k] = 1.0 / w(k, k);
      double sum = bias(k);
      for (int j = 0; j < n_; ++j) sum += jacobian(k)[j] * at_.push[j];
      at_.constant[k] = sum;
    }
    return true;
  }
  CAROM_INLINE double bias(int k) const {
    const int i = row_[k];
    return h_ * problem_.jacobian_dot_v[i] + spring(k) / rate(k);
  }
  /// K phi + m.
  CAROM_INLINE double spring(int k) const {
    return problem_.stiffness[row_[k]] * problem_.phi[row_[k]] + at_.moment[k];
  }

  // The centripetal term m = M^ (dG/dt) v, M^ = (G M^-1 G')^-1 of each kind of rows, on the first
  // rows of a kind that are independent, as the solver has it.

  CAROM_INLINE int kind_of(int i) const { return kernels::row_group(problem_.type, i); }
  CAROM_HOST_DEVICE void factor_kinds() {
    // A row that exerts nothing belongs to its kind all the same, and is not among these.
    mixed_ = redundant_ = false;
    for (int i = 0, k = 0; i < shape_.rows; ++i) {
      if (k < count_ && row_[k] == i) {
        ++k;
        continue;
      }
      for (int l = 0; l < count_; ++l) mixed_ = mixed_ || kind_of(row_[l]) == kind_of(i);
    }
    int taken[kernels::kRowGroups] = {};
    for (int k = 0; k < count_; ++k) {
      const int kind = kind_of(row_[k]);
      double* lower = at_.hat + static_cast<long>(k) * count_;
      picked_[k] = 0;
      double diagonal = 0.0;
      for (int j = 0; j < n_; ++j) diagonal += jacobian(k)[j] * flexible(k)[j];
      double pivot = diagonal;
      for (int l = 0; l < k; ++l) {
        if (picked_[l] == 0 || kind_of(row_[l]) != kind) continue;
        const double* earlier = at_.hat + static_cast<long>(l) * count_;
        double sum = 0.0;
        for (int j = 0; j < n_; ++j) sum += jacobian(k)[j] * flexible(l)[j];
        for (int j = 0; j < l; ++j) {
          if (picked_[j] != 0 && kind_of(row_[j]) == kind) sum -= lower[j] * earlier[j];
        }
        lower[l] = sum * earlier[l];
        pivot -= lower[l] * lower[l];
      }
      if (!(pivot > kernels::kIndependent * diagonal) || taken[kind] == n_) {
        redundant_ = true;
        continue;
      }
      picked_[k] = 1;
      ++taken[kind];
      lower[k] = 1.0 / kernels::square_root(pivot);
    }
  }
  /// x := M^ x, kind by kind; zero at rows that depend on others of their kind.
  CAROM_HOST_DEVICE void over_kinds(double* x) const {
    for (int k = 0; k < count_; ++k) {
      if (picked_[k] == 0) {
        x[k] = 0.0;
        continue;
      }
      const double* lower = at_.hat + static_cast<long>(k) * count_;
      for (int l = 0; l < k; ++l) {
        if (picked_[l] != 0 && kind_of(row_[l]) == kind_of(row_[k])) x[k] -= lower[l] * x[l];
      }
      x[k] *= lower[k];
    }
    for (int k = count_ - 1; k >= 0; --k) {
      if (picked_[k] == 0) continue;
      for (int l = k + 1; l < count_; ++l) {
        if (picked_[l] == 0 || kind_of(row_[l]) != kind_of(row_[k])) continue;
        x[k] -= at_.hat[static_cast<long>(l) * count_ + k] * x[l];
      }
      x[k] *= at_.hat[static_cast<long>(k) * count_ + k];
    }
  }
  /// M^-1 G'x of each kind's rows.
  CAROM_HOST_DEVICE void push_back(const double* x, double* to) const {
    for (int j = 0; j < kernels::kRowGroups * n_; ++j) to[j] = 0.0;
    for (int k = 0; k < count_; ++k) {
      double* own = to + kind_of(row_[k]) * n_;
      for (int j = 0; j < n_; ++j) own[j] += flexible(k)[j] * x[k];
    }
  }
  /// Whether the derivative asks for what m does not have.
  CAROM_HOST_DEVICE bool moment_refuses(bool rates, bool geometry) {
    if (!centripetal_ || (!rates && !moves_)) return false;
    if (!moves_) factor_kinds();
    return mixed_ || (moves_ && redundant_ && geometry);
  }
  /// x := M^-1 x.
  CAROM_HOST_DEVICE void over_mass(double* x) const {
    for (int i = 0; i < n_; ++i) {
      double sum = x[i];
      for (int j = 0; j < i; ++j) sum -= at_.mass[i * n_ + j] * x[j];
      x[i] = sum * at_.mass[i * n_ + i];
    }
    for (int i = n_ - 1; i >= 0; --i) {
      double sum = x[i];
      for (int j = i + 1; j < n_; ++j) sum -= at_.mass[j * n_ + i] * x[j];
      x[i] = sum * at_.mass[i * n_ + i];
    }
  }

  CAROM_HOST_DEVICE void flow() {
    for (int k = 0; k < count_; ++k) {
      double sum = at_.constant[k];
      for (int l = 0; l < count_; ++l) sum += w(k, l) * at_.impulse[l];
      at_.flow[k] = sum;
    }
  }

  /// Units of impulses: rho times the terms of F or, if that is more, what the largest row would
  /// have there (p / sqrt(rho) is the root of an energy in all rows); a contact's rows share
  /// theirs.
  CAROM_HOST_DEVICE void measure() {
    double energy = 0.0;
    for (int k = 0; k < count_; ++k) {
      const int i = row_[k];
      double size =
          magnitude(h_ * problem_.jacobian_dot_v[i]) +
          (magnitude(problem_.stiffness[i] * problem_.phi[i]) + magnitude(at_.moment[k])) / rate(k);
      for (int j = 0; j < n_; ++j) {
        const double v = problem_.velocity[j];
        size += magnitude(jacobian(k)[j]) * (magnitude(v) + magnitude(at_.push[j] - v));
      }
      for (int l = 0; l < count_; ++l) size += magnitude(w(k, l) * at_.impulse[l]);
      at_.unit[k] = at_.weight[k] * size;
      energy = kernels::larger(energy, at_.unit[k] / kernels::square_root(at_.weight[k]));
    }
    for (int k = 0; k < count_; ++k) {
      at_.unit[k] = kernels::larger(at_.unit[k], kernels::square_root(at_.weight[k]) * energy);
      if (!(at_.unit[k] > 0.0)) at_.unit[k] = 1.0;
    }
    for (int k = 0; k < count_; ++k) {
      if (!is_tangent(k)) continue;
      at_.unit[normal_[k]] = kernels::larger(at_.unit[normal_[k]], at_.unit[k]);
    }
    for (int k = 0; k < count_; ++k) at_.unit[k] = at_.unit[normal_[k]];
  }

  /// What the answer misses of its laws, in units: an answer of another problem is seen by it.
  CAROM_HOST_DEVICE double wrong() const {
    double worst = 0.0;
    for (int k = 0; k < count_; ++k) {
      if (is_tangent(k)) continue;
      const double f = at_.weight[k] * at_.flow[k] / at_.unit[k];
      const double p = at_.impulse[k] / at_.unit[k];
      if (is_bilateral(k)) {
        worst = kernels::larger(worst, magnitude(f));
        continue;
      }
      worst = kernels::larger(worst, kernels::larger(-f, -p));
      worst = kernels::larger(worst, kernels::smaller(magnitude(f), magnitude(p)));
      const int t = tangents(k);
      if (t == 0) continue;
      const double excess =
          (length(at_.impulse, k, t) - friction(k) * kernels::at_least_zero(at_.impulse[k])) /
          at_.unit[k];
      worst = kernels::larger(worst, excess);
      const double slip = at_.weight[k + 1] * length(at_.flow, k, t) / at_.unit[k];
      if (friction(k) > 0.0 && at_.impulse[k] > 0.0) {
        worst = kernels::larger(worst, kernels::smaller(slip, -excess));
      }
    }
    return worst;
  }

  /// doubt_: 0 none, 1 touching, 2 on the border of stick and slip.
  CAROM_HOST_DEVICE bool split(double tolerance) {
    bool changed = false;
    doubtfuls_ = loose_ = 0;
    slides_ = false;
    margin_ = kernels::kInfinity;
    for (int k = 0; k < count_; ++k) {
      before_[k] = mode_[k] + 8 * doubt_[k];
      doubt_[k] = 0;
      if (is_tangent(k)) continue;
      mode_[k] = static_cast<int>(StepMode::closed);
      if (is_bilateral(k)) continue;
      const double open = at_.weight[k] * at_.flow[k] / at_.unit[k];
      const double closed = at_.impulse[k] / at_.unit[k];
      double gap = kernels::larger(open, closed);
      margin_ = kernels::smaller(margin_, gap > 0.0 ? gap : 0.0);
      const bool touching = !(gap > tolerance);
      const bool is_open = touching || open > closed;
      if (is_open) mode_[k] = static_cast<int>(StepMode::open);
      const int t = tangents(k);
      const double slip = t > 0 ? at_.weight[k + 1] * length(at_.flow, k, t) / at_.unit[k] : 0.0;
      if (touching) {
        doubt_[k] = 1;
        doubtful_[doubtfuls_++] = k;
        if (t > 0 && friction(k) > 0.0 && !(slip > tolerance)) ++loose_;
      }
      StepMode tangent = StepMode::open;
      if (!is_open && t > 0) {
        const double inside =
            (friction(k) * at_.impulse[k] - length(at_.impulse, k, t)) / at_.unit[k];
        if (friction(k) == 0.0) {
          if (slip > tolerance) tangent = StepMode::slide;
        } else {
          gap = kernels::larger(inside, slip);
          margin_ = kernels::smaller(margin_, gap > 0.0 ? gap : 0.0);
          tangent = inside >= slip ? StepMode::closed : StepMode::slide;
          if (!(gap > tolerance)) {
            doubt_[k] = 2;
            doubtful_[doubtfuls_++] = k;
            tangent = StepMode::closed;
          }
        }
      }
      slides_ = slides_ || tangent == StepMode::slide;
      for (int c = 1; c <= t; ++c) mode_[k + c] = static_cast<int>(tangent);
      // Directions: of slip, or of the friction that it would begin against.
      const double* along = doubt_[k] == 2 ? at_.impulse : at_.flow;
      const double size = length(along, k, t);
      for (int c = 1; c <= t; ++c) at_.slip[k + c] = size > 0.0 ? along[k + c] / size : 0.0;
    }
    for (int k = 0; k < count_; ++k) {
      if (is_tangent(k)) doubt_[k] = 0;
      changed = changed || before_[k] != mode_[k] + 8 * doubt_[k];
    }
    return changed;
  }

  /// f(row of the law, its E_F entries into, E_p entries into): J = E_F W + E_p.
  CAROM_HOST_DEVICE bool assemble() {
    double* a = factors_.matrix();
    for (int k = 0; k < count_; ++k) {
      double* to = a + static_cast<long>(k) * count_;
      for (int l = 0; l < count_; ++l) to[l] = 0.0;
      each_flow(k, [&](int l, double share) {
        for (int m = 0; m < count_; ++m) to[m] += share * w(l, m);
      });
      each_impulse(k, [&](int l, double share) { to[l] += share; });
    }
    return factors_.factor(count_);
  }
  /// f(l, E_F entry (k, l)).
  template <class F>
  CAROM_INLINE void each_flow(int k, F&& f) const {
    const auto mode = static_cast<StepMode>(mode_[k]);
    if (mode == StepMode::open) return;
    if (mode == StepMode::closed) return f(k, 1.0);
    const int n = normal_[k], t = tangents(n);
    for (int c = 1; c <= t; ++c) {
      const double direct = n + c == k ? friction(k) * at_.impulse[n] : 0.0;
      f(n + c, direct + at_.impulse[k] * at_.slip[n + c]);
    }
  }
  /// f(l, E_p entry (k, l)).
  template <class F>
  CAROM_INLINE void each_impulse(int k, F&& f) const {
    const auto mode = static_cast<StepMode>(mode_[k]);
    if (mode == StepMode::open) return f(k, 1.0);
    if (mode == StepMode::closed) return;
    const int n = normal_[k];
    f(k, length(at_.flow, n, tangents(n)));
    f(n, friction(k) * at_.flow[k]);
  }

  CAROM_HOST_DEVICE double newton() {
    double* step = at_.y;
    for (int k = 0; k < count_; ++k) {
      const auto mode = static_cast<StepMode>(mode_[k]);
      double value = mode == StepMode::open ? at_.impulse[k] : at_.flow[k];
      if (mode == StepMode::slide) {
        const int n = normal_[k];
        value = at_.impulse[k] * length(at_.flow, n, tangents(n)) +
                friction(k) * at_.impulse[n] * at_.flow[k];
      }
      step[k] = -value;
    }
    factors_.solve(step);
    double moved = 0.0;
    for (int k = 0; k < count_; ++k) {
      at_.impulse[k] += step[k];
      moved = kernels::larger(moved, magnitude(step[k]) / at_.unit[k]);
    }
    return moved;
  }

  /// v' of the polished impulses.
  CAROM_HOST_DEVICE void finish() {
    for (int j = 0; j < n_; ++j) {
      double sum = at_.push[j];
      for (int k = 0; k < count_; ++k) sum += flexible(k)[j] * at_.impulse[k];
      at_.velocity[j] = sum;
    }
  }

  // Doubtful conditions: 0 <= theta perp N dp + .. >= 0, J dp = .. + U theta. Touching: theta =
  // dp_n with friction against the slip, and dF_n; on the border: theta = -n dF_t and mu dp_n - n
  // dp_t.

  CAROM_HOST_DEVICE void reduce() {
    const int b = doubtfuls_;
    for (int d = 0; d < b; ++d) {
      const int k = doubtful_[d], t = tangents(k);
      double* source = at_.source + static_cast<long>(d) * count_;
      double* test = at_.test + static_cast<long>(d) * count_;
      for (int l = 0; l < count_; ++l) source[l] = test[l] = 0.0;
      if (doubt_[k] == 1) {
        source[k] = 1.0;
        for (int c = 1; c <= t; ++c) source[k + c] = -friction(k) * at_.slip[k + c];
        for (int l = 0; l < count_; ++l) test[l] = w(k, l);
      } else {
        test[k] = friction(k);
        for (int c = 1; c <= t; ++c) {
          source[k + c] = -at_.slip[k + c];
          test[k + c] = -at_.slip[k + c];
        }
      }
    }
    for (int l = 0; l < b; ++l) {
      for (int k = 0; k < count_; ++k) at_.extra[k] = at_.source[static_cast<long>(l) * count_ + k];
      solve_modes(at_.extra);
      for (int d = 0; d < b; ++d) {
        double sum = 0.0, size = 0.0;
        for (int k = 0; k < count_; ++k) {
          const double term = at_.test[static_cast<long>(d) * count_ + k] * at_.extra[k];
          sum += term;
          size += magnitude(term);
        }
        at_.schur[d * b + l] = sum;
        if (d == l) at_.size[d] = size;
      }
    }
  }

  CAROM_INLINE bool any_seen(const double* y) const {
    for (int k = 0; k < count_; ++k) {
      if (doubt_[k] != 1) continue;
      for (int c = 0; c <= tangents(k); ++c) {
        if (y[k + c] != 0.0) return true;
      }
    }
    return false;
  }

  /// Adds share times the adjoint of one element: held keeps touching rows closed and borders
  /// sticking. Its part outside J in direct.
  CAROM_HOST_DEVICE bool add_element(bool held, double share, double* total) {
    const int b = doubtfuls_;
    int n = 0;
    for (int d = 0; d < b; ++d) basic_[d] = (doubt_[doubtful_[d]] == 1) == held ? 1 : 0;
    for (int d = 0; d < b; ++d) n += basic_[d];
    double* a = at_.work;
    double* e = at_.theta;
    int place = 0;
    for (int d = 0; d < b; ++d) {
      if (basic_[d] == 0) continue;
      e[place] = at_.touch[d];
      int column = 0;
      for (int l = 0; l < b; ++l) {
        if (basic_[l] != 0) a[place * n + column++] = at_.schur[l * b + d];
      }
      ++place;
    }
    if (!eliminate(n, a, e)) return false;
    double* more = at_.row;
    for (int k = 0; k < count_; ++k) more[k] = 0.0;
    place = 0;
    for (int d = 0; d < b; ++d) {
      if (basic_[d] == 0) continue;
      for (int k = 0; k < count_; ++k) {
        more[k] += at_.test[static_cast<long>(d) * count_ + k] * e[place];
      }
      at_.direct[d] += share * e[place++];
    }
    factors_.solve_transposed(more);
    for (int k = 0; k < count_; ++k) total[k] += share * (at_.y[k] - more[k]);
    return true;
  }

  /// x := W x by G, M^-1 and the rows' own softness, and the magnitudes of its terms.
  CAROM_HOST_DEVICE void times_delassus(const double* x, double* product, double* size) {
    double* pushed = at_.lambda_other;
    for (int j = 0; j < n_; ++j) pushed[j] = 0.0;
    for (int k = 0; k < count_; ++k) {
      if (x[k] == 0.0) continue;
      for (int j = 0; j < n_; ++j) pushed[j] += flexible(k)[j] * x[k];
    }
    for (int k = 0; k < count_; ++k) {
      double sum = x[k] / eta(k), terms = 0.0;
      for (int j = 0; j < n_; ++j) sum += jacobian(k)[j] * pushed[j];
      for (int l = 0; l < count_; ++l) terms += magnitude(w(k, l) * x[l]);
      product[k] = sum;
      size[k] = terms;
    }
  }

  /// |W E_F'y + E_p'y - g| over its terms, W anew and the modes' definitions.
  CAROM_HOST_DEVICE double residual_of(const double* y) {
    double* sum = at_.row;
    double* size = at_.psi_other;
    double* psi = at_.psi;
    for (int k = 0; k < count_; ++k) psi[k] = 0.0;
    for (int k = 0; k < count_; ++k) {
      each_flow(k, [&](int l, double share) { psi[l] += share * y[k]; });
    }
    times_delassus(psi, sum, size);
    for (int k = 0; k < count_; ++k) {
      sum[k] -= at_.g[k];
      size[k] += magnitude(at_.g[k]);
    }
    for (int k = 0; k < count_; ++k) {
      each_impulse(k, [&](int l, double share) {
        sum[l] += share * y[k];
        size[l] += magnitude(share * y[k]);
      });
    }
    certificate::MaxAbs<> worst;
    for (int k = 0; k < count_; ++k) worst.add(certificate::share_of(sum[k], size[k]));
    return worst.value;
  }

  /// Gradients from the adjoint y and the elements' direct parts.
  CAROM_HOST_DEVICE void write(const StepCotangentView& cotangent, const StepGradientView& gradient,
                               const double* y, double energy, const double* pull) {
    double* psi = at_.psi;
    for (int k = 0; k < count_; ++k) psi[k] = 0.0;
    for (int k = 0; k < count_; ++k) {
      each_flow(k, [&](int l, double share) { psi[l] += share * y[k]; });
    }
    for (int d = 0; d < doubtfuls_; ++d) {
      if (doubt_[doubtful_[d]] == 1) psi[doubtful_[d]] += at_.direct[d];
    }
    if (moves_ || (centripetal_ && gradient.jacobian_dot_v != nullptr)) {
      for (int k = 0; k < count_; ++k) at_.turn[k] = -psi[k] / rate(k);
      over_kinds(at_.turn);
      push_back(at_.turn, at_.along_turn);
    }
    double* lambda = at_.lambda;
    for (int j = 0; j < n_; ++j) {
      double sum = pull[j];
      for (int k = 0; k < count_; ++k) sum -= jacobian(k)[j] * psi[k];
      lambda[j] = sum;
    }
    over_mass(lambda);
    const double* v = at_.velocity;
    if (gradient.mass_matrix != nullptr) {
      for (int i = 0; i < n_; ++i) {
        for (int j = 0; j < n_; ++j) {
          const double one = lambda[i] * (v[j] - problem_.velocity[j]);
          const double other = lambda[j] * (v[i] - problem_.velocity[i]);
          double twist = 0.0;
          for (int kind = 0; kind < kernels::kRowGroups * n_ && moves_; kind += n_) {
            twist += at_.along_turn[kind + i] * at_.along_moment[kind + j] +
                     at_.along_turn[kind + j] * at_.along_moment[kind + i];
          }
          gradient.mass_matrix[static_cast<long>(i) * n_ + j] =
              0.5 * (energy * (v[i] * v[j]) - (one + other) + twist);
        }
      }
    }
    double step = 0.0;
    for (int j = 0; j < n_; ++j) {
      if (gradient.force != nullptr) gradient.force[j] = h_ * lambda[j];
      if (gradient.velocity != nullptr) {
        double momentum = 0.0;
        for (int l = 0; l < n_; ++l) momentum += mass(j, l) * lambda[l];
        gradient.velocity[j] = momentum;
      }
      step += lambda[j] * problem_.force[j];
    }
    const int nq = shape_.positions;
    for (int i = 0; i < (nq > 0 ? nq : n_); ++i) {
      const double asked = cotangent.increment != nullptr ? cotangent.increment[i] : 0.0;
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
    for (int i = 0; i < shape_.rows; ++i) {
      for (double* rows : {gradient.jacobian_dot_v, gradient.phi, gradient.stiffness,
                           gradient.damping, gradient.friction}) {
        if (rows != nullptr) rows[i] = 0.0;
      }
      if (gradient.jacobian == nullptr) continue;
      for (int j = 0; j < n_; ++j) gradient.jacobian[static_cast<long>(i) * n_ + j] = 0.0;
    }
    for (int k = 0; k < count_; ++k) {
      const int i = row_[k];
      const double stiff = problem_.stiffness[i], damp = problem_.damping[i], phi = problem_.phi[i];
      const double s = rate(k), e = eta(k), p = at_.impulse[k];
      if (gradient.jacobian != nullptr) {
        double* to = gradient.jacobian + static_cast<long>(i) * n_;
        for (int j = 0; j < n_; ++j) to[j] = p * lambda[j] - psi[k] * v[j];
      }
      if (gradient.jacobian_dot_v != nullptr) {
        gradient.jacobian_dot_v[i] = -h_ * psi[k] + (centripetal_ ? at_.turn[k] : 0.0);
      }
      if (moves_ && gradient.jacobian != nullptr) {
        double* to = gradient.jacobian + static_cast<long>(i) * n_;
        const int kind = kind_of(i) * n_;
        for (int j = 0; j < n_; ++j) {
          to[j] -=
              at_.turn[k] * at_.along_moment[kind + j] + at_.moment[k] * at_.along_turn[kind + j];
        }
      }
      if (gradient.phi != nullptr) gradient.phi[i] = -psi[k] * stiff / s;
      const double soft = p * h_ / (e * e);
      if (gradient.stiffness != nullptr) {
        gradient.stiffness[i] = -psi[k] * ((phi * damp - h_ * at_.moment[k]) / (s * s) - h_ * soft);
      }
      if (gradient.damping != nullptr) {
        gradient.damping[i] = psi[k] * (spring(k) / (s * s) + soft);
      }
      step += psi[k] * (stiff * spring(k) / (s * s) + p * (2.0 * h_ * stiff + damp) / (e * e) -
                        problem_.jacobian_dot_v[i]);
      if (cotangent.force != nullptr) step -= p / h_ * cotangent.force[i] / h_;
      if (gradient.friction != nullptr && static_cast<StepMode>(mode_[k]) == StepMode::slide) {
        gradient.friction[row_[normal_[k]]] -= at_.impulse[normal_[k]] * y[k] * at_.flow[k];
      }
    }
    for (int d = 0; d < doubtfuls_; ++d) {
      const int k = doubtful_[d];
      if (gradient.friction != nullptr && doubt_[k] == 2) {
        gradient.friction[row_[k]] -= at_.direct[d] * at_.impulse[k];
      }
    }
    if (gradient.step_size != nullptr) *gradient.step_size = step;
  }

  /// lambda: dv' at fixed p; row: dF at fixed p.
  CAROM_HOST_DEVICE void change(const StepDirectionView& d) {
    const double dh = d.step_size != nullptr ? d.step_size[0] : 0.0;
    const double* v = at_.velocity;
    double* dv = at_.lambda;
    for (int i = 0; i < n_; ++i) {
      double sum = dh * problem_.force[i];
      if (d.force != nullptr) sum += h_ * d.force[i];
      for (int j = 0; j < n_; ++j) {
        if (d.mass_matrix != nullptr) {
          sum -= 0.5 *
                 (d.mass_matrix[static_cast<long>(i) * n_ + j] +
                  d.mass_matrix[static_cast<long>(j) * n_ + i]) *
                 (v[j] - problem_.velocity[j]);
        }
        if (d.velocity != nullptr) sum += mass(i, j) * d.velocity[j];
      }
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
      const double stiff = problem_.stiffness[i], damp = problem_.damping[i], phi = problem_.phi[i];
      const double s = rate(k), e = eta(k), p = at_.impulse[k];
      const double dk = d.stiffness != nullptr ? d.stiffness[i] : 0.0;
      const double db = d.damping != nullptr ? d.damping[i] : 0.0;
      double sum = dh * problem_.jacobian_dot_v[i];
      if (d.jacobian_dot_v != nullptr) sum += h_ * d.jacobian_dot_v[i];
      if (d.phi != nullptr) sum += stiff * d.phi[i] / s;
      if (turned) sum += at_.turn[k] / s;
      sum += dk * ((phi * damp - h_ * at_.moment[k]) / (s * s) - p * h_ * h_ / (e * e));
      sum -= db * (spring(k) / (s * s) + p * h_ / (e * e));
      sum -= dh * (stiff * spring(k) / (s * s) + p * (2.0 * h_ * stiff + damp) / (e * e));
      for (int j = 0; j < n_; ++j) {
        sum += jacobian(k)[j] * dv[j];
        if (d.jacobian != nullptr) sum += d.jacobian[static_cast<long>(i) * n_ + j] * v[j];
      }
      at_.row[k] = sum;
    }
  }
  /// turn := dm = M^ (d(dG/dt v) - dD m), dD m = dG M^-1 G'm + G M^-1 (dG'm - dM M^-1 G'm).
  CAROM_HOST_DEVICE void change_moment(const StepDirectionView& d) {
    for (int j = 0; j < kernels::kRowGroups * n_; ++j) at_.along_turn[j] = 0.0;
    for (int k = 0; k < count_ && moves_ && d.jacobian != nullptr; ++k) {
      double* own = at_.along_turn + kind_of(row_[k]) * n_;
      for (int j = 0; j < n_; ++j) {
        own[j] += d.jacobian[static_cast<long>(row_[k]) * n_ + j] * at_.moment[k];
      }
    }
    for (int kind = 0; kind < kernels::kRowGroups * n_ && moves_; kind += n_) {
      double* own = at_.along_turn + kind;
      for (int i = 0; i < n_ && d.mass_matrix != nullptr; ++i) {
        for (int j = 0; j < n_; ++j) {
          own[i] -= 0.5 *
                    (d.mass_matrix[static_cast<long>(i) * n_ + j] +
                     d.mass_matrix[static_cast<long>(j) * n_ + i]) *
                    at_.along_moment[kind + j];
        }
      }
      over_mass(own);
    }
    for (int k = 0; k < count_; ++k) {
      const int kind = kind_of(row_[k]) * n_;
      double sum = d.jacobian_dot_v != nullptr ? d.jacobian_dot_v[row_[k]] : 0.0;
      for (int j = 0; j < n_ && moves_; ++j) {
        sum -= jacobian(k)[j] * at_.along_turn[kind + j];
        if (d.jacobian != nullptr) {
          sum -= d.jacobian[static_cast<long>(row_[k]) * n_ + j] * at_.along_moment[kind + j];
        }
      }
      at_.turn[k] = sum;
    }
    over_kinds(at_.turn);
  }
  CAROM_INLINE double friction_change(const StepDirectionView& d, int k) const {
    return d.friction != nullptr ? d.friction[row_[normal_[k]]] : 0.0;
  }
  /// J^-1 x, where open rows, p = .., are told exactly.
  CAROM_HOST_DEVICE void solve_modes(double* x) {
    for (int k = 0; k < count_; ++k) at_.g[k] = x[k];
    factors_.solve(x);
    for (int k = 0; k < count_; ++k) {
      if (static_cast<StepMode>(mode_[k]) == StepMode::open) x[k] = at_.g[k];
    }
  }
  /// y := dp with the doubtful conditions' theta zero.
  CAROM_HOST_DEVICE void solve_change(const StepDirectionView& d) {
    for (int k = 0; k < count_; ++k) {
      double sum = 0.0;
      each_flow(k, [&](int l, double share) { sum -= share * at_.row[l]; });
      if (static_cast<StepMode>(mode_[k]) == StepMode::slide) {
        sum -= at_.impulse[normal_[k]] * at_.flow[k] * friction_change(d, k);
      }
      at_.y[k] = sum;
    }
    solve_modes(at_.y);
  }
  /// The rate of condition i, and its terms.
  CAROM_HOST_DEVICE double condition_of(int i, const double* dp, const StepDirectionView& d,
                                        double& size) const {
    const int k = doubtful_[i];
    double sum = doubt_[k] == 1 ? at_.row[k] : at_.impulse[k] * friction_change(d, k);
    size = magnitude(sum);
    for (int l = 0; l < count_; ++l) {
      const double term = at_.test[static_cast<long>(i) * count_ + l] * dp[l];
      sum += term;
      size += magnitude(term);
    }
    return sum;
  }

  /// Every law of dp and dF = W dp + .., and the complementarity of the doubtful conditions.
  CAROM_HOST_DEVICE double tangent_residual(const StepDirectionView& d) {
    certificate::MaxAbs<> worst;
    double* df = at_.psi;
    double* size = at_.psi_other;
    times_delassus(at_.y, df, size);
    for (int k = 0; k < count_; ++k) {
      df[k] += at_.row[k];
      size[k] += magnitude(at_.row[k]);
    }
    for (int k = 0; k < count_; ++k) {
      double sum = 0.0, terms = 0.0;
      each_flow(k, [&](int l, double share) {
        sum += share * df[l];
        terms += magnitude(share) * size[l];
      });
      each_impulse(k, [&](int l, double share) {
        sum += share * at_.y[l];
        terms += magnitude(share * at_.y[l]);
      });
      if (static_cast<StepMode>(mode_[k]) == StepMode::slide) {
        const double pushed = at_.impulse[normal_[k]] * at_.flow[k] * friction_change(d, k);
        sum += pushed;
        terms += magnitude(pushed);
      }
      for (int i = 0; i < doubtfuls_; ++i) {
        const double driven = at_.source[static_cast<long>(i) * count_ + k] * at_.theta[i];
        sum -= driven;
        terms += magnitude(driven);
      }
      worst.add(certificate::share_of(sum, terms));
    }
    for (int i = 0; i < doubtfuls_; ++i) {
      double terms = 0.0;
      const double value = condition_of(i, at_.y, d, terms);
      if (at_.theta[i] < 0.0) worst.add(kernels::kInfinity);
      worst.add(at_.theta[i] > 0.0 || value < 0.0 ? certificate::share_of(value, terms) : 0.0);
    }
    return worst.value;
  }

  /// The largest step that keeps the modes to first order, along dp = y and dF = psi.
  CAROM_HOST_DEVICE double reach_along() const {
    const double* dp = at_.y;
    const double* df = at_.psi;
    double reach = kernels::kInfinity;
    if (doubtfuls_ > 0) return 0.0;
    for (int k = 0; k < count_; ++k) {
      if (is_tangent(k) || is_bilateral(k)) continue;
      const bool open = static_cast<StepMode>(mode_[k]) == StepMode::open;
      const double value = open ? at_.flow[k] : at_.impulse[k];
      const double slope = open ? df[k] : dp[k];
      if (slope < 0.0) reach = kernels::smaller(reach, kernels::at_least_zero(value) / -slope);
      const int t = tangents(k);
      if (open || t == 0) continue;
      if (static_cast<StepMode>(mode_[k + 1]) == StepMode::slide) {
        double rate = 0.0;
        for (int c = 1; c <= t; ++c) rate += at_.slip[k + c] * df[k + c];
        if (rate < 0.0) reach = kernels::smaller(reach, length(at_.flow, k, t) / -rate);
      } else if (static_cast<StepMode>(mode_[k + 1]) == StepMode::closed) {
        // (R + t dR)^2 = |p_t + t dp_t|^2
        const double radius = friction(k) * at_.impulse[k], grows = friction(k) * dp[k];
        double a = grows * grows, b = radius * grows, c0 = radius * radius;
        for (int c = 1; c <= t; ++c) {
          a -= dp[k + c] * dp[k + c];
          b -= at_.impulse[k + c] * dp[k + c];
          c0 -= at_.impulse[k + c] * at_.impulse[k + c];
        }
        const double root = b * b - a * c0;
        if (root < 0.0) continue;
        const double down = -b + kernels::square_root(root);
        if (down > 0.0) reach = kernels::smaller(reach, kernels::at_least_zero(c0) / down);
      }
    }
    return reach;
  }

  /// Down the gradient of what was wanted: along minus its arrays.
  CAROM_HOST_DEVICE double reach_down(const StepGradientView& gradient) {
    StepDirectionView d;
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
    solve_change(d);
    for (int k = 0; k < count_; ++k) {
      double sum = at_.row[k];
      for (int l = 0; l < count_; ++l) sum += w(k, l) * at_.y[l];
      at_.psi[k] = -sum;
    }
    for (int k = 0; k < count_; ++k) at_.y[k] = -at_.y[k];
    return reach_along();
  }

  const StepShape& shape_;
  int n_;
  const StepView& problem_;
  bool centripetal_;
  const DerivativeRules& rules_;
  StepModesLayout<double*> at_;
  int* row_;
  int* normal_;
  int* mode_;
  int* doubt_;
  int* doubtful_;
  int* basic_;
  int* pivots_;
  int* before_;
  int* picked_;
  Factors factors_;
  double h_;
  int count_ = 0;
  int doubtfuls_ = 0;
  int loose_ = 0;
  double margin_ = 0.0;
  bool slides_ = false;     // whether any contact slides
  bool moves_ = false;      // whether m is not zero
  bool mixed_ = false;      // a kind has rows that exert nothing
  bool redundant_ = false;  // a kind has rows that depend on each other
};

}  // namespace carom::derivatives
