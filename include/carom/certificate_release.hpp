#pragma once

#include <carom/certificate.hpp>
#include <carom/certificate_restitution.hpp>
#include <carom/device/contact_geometry.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

/// Steps (75) of contacts with restitution (docs/explanation/restitution.md): Jn v' is replaced by
/// Jn v' - r, with release speeds r >= 0 that are positive only where a store pays for them.
namespace carom::certificate {

/// Takes the step v' = v + M^-1 J' lambda. Natural residual of (75) with r [m/s], not yet relative.
/// next_u becomes J v', without r. release: r, [m]; mobility(i): of contact i [1/kg]; the rest as
/// of certify_step.
template <int Dim, class Mobility>
CAROM_INLINE double release_step(int nv, int m, const kernels::FrictionPolygon& polygon,
                                 const double* jacobian, const double* response,
                                 const Mobility& mobility, const double* friction, const double* v,
                                 const double* limit, const double* release, const double* impulse,
                                 double* next_v, double* next_u) {
  const int rows = Dim * m;
  for (int i = 0; i < nv; ++i) {
    double sum = v[i];
    for (int j = 0; j < rows; ++j) {
      sum = kernels::fused(response[static_cast<long>(i) * rows + j], impulse[j], sum);
    }
    next_v[i] = sum;
  }
  MaxAbs<> worst;
  for (int i = 0; i < rows; ++i) {
    double sum = 0.0;
    for (int j = 0; j < nv; ++j) {
      sum = kernels::fused(jacobian[static_cast<long>(i) * nv + j], next_v[j], sum);
    }
    next_u[i] = sum;
  }
  for (int i = 0; i < m; ++i) {
    const int t = m + (Dim - 1) * i;
    double of[2 * Dim];  // impulse, then velocity of the contact
    of[0] = impulse[i];
    of[Dim] = next_u[i] - release[i];
    for (int c = 1; c < Dim; ++c) of[c] = impulse[t + c - 1], of[Dim + c] = next_u[t + c - 1];
    worst.add(
        contact_residual<Dim>(polygon, friction[i], mobility(i), 0, 1, limit + i, of, of + Dim));
  }
  return worst.value;
}

/// The energy balance of one impact, step by step: in each step, contact i has the work
/// (u_n + u_n') lambda_n / 2 exactly. Work that friction, or a contact without a store, adds to the
/// motion in a step (an error of the step size: their laws hold at its end) is taken from what the
/// step stored, then from what it lost, then from the stores, from all by the same share.
template <int Dim, int Most>
class ReleaseBooks {
  static constexpr int kTangents = Dim - 1;

 public:
  explicit CAROM_INLINE ReleaseBooks(const kernels::FrictionPolygon& polygon) : polygon_(polygon) {}

  CAROM_INLINE void begin(const RestitutionProblem& problem) {
    p_ = problem;
    wrong_ = short_ = MaxAbs<>();
    speed_ = trimmed_ = 0.0;
    for (int j = 0; j < p_.velocities; ++j) v_[j] = p_.velocity[j];
    for (int row = 0; row < Dim * p_.contacts; ++row) {
      u_[row] = row_velocity(row, v_);
      speed_ = kernels::larger(speed_, kernels::magnitude(u_[row]));
    }
    for (int i = 0; i < p_.contacts; ++i) {
      kept_[i] = lost_[i] = rubbed_[i] = 0.0;
      mobility_[i] = own_mobility(i);
    }
  }

