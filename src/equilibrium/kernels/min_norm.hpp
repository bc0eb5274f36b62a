#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>
#include <carom/device/orthonormal_frame.hpp>

namespace carom::kernels {

/// Contact forces of least norm: min 1/2 sum |f_i|^2 over f_i in exact friction cones with
/// sum E_i f_i = b, E_i f = (f, p_i x f). The dual function of y in R^6,
///   1/2 sum |P_i(E_i'y)|^2 - b'y  with the projections P_i onto the cones,
/// is convex and once differentiable; Newton's method with a generalised Hessian and a line search
/// minimises it, and f_i = P_i(E_i'y) lie in their cones at every step.
class MinNormForces {
 public:
  /// positions p_i [k, 3], unit normals [k, 3]; forces: [k, 3], receives f_i.
  CAROM_INLINE MinNormForces(int contacts, const double* position, const double* normal,
                             const double* friction, double* forces)
      : contacts_(contacts),
        position_(position),
        normal_(normal),
        friction_(friction),
        forces_(forces) {}

  /// Largest component of sum E_i f_i - b at the end; small where the forces balance b.
  CAROM_INLINE double run(const double* b, double tolerance, int max_steps, double* y, int& steps) {
    const double size = square_root(b[0] * b[0] + b[1] * b[1] + b[2] * b[2]);
    for (int j = 0; j < 6; ++j) y[j] = j < 3 && size > 0.0 ? b[j] / contacts_ : 0.0;
    double gradient[6];
    double value = evaluate(b, y, gradient, true);
    for (steps = 0; steps < max_steps; ++steps) {
      double worst = 0.0;
      for (const double g : gradient) worst = larger(worst, magnitude(g));
      if (!(worst > tolerance) || !(worst < kInfinity)) return worst;
      double step[6];
      const double damping = smaller(1e-4, 1e-3 * worst);
      newton_step(gradient, damping, step);
      double slope = 0.0;
      for (int j = 0; j < 6; ++j) slope += gradient[j] * step[j];
      double length = 1.0;
      double trial[6];
      double next[6];
      double reached = value;
      for (int halving = 0; halving < 40; ++halving) {
        for (int j = 0; j < 6; ++j) trial[j] = y[j] + length * step[j];
        reached = evaluate(b, trial, next, true);
        double after = 0.0;
        for (const double g : next) after = larger(after, magnitude(g));
        // Near the end the values differ only by rounding, and the gradients decide.
        if (reached <= value + 1e-4 * length * slope || after <= 0.5 * worst) break;
        length *= 0.5;
      }
      for (int j = 0; j < 6; ++j) {
        y[j] = trial[j];
        gradient[j] = next[j];
      }
      value = reached;
    }
    double worst = 0.0;
    for (const double g : gradient) worst = larger(worst, magnitude(g));
    return worst;
  }

  /// Largest difference between the forces and the projections of E_i'y, recomputed: with balance
  /// and cones the optimality conditions of the quadratic programme.
  CAROM_INLINE double stationarity(const double* y) const {
    double worst = 0.0;
    for (int i = 0; i < contacts_; ++i) {
      double f[3];
      project(i, y, f, nullptr);
      for (int j = 0; j < 3; ++j) worst = larger(worst, magnitude(f[j] - forces_[3 * i + j]));
    }
    return worst;
  }

 private:
  /// P_i(E_i'y); adds E_i DP_i E_i' to hessian.
  CAROM_INLINE void project(int i, const double* y, double* f, double (*hessian)[6]) const {
    const double* p = position_ + 3 * i;
    const double* n = normal_ + 3 * i;
    const double mu = friction_[i];
    double z[3];
    cross3(y + 3, p, z);
    for (int j = 0; j < 3; ++j) z[j] += y[j];
    const double along = dot3(n, z);
    double t[3];
    for (int j = 0; j < 3; ++j) t[j] = z[j] - along * n[j];
    const double size = square_root(dot3(t, t));
    if (size <= mu * along) {
      for (int j = 0; j < 3; ++j) f[j] = z[j];
      for (int axis = 0; axis < 3 && hessian != nullptr; ++axis) {
        const double unit[3] = {axis == 0 ? 1.0 : 0.0, axis == 1 ? 1.0 : 0.0,
                                axis == 2 ? 1.0 : 0.0};
        add(p, unit, 1.0, hessian);
      }
      return;
    }
    const double normal_part = (along + mu * size) / (1.0 + mu * mu);
    if (!(normal_part > 0.0)) {
      for (int j = 0; j < 3; ++j) f[j] = 0.0;
      return;
    }
    double ray[3];
    for (int j = 0; j < 3; ++j) {
      t[j] = size > 0.0 ? t[j] / size : 0.0;
      ray[j] = n[j] + mu * t[j];
      f[j] = normal_part * ray[j];
    }
    if (hessian == nullptr) return;
    add(p, ray, 1.0 / (1.0 + mu * mu), hessian);
    double across[3];
    cross3(n, t, across);
    add(p, across, mu * normal_part / size, hessian);
  }
  CAROM_INLINE static void add(const double* p, const double* direction, double weight,
                               double (*hessian)[6]) {
    double column[6];
    for (int j = 0; j < 3; ++j) column[j] = direction[j];
    cross3(p, direction, column + 3);
    for (int a = 0; a < 6; ++a) {
      for (int c = 0; c < 6; ++c) hessian[a][c] += weight * column[a] * column[c];
    }
  }

  CAROM_INLINE double evaluate(const double* b, const double* y, double* gradient, bool curved) {
    double value = 0.0;
    for (int j = 0; j < 6; ++j) {
      gradient[j] = -b[j];
      value -= b[j] * y[j];
      for (double& entry : hessian_[j]) entry = 0.0;
    }
    for (int i = 0; i < contacts_; ++i) {
      double* f = forces_ + 3 * i;
      project(i, y, f, curved ? hessian_ : nullptr);
      value += 0.5 * dot3(f, f);
      double torque[3];
      cross3(position_ + 3 * i, f, torque);
      for (int j = 0; j < 3; ++j) {
        gradient[j] += f[j];
        gradient[3 + j] += torque[j];
      }
    }
    return value;
  }

  /// -(H + damping I)^-1 g by Cholesky's method.
  CAROM_INLINE void newton_step(const double* gradient, double damping, double* step) const {
    double l[6][6];
    for (int i = 0; i < 6; ++i) {
      for (int j = 0; j <= i; ++j) {
        double sum = hessian_[i][j] + (i == j ? damping : 0.0);
        for (int c = 0; c < j; ++c) sum -= l[i][c] * l[j][c];
        l[i][j] = i == j ? square_root(larger(sum, 1e-30)) : sum / l[j][j];
      }
    }
    for (int i = 0; i < 6; ++i) {
      double sum = -gradient[i];
      for (int c = 0; c < i; ++c) sum -= l[i][c] * step[c];
      step[i] = sum / l[i][i];
    }
    for (int i = 5; i >= 0; --i) {
      double sum = step[i];
      for (int c = i + 1; c < 6; ++c) sum -= l[c][i] * step[c];
      step[i] = sum / l[i][i];
    }
  }

  int contacts_;
  const double* position_;
  const double* normal_;
  const double* friction_;
  double* forces_;
  double hessian_[6][6] = {};
};

}  // namespace carom::kernels
