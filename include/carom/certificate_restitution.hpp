#pragma once

#include <carom/certificate.hpp>
#include <carom/device/contact_geometry.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>
#include <carom/types/impact.hpp>

/// Checks impacts with restitution (docs/explanation/restitution.md) by the impulses of their
/// pieces: which contact pushed, against what, and with energy of which store.
namespace carom::certificate {

/// Of the energy before the impact: largest rounding error of stores and energy balance.
inline constexpr double kBooks = 1e-12;

/// The impact whose pieces are judged.
struct RestitutionProblem {
  int velocities, contacts;
  const double* jacobian;  ///< J = [Jn; Jt], [rows, nv]
  const double* response;  ///< M^-1 J', [nv, rows]
  const double* mass;      ///< M, [nv, nv]
  const double* velocity;  ///< v before, [nv]
  double energy;           ///< K(v) [J]
  RestitutionLaw law;
};

struct RestitutionCertificate {
  double residual;  ///< what velocities miss, of the largest |J v| before; infinite where a piece's
                    ///< impulse leaves its friction cone
  double books;     ///< what energies miss, of that before: stores below 0 or filled at the end, a
                    ///< balance that does not close, a loss below 0
};

/// Takes the pieces of one impact in turn: impulses along which velocities change linearly.
/// Most: of contacts.
template <int Dim, int Most>
class Restitution {
  static constexpr int kTangents = Dim - 1;

 public:
  CAROM_INLINE explicit Restitution(const kernels::FrictionPolygon& polygon) : polygon_(polygon) {}

  CAROM_INLINE void begin(const RestitutionProblem& problem) {
    problem_ = problem;
    for (int j = 0; j < problem_.velocities; ++j) v_[j] = problem_.velocity[j];
    speed_ = 0.0;
    contact_velocities(u_);
    for (int row = 0; row < Dim * problem_.contacts; ++row) {
      speed_ = kernels::larger(speed_, kernels::magnitude(u_[row]));
    }
    for (int i = 0; i < problem_.contacts; ++i) {
      kept_[i] = rest_[i] = owed_[i] = due_[i] = taken_[i] = rubbed_[i] = pushed_[i] = asked_[i] =
          0.0;
    }
    wrong_ = MaxAbs<>();
    short_ = MaxAbs<>();
  }

  /// Row of J v after the pieces so far.
  [[nodiscard]] CAROM_INLINE double contact_velocity(int row) const { return u_[row]; }

  /// A piece: impulses [rows], normals first, under restitution and friction [contacts] each.
  CAROM_INLINE void add(const double* impulse, const double* restitution, const double* friction) {
    const int m = problem_.contacts, rows = Dim * m;
    for (int j = 0; j < problem_.velocities; ++j) {
      double change = 0.0;
      for (int row = 0; row < rows; ++row) {
        change += problem_.response[static_cast<long>(j) * rows + row] * impulse[row];
      }
      v_[j] += change;
    }
    double after[Dim * Most];
    contact_velocities(after);
    for (int i = 0; i < m; ++i) {
      const int t = m + kTangents * i;
      const double push = impulse[i];
      if (!(push > 0.0)) {
        wrong_.add(push < 0.0 ? kernels::kInfinity : 0.0);
        for (int c = 0; c < kTangents; ++c) {
          wrong_.add(impulse[t + c] != 0.0 ? kernels::kInfinity : 0.0);
        }
        if (problem_.law == RestitutionLaw::newton && after[i] > 0.0) {  // others made it separate
          owed_[i] = restitution[i] * pushed_[i] - after[i];
          due_[i] = restitution[i] * asked_[i] - after[i];
          settle(i);
        }
        continue;
      }
      judge_friction(impulse + t, friction[i] * push, u_ + t, after + t);
      double power = 0.0;
      for (int c = 0; c < kTangents; ++c) power += impulse[t + c] * (u_[t + c] + after[t + c]);
      short_.add(kernels::larger(0.5 * power, 0.0));
      rubbed_[i] -= 0.5 * power;
      keep(i, restitution[i], push, u_[i], after[i]);
    }
    for (int row = 0; row < rows; ++row) u_[row] = after[row];
  }

