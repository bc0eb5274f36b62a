#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>
#include <carom/types/motion.hpp>

namespace carom::kernels::motion {

/// Expansion after an inelastic impact. Normal impulses p of the expansion obey
///
///     0 <= p_n - floor  compl.  Jn v+ - target >= 0
///
/// with Newton's target = e times the speed of approach before the impact and floor 0, Poisson's
/// floor = e times the impulse of the compression and target 0, Stronge's floor = tau times that
/// impulse with tau such that the normals give back e^2 of the work they took. Tangents obey
/// Coulomb's law in v+. Solved by projected Gauss-Seidel; rows are the normals, then the tangents
/// in contact order.
template <class T>
struct RestitutionProblem {
  static constexpr int kDim = T::kRows;
  static constexpr int kV = T::kSizes.velocities;
  static constexpr int kContacts = T::kSizes.constraints;
  static constexpr int kRows = kDim * kContacts;
  int velocities;
  int contacts;
  const double* jacobian;
  const double* response;
  const double* delassus;
  const double* friction;
  const double* before;       ///< J v before the impact
  const double* compression;  ///< normal impulses so far

  /// v := v+, scaled back where it had more energy than before the impact. Returns the scale;
  /// `impulse`: p before scaling.
  CAROM_CALL double solve(Restitution kind, double e, const double* mass, double energy,
                          double work, double* v, double* impulse) const {
    const int rows = kDim * contacts;
    double u[kRows] = {};
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < velocities; ++j) {
        u[i] = fused(jacobian[i * velocities + j], v[j], u[i]);
      }
    }
    double floor[kContacts] = {};
    double target[kContacts] = {};
    for (int i = 0; i < contacts; ++i) {
      floor[i] = kind == Restitution::poisson ? e * compression[i] : 0.0;
      target[i] = kind == Restitution::newton ? e * at_least_zero(-before[i]) : 0.0;
    }
    if (kind == Restitution::stronge) {
      // The work given back grows with tau from nothing; regula falsi with Illinois' halving.
      const double wanted = e * e * work;
      double low = 0.0;
      double high = 1.0;
      double at_low = -wanted;
      const auto surplus = [&](double tau) {
        for (int i = 0; i < contacts; ++i) floor[i] = tau * compression[i];
        return expand(u, floor, target, impulse) - wanted;
      };
      double at_high = surplus(high);
      if (at_high < 0.0) at_high = surplus(high = 2.0);
      int side = 0;
      for (int i = 0; i < 60 && high - low > 1e-14 && at_low < 0.0 && at_high > 0.0; ++i) {
        double tau = (low * at_high - high * at_low) / (at_high - at_low);
        if (!(tau > low && tau < high) || i % 6 == 5) tau = 0.5 * (low + high);
        if (tau <= low || tau >= high) break;
        const double more = surplus(tau);
        if (more > 0.0) {
          high = tau;
          at_high = more;
          if (side == 1) at_low *= 0.5;
          side = 1;
        } else {
          low = tau;
          at_low = more;
          if (side == -1) at_high *= 0.5;
          side = -1;
          if (more > -1e-14 * wanted) break;
        }
      }
      if (at_high <= 0.0) low = high;
      for (int i = 0; i < contacts; ++i) floor[i] = low * compression[i];
    }
    expand(u, floor, target, impulse);
    double gain[kV];
    for (int j = 0; j < velocities; ++j) {
      gain[j] = 0.0;
      for (int i = 0; i < rows; ++i) gain[j] = fused(response[j * rows + i], impulse[i], gain[j]);
    }
    // K(v + r gain) = K(v) + r b + r^2 a <= K before.
    double a = 0.0;
    double b = 0.0;
    double now = 0.0;
    for (int i = 0; i < velocities; ++i) {
      double along_gain = 0.0;
      double along_v = 0.0;
      for (int j = 0; j < velocities; ++j) {
        along_gain = fused(mass[i * velocities + j], gain[j], along_gain);
        along_v = fused(mass[i * velocities + j], v[j], along_v);
      }
      a = fused(0.5 * along_gain, gain[i], a);
      b = fused(along_v, gain[i], b);
      now = fused(0.5 * along_v, v[i], now);
    }
    double ratio = 1.0;
    const double room = at_least_zero(energy - now);
    if (a + b > room && a > 0.0) {
      ratio = smaller(1.0, (square_root(fused(b, b, 4.0 * a * room)) - b) / (2.0 * a));
    }
    for (int j = 0; j < velocities; ++j) v[j] = fused(ratio, gain[j], v[j]);
    return ratio;
  }

 private:
  static constexpr int kSweeps = 2000;

  /// Work of the normals in the expansion.
  CAROM_CALL double expand(const double* from, const double* floor, const double* target,
                           double* p) const {
    const int rows = kDim * contacts;
    double u[kRows];
    for (int i = 0; i < rows; ++i) {
      p[i] = 0.0;
      u[i] = from[i];
    }
    const auto change = [&](int row, double by) {
      p[row] += by;
      for (int i = 0; i < rows; ++i) u[i] = fused(delassus[i * rows + row], by, u[i]);
    };
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      double moved = 0.0;
      double most = 0.0;
      for (int i = 0; i < contacts; ++i) {
        const double wanted = larger(floor[i], p[i] - (u[i] - target[i]) / delassus[i * rows + i]);
        moved = larger(moved, magnitude(wanted - p[i]));
        most = larger(most, magnitude(wanted));
        change(i, wanted - p[i]);
        const int t = contacts + (kDim - 1) * i;
        double next[2] = {0.0, 0.0};
        double size = 0.0;
        double yielding = 0.0;
        for (int d = 0; d < kDim - 1; ++d) {
          yielding = larger(yielding, delassus[(t + d) * rows + t + d]);
        }
        if (!(yielding > 0.0)) continue;
        for (int d = 0; d < kDim - 1; ++d) {
          next[d] = p[t + d] - u[t + d] / yielding;
          size = fused(next[d], next[d], size);
        }
        size = square_root(size);
        const double limit = friction[i] * p[i];
        for (int d = 0; d < kDim - 1; ++d) {
          if (size > limit) next[d] *= limit / size;
          moved = larger(moved, magnitude(next[d] - p[t + d]));
          change(t + d, next[d] - p[t + d]);
        }
      }
      if (moved <= 1e-15 * most) break;
    }
    double work = 0.0;
    for (int i = 0; i < contacts; ++i) work = fused(0.5 * (from[i] + u[i]), p[i], work);
    return work;
  }
};

}  // namespace carom::kernels::motion
