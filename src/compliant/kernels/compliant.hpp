#pragma once

#include <carom/device/constraint_rows.hpp>
#include <carom/device/numeric.hpp>
#include <carom/types/status.hpp>

#include "compliant/kernels/compliant_centripetal.hpp"
#include "compliant/kernels/compliant_contact.hpp"
#include "compliant/kernels/compliant_pattern.hpp"

/// One compliant step of one world (docs/explanation/compliant.md). With impulses p = h lambda,
/// eta = h^2 K + h B and D = G M^-1 G', a row's spring-damper at the end of the step says
///   F_i = (D p)_i + p_i / eta_i + u_i,   u = G v_free + h (dG/dt) v + (K phi + m) / (h K + B),
/// where F_i = 0 is its law, v_free = v + h M^-1 f and m the centripetal term of (23). Stiffness
/// enters only through 1/eta: K -> infinity is the limit of a rigid constraint, not an overflow.
namespace carom::kernels {

struct CompliantOptions {
  double tolerance = 1e-9;   ///< of the certificate
  double accuracy = 1e-12;   ///< the contact solver's target, relative
  int max_iterations = 100;  ///< of the contact solver
  int tangents = 1;          ///< rows after a normal row
  bool centripetal = true;
};

template <class Memory>
struct CompliantStepLayout {
  Memory matrix;
  Memory contact;
  Memory vector;
  Memory impulse;
  Memory friction;
  Memory centripetal;
  Memory free;

  CAROM_INLINE constexpr CompliantStepLayout(Arena<Memory>& arena, long capacity, long velocities)
      : matrix(arena.take(capacity * capacity)),
        contact(arena.take(contact_workspace(capacity))),
        vector(arena.take(capacity)),
        impulse(arena.take(capacity)),
        friction(arena.take(capacity)),
        centripetal(arena.take(capacity)),
        free(arena.take(velocities)) {}
};
CAROM_HOST_DEVICE constexpr long compliant_step_reals(long capacity, long velocities) {
  return values_of<CompliantStepLayout>(capacity, velocities);
}
CAROM_HOST_DEVICE constexpr long compliant_step_ints(long capacity) { return capacity; }

struct CompliantOutcome {
  Status status;  ///< solved (not yet certified) or numerical_error
  int iterations;
};

/// What became of a step.
struct StepVerdict {
  double residual;  ///< certified
  int iterations;
  bool finite;
};

template <class Target>
class CompliantStep {
 public:
  /// reals, ints: compliant_step_*.
  CAROM_INLINE CompliantStep(int capacity, int velocities, double* reals, int* ints)
      : at_(placed<CompliantStepLayout>(reals, capacity, velocities)),
        picked_(ints),
        velocities_(velocities) {}

  /// task: its rows chosen, its mass the diagonal of M^-1.
  CAROM_CALL CompliantOutcome solve(const CompliantOptions& options, const StepTask& task) {
    const ConstraintRows& rows = task.rows;
    const double* inverse_mass = task.mass;
    const double h = task.step_size;
    order_ = task.order;
    active_ = task.chosen.active;
    bilateral_ = task.chosen.bilateral;
    for (int j = 0; j < velocities_; ++j) {
      at_.free[j] = fused(h * inverse_mass[j], task.force[j], task.v[j]);
    }
    if (options.centripetal) {
      centripetal_force(rows, inverse_mass, at_.contact, picked_, at_.centripetal);
    } else {
      for (int i = 0; i < rows.count; ++i) at_.centripetal[i] = 0.0;
    }
    assemble(rows, inverse_mass, h);
    for (int a = 0; a < active_; ++a) {
      at_.impulse[a] = task.impulse[order_[a]];
      at_.friction[a] = rows.friction[order_[a]];
    }
    if (!eliminate_bilateral()) return {Status::numerical_error, 0};
    ContactOutcome outcome{true, 0};
    if (active_ > bilateral_) {
      ContactSystem system;
      system.rows = active_ - bilateral_;
      system.stride = active_;
      system.bandwidth = bilateral_ > 0 ? system.rows - 1 : bandwidth_;
      system.matrix = at_.matrix + static_cast<long>(bilateral_) * active_ + bilateral_;
      system.vector = at_.vector + bilateral_;
      system.type = task.type + bilateral_;
      system.friction = at_.friction + bilateral_;
      system.tangents = options.tangents;
      ContactNewton<Target> newton(system, at_.contact);
      outcome = newton.solve(at_.impulse + bilateral_, options.accuracy, options.max_iterations);
    }
    back_substitute();
    for (int i = 0; i < rows.count; ++i) task.impulse[i] = 0.0;
    for (int a = 0; a < active_; ++a) task.impulse[order_[a]] = at_.impulse[a];
    apply(rows, inverse_mass, task.impulse, task.next_v);
    return {outcome.finite ? Status::solved : Status::numerical_error, outcome.iterations};
  }