  /// v: v+ to compare with, [nv]; compression, friction: losses to compare with, [contacts].
  CAROM_INLINE RestitutionCertificate finish(const double* v, const double* compression,
                                             const double* friction) {
    const int m = problem_.contacts, nv = problem_.velocities;
    double twice = 0.0, lost = 0.0;
    for (int j = 0; j < nv; ++j) {
      for (int k = 0; k < nv; ++k)
        twice += v[j] * problem_.mass[static_cast<long>(j) * nv + k] * v[k];
    }
    double own[Dim * Most];
    for (int j = 0; j < nv; ++j) v_[j] -= v[j];
    contact_velocities(own);  // of the difference
    for (int i = 0; i < Dim * m; ++i) wrong_.add(own[i]);
    for (int i = 0; i < m; ++i) {
      wrong_.add(kernels::larger(-u_[i], 0.0));
      // what a law of speeds or impulses owes counts only if there is work left for it
      const bool stronge = problem_.law == RestitutionLaw::stronge;
      short_.add(stronge ? kept_[i] : due_[i] > least_owed() ? rest_[i] : 0.0);
      short_.add(compression[i] - taken_[i]);
      short_.add(friction[i] - rubbed_[i]);
      short_.add(kernels::larger(-taken_[i], 0.0));
      lost += compression[i] + friction[i];
    }
    short_.add(problem_.energy - 0.5 * twice - lost);
    const double speed = speed_ > kTiny ? speed_ : kTiny;
    const double energy = problem_.energy > kTiny ? problem_.energy : kTiny;
    return {wrong_.value / speed, short_.value / energy};
  }

 private:
  static constexpr double kCone = 1e-9;  ///< of the friction limit

  /// J v_
  CAROM_INLINE void contact_velocities(double* u) const {
    const int nv = problem_.velocities;
    for (int row = 0; row < Dim * problem_.contacts; ++row) {
      u[row] = 0.0;
      for (int j = 0; j < nv; ++j) {
        u[row] += problem_.jacobian[static_cast<long>(row) * nv + j] * v_[j];
      }
    }
  }

  /// The largest component of t along the friction directions.
  CAROM_INLINE double support(const double* t) const {
    double most = -kernels::kInfinity;
    for (int j = 0; j < polygon_.count; ++j) {
      double along = polygon_.direction[j][0] * t[0];
      if constexpr (Dim == 3) along += polygon_.direction[j][1] * t[1];
      most = kernels::larger(most, along);
    }
    return most;
  }

  /// Friction t lies in limit P and takes as much as it can, at both ends of a piece.
  CAROM_INLINE void judge_friction(const double* t, double limit, const double* before,
                                   const double* after) {
    if constexpr (Dim == 2) {
      if (!(kernels::magnitude(t[0]) <= limit * (1.0 + kCone))) wrong_.add(kernels::kInfinity);
    } else {
      for (int j = 0; j < polygon_.count; ++j) {  // beyond no edge of P
        const double out[2] = {polygon_.along[j][1], -polygon_.along[j][0]};
        const double reach = out[0] * polygon_.direction[j][0] + out[1] * polygon_.direction[j][1];
        if (!(out[0] * t[0] + out[1] * t[1] <= limit * reach + kCone * limit)) {
          wrong_.add(kernels::kInfinity);
        }
      }
    }
    if (!(limit > 0.0)) return;
    for (const double* slip : {before, after}) {
      double opposed[2] = {}, takes = 0.0;
      for (int c = 0; c < kTangents; ++c) {
        opposed[c] = -slip[c];
        takes -= t[c] * slip[c];
      }
      wrong_.add(support(opposed) - takes / limit);
    }
  }