  /// A step: impulse [rows] under limits lambda_max [contacts] and release speeds [contacts].
  CAROM_INLINE void add(const double* impulse, const double* limit, const double* release,
                        const double* restitution, const double* friction) {
    const int m = p_.contacts, rows = Dim * m;
    double after[Dim * Most], next[kMaxVelocities];
    wrong_.add(release_step<Dim>(
        p_.velocities, m, polygon_, p_.jacobian, p_.response,
        [this](int i) { return mobility_[i]; }, friction, v_, limit, release, impulse, next,
        after));
    double put[Most], spent[Most], rubbed[Most];
    double gift = 0.0, puts = 0.0, losses = 0.0, left = 0.0;
    for (int i = 0; i < m; ++i) {
      const double work = 0.5 * impulse[i] * (u_[i] + after[i]);
      double friction_work = 0.0;
      for (int t = m + kTangents * i; t < m + kTangents * (i + 1); ++t) {
        friction_work += 0.5 * impulse[t] * (u_[t] + after[t]);
      }
      if (release[i] != 0.0) judge_release(i, release[i], limit[i]);
      const double taken = kernels::larger(-work, 0.0), given = kernels::larger(work, 0.0);
      const double paid = kernels::smaller(given, kept_[i]);
      put[i] = restitution[i] * restitution[i] * taken;
      spent[i] = taken - put[i];
      rubbed[i] = kernels::larger(-friction_work, 0.0);
      kept_[i] -= paid;
      gift += given - paid + kernels::larger(friction_work, 0.0);
      puts += put[i];
      losses += spent[i] + rubbed[i];
      left += kept_[i];
    }
    trimmed_ += gift;
    const auto pay = [&gift](double from) {
      const double share = gift < from ? gift / from : 1.0;
      gift -= gift < from ? gift : from;
      return from > 0.0 ? 1.0 - share : 1.0;
    };
    const double of_puts = pay(puts), of_losses = pay(losses), of_left = pay(left);
    short_.add(gift);
    for (int i = 0; i < m; ++i) {
      kept_[i] = kept_[i] * of_left + put[i] * of_puts;
      lost_[i] += spent[i] * of_losses;
      rubbed_[i] += rubbed[i] * of_losses;
      if (kept_[i] <= kNothing * p_.energy) {
        lost_[i] += kept_[i];
        kept_[i] = 0.0;
      }
    }
    for (int j = 0; j < p_.velocities; ++j) v_[j] = next[j];
    for (int row = 0; row < rows; ++row) u_[row] = after[row];
  }

  /// Work in all steps that was taken from others [J].
  [[nodiscard]] CAROM_INLINE double trimmed() const { return trimmed_; }

  /// As Restitution::finish. tolerance: slower approach counts as none [m/s].
  CAROM_INLINE RestitutionCertificate finish(const double* v, const double* compression,
                                             const double* friction, double tolerance) {
    const int nv = p_.velocities;
    double twice = 0.0, lost = 0.0, missed[kMaxVelocities];
    for (int j = 0; j < nv; ++j) {
      missed[j] = v_[j] - v[j];
      for (int k = 0; k < nv; ++k) twice += v[j] * p_.mass[static_cast<long>(j) * nv + k] * v[k];
    }
    for (int row = 0; row < Dim * p_.contacts; ++row) wrong_.add(row_velocity(row, missed));
    for (int i = 0; i < p_.contacts; ++i) {
      wrong_.add(kernels::larger(-u_[i] - tolerance, 0.0));
      short_.add(kept_[i]);
      short_.add(compression[i] - lost_[i]);
      short_.add(friction[i] - rubbed_[i]);
      lost += compression[i] + friction[i];
    }
    short_.add(p_.energy - 0.5 * twice - lost);
    return {wrong_.value / (speed_ > kTiny ? speed_ : kTiny),
            short_.value / (p_.energy > kTiny ? p_.energy : kTiny)};
  }

  static constexpr double kNothing = 1e-14;  ///< of the energy before: a store is empty

 private:
  /// A contact gives back what it has, however the step ends: (u + u') / 2 <= (u + r) / 2.
  CAROM_INLINE void judge_release(int i, double release, double limit) {
    wrong_.add(kernels::larger(-u_[i] - kMet * speed_, 0.0));
    wrong_.add(kernels::larger(u_[i] - release, 0.0));
    short_.add(kernels::larger(0.5 * (u_[i] + release) * limit - kept_[i], 0.0));
  }

  CAROM_INLINE double row_velocity(int row, const double* v) const {
    double sum = 0.0;
    for (int j = 0; j < p_.velocities; ++j) {
      sum += p_.jacobian[static_cast<long>(row) * p_.velocities + j] * v[j];
    }
    return sum;
  }

  /// Largest speed along one of its rows per impulse there.
  CAROM_INLINE double own_mobility(int contact) const {
    const int m = p_.contacts, rows = Dim * m;
    double most = 0.0;
    for (int c = 0; c < Dim; ++c) {
      const int row = c == 0 ? contact : m + kTangents * contact + c - 1;
      double sum = 0.0;
      for (int j = 0; j < p_.velocities; ++j) {
        sum += p_.jacobian[static_cast<long>(row) * p_.velocities + j] *
               p_.response[static_cast<long>(j) * rows + row];
      }
      most = kernels::larger(most, sum);
    }
    return most;
  }

  static constexpr double kMet = 1e-11;

  const kernels::FrictionPolygon& polygon_;
  RestitutionProblem p_{};
  double v_[kMaxVelocities], u_[Dim * Most];
  double kept_[Most], lost_[Most], rubbed_[Most], mobility_[Most];
  double speed_ = 0.0, trimmed_ = 0.0;
  MaxAbs<> wrong_, short_;
};

}  // namespace carom::certificate