  /// m of the last step, [rows.count]: the certificate wants it.
  [[nodiscard]] CAROM_INLINE const double* centripetal() const { return at_.centripetal; }

 private:
  /// W (lower and upper), u.
  CAROM_INLINE void assemble(const ConstraintRows& rows, const double* inverse_mass, double h) {
    bandwidth_ = 0;
    for (int a = 0; a < active_; ++a) {
      const int i = order_[a];
      for (int b = 0; b < a; ++b) {
        const double value = delassus_entry(rows, inverse_mass, i, order_[b]);
        at(a, b) = at(b, a) = value;
        if (value != 0.0 && a - b > bandwidth_) bandwidth_ = a - b;
      }
      const double rate = fused(h, rows.stiffness[i], rows.damping[i]);
      at(a, a) = delassus_entry(rows, inverse_mass, i, i) + 1.0 / (h * rate);
      double u = fused(h, rows.jacobian_dot_v[i],
                       fused(rows.stiffness[i], rows.phi[i], at_.centripetal[i]) / rate);
      for (int j = rows.begin[i]; j < rows.end[i]; ++j) u = fused(rows.row(i)[j], at_.free[j], u);
      at_.vector[a] = u;
    }
  }

  /// Cholesky of the bilateral block; leaves the Schur complement (the paper's G P G', P of (189))
  /// in the other block and what they leave of u.
  CAROM_INLINE bool eliminate_bilateral() {
    for (int k = 0; k < bilateral_; ++k) {
      if (!(at(k, k) > 0.0) || !is_finite(at(k, k))) return false;
      const double root = square_root(at(k, k));
      at(k, k) = root;
      for (int i = k + 1; i < active_; ++i) at(i, k) /= root;
      at_.vector[k] /= root;
      for (int i = k + 1; i < active_; ++i) {
        const double factor = at(i, k);
        at_.vector[i] = fused(-factor, at_.vector[k], at_.vector[i]);
        for (int j = k + 1; j <= i; ++j) at(i, j) = fused(-factor, at(j, k), at(i, j));
      }
    }
    if (bilateral_ == 0) return true;
    for (int i = bilateral_; i < active_; ++i) {
      for (int j = bilateral_; j < i; ++j) at(j, i) = at(i, j);
    }
    return true;
  }

  CAROM_INLINE void back_substitute() {
    for (int k = bilateral_ - 1; k >= 0; --k) {
      double sum = -at_.vector[k];
      for (int i = k + 1; i < active_; ++i) sum = fused(-at(i, k), at_.impulse[i], sum);
      at_.impulse[k] = sum / at(k, k);
    }
  }

  /// v' = v_free + M^-1 G' p.
  CAROM_INLINE void apply(const ConstraintRows& rows, const double* inverse_mass,
                          const double* impulse, double* next_v) {
    for (int j = 0; j < velocities_; ++j) next_v[j] = 0.0;
    for (int i = 0; i < rows.count; ++i) {
      if (impulse[i] == 0.0) continue;
      for (int j = rows.begin[i]; j < rows.end[i]; ++j) {
        next_v[j] = fused(rows.row(i)[j], impulse[i], next_v[j]);
      }
    }
    for (int j = 0; j < velocities_; ++j) {
      next_v[j] = fused(inverse_mass[j], next_v[j], at_.free[j]);
    }
  }

  CAROM_INLINE double& at(int a, int b) { return at_.matrix[static_cast<long>(a) * active_ + b]; }

  CompliantStepLayout<double*> at_;
  const int* order_ = nullptr;
  int* picked_;
  int velocities_;
  int active_ = 0;
  int bilateral_ = 0;
  int bandwidth_ = 0;
};

}  // namespace carom::kernels