  /// The store of contact i along a push from normal velocity u to `next`. A store that is never
  /// below 0 says that the contact might push; between its values at u = 0 and at the ends it is
  /// monotonic.
  CAROM_INLINE void keep(int i, double e, double push, double u, double next) {
    const double down_from = u < 0.0 ? u : 0.0, down_to = next < 0.0 ? next : 0.0;
    const double up_from = u > 0.0 ? u : 0.0, up_to = next > 0.0 ? next : 0.0;
    const bool turns = u * next < 0.0;
    const double first = turns ? u / (u - next) : 1.0;  // share of the push before u = 0
    const double rest = turns ? 1.0 - first : 1.0;
    const double in = push * (u < 0.0 ? first : rest), out = push * (u > 0.0 ? first : rest);
    const double work_in = -0.5 * in * (down_from + down_to);
    const double work_out = 0.5 * out * (up_from + up_to);
    taken_[i] += work_in - work_out;
    const bool stronge = problem_.law == RestitutionLaw::stronge;
    const double put = stronge ? e * e * work_in : (e > 0.0 ? work_in : 0.0);
    if (u > 0.0) {
      short_.add(kernels::larger(work_out - kept_[i], 0.0));
    } else {
      short_.add(kernels::larger(work_out - kept_[i] - put, 0.0));
    }
    kept_[i] += put - work_out;
    if (stronge) return;
    rest_[i] = kernels::larger(rest_[i] + put - work_out, 0.0);
    const double still =
        kBooks * speed_;  // u = 0, up to rounding: the push neither fills nor takes
    const bool fills = kernels::smaller(u, next)<-still, takes = kernels::larger(u, next)> still;
    if (problem_.law == RestitutionLaw::poisson) {
      const double more = fills ? e * in : 0.0, less = takes ? out : 0.0;
      owed_[i] += more - less;
      due_[i] = kernels::larger(due_[i] + more - less, 0.0);
      short_.add(kernels::larger(-owed_[i], 0.0) * speed_);
    } else {
      pushed_[i] = kernels::larger(pushed_[i], -kernels::smaller(down_from, down_to));
      asked_[i] = kernels::larger(asked_[i], -kernels::smaller(down_from, down_to));
      owed_[i] = e * pushed_[i] - up_to;
      due_[i] = e * asked_[i] - up_to;
      if (takes) short_.add(kernels::larger(-owed_[i], 0.0) * out);
    }
    if (next < 0.0) return;
    settle(i);
  }

  /// A store of which nothing is owed any more, or nothing is left, begins anew.
  CAROM_INLINE void settle(int i) {
    if (!(rest_[i] > kBooks * problem_.energy) || !(due_[i] > least_owed())) {
      rest_[i] = due_[i] = asked_[i] = 0.0;
    }
    if (!(owed_[i] > least_owed())) owed_[i] = kept_[i] = pushed_[i] = 0.0;
  }

  /// What a law of impulses or speeds may owe by rounding.
  [[nodiscard]] CAROM_INLINE double least_owed() const {
    if (problem_.law == RestitutionLaw::newton) return kBooks * speed_;
    return kBooks * problem_.energy / (speed_ > kTiny ? speed_ : kTiny);
  }

  const kernels::FrictionPolygon& polygon_;
  RestitutionProblem problem_{};
  double v_[kMaxVelocities], u_[Dim * Most];
  double speed_ = 0.0;
  double kept_[Most];    ///< work put by, not yet come back: what a release may take, ...
  double rest_[Most];    ///< ... and, since the law was served last, what it has to
  double owed_[Most];    ///< poisson: impulse, newton: speed that may come back, ...
  double due_[Most];     ///< ... and that has to
  double pushed_[Most];  ///< newton: largest speed of approach, ...
  double asked_[Most];   ///< ... and since the work was spent last
  double taken_[Most], rubbed_[Most];  ///< work lost in compression, by friction
  MaxAbs<> wrong_, short_;
};

}  // namespace carom::certificate
