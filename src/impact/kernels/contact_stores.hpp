#pragma once

#include <cstdint>
#include <limits>

#include <carom/certificate_restitution.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>
#include <carom/types/impact.hpp>

#include "core/material_draws.hpp"
#include "impact/kernels/event_modes.hpp"
#include "impact/kernels/event_piece.hpp"
#include "impact/kernels/impact.hpp"

/// Restitution in the event method: energy or impulse stored in compression, for release later.
namespace carom::kernels {

/// Restitution and friction of one problem, shared by its samples.
struct RestitutionView {
  const double* restitution_low;   ///< [m]
  const double* restitution_high;  ///< [m]
  const double* friction_low;      ///< [m]
  const double* friction_high;     ///< [m]
  RestitutionLaw law;
  bool vary;
};

/// Whether samples draw their own friction; then there is no table of modes.
inline bool friction_varies(const RestitutionView& view, int contacts) {
  bool varies = false;
  for (int i = 0; i < contacts; ++i) {
    varies = varies || view.friction_high[i] > view.friction_low[i];
  }
  return varies;
}

/// Where the work of one sample's contacts went, [m] each (docs/explanation/restitution.md).
struct StoreBooks {
  double restitution[kMaxFollowedContacts];
  double friction[kMaxFollowedContacts];
  double stored[kMaxFollowedContacts];
  double released[kMaxFollowedContacts];
  double lost_compression[kMaxFollowedContacts];
  double lost_friction[kMaxFollowedContacts];
  bool guarded;
  bool trimmed;  ///< set only by steps (75)
};

/// A row of a path with restitution: v, and the impulse, e and mu of the piece that ended there.
struct PathRow {
  int velocities, rows, contacts;

  [[nodiscard]] CAROM_INLINE int size() const { return velocities + rows + 2 * contacts; }
  CAROM_INLINE void write(double* to, const double* v, const double* impulse,
                          const double* restitution, const double* friction) const {
    for (int j = 0; j < velocities; ++j) *to++ = v[j];
    for (int k = 0; k < rows; ++k) *to++ = impulse[k];
    for (int i = 0; i < contacts; ++i) *to++ = restitution[i];
    for (int i = 0; i < contacts; ++i) *to++ = friction[i];
  }
};

/// The stores of one trajectory's contacts (RestitutionLaw). Between two events of the trajectory a
/// contact's normal velocity u is linear in the impulse s of the stretch and keeps its sign, so its
/// store is a quadratic of s.
template <int Dim>
class ContactStores {
  static constexpr int kMost = kMaxFollowedContacts;

 public:
  static constexpr bool kAny = true;

  CAROM_INLINE ContactStores(const ImpactRun& run, const ImpactProblemView& problem,
                             const RestitutionView& view, StoreBooks& books)
      : run_(run), problem_(problem), view_(view), books_(books), certificate_(run.polygon) {
    const int rows = Dim * run.contacts;
    for (int k = 0; k < rows; ++k) root_[k] = event_root(problem, run.contacts, rows, k);
  }

  /// Friction of the stretch, [m].
  [[nodiscard]] CAROM_INLINE const double* friction() const { return friction_; }

  CAROM_INLINE void begin(std::uint32_t index, std::uint64_t sample) {
    numbers_ = {run_.seed, index, sample};
    stretch_ = 0;
    guarded_ = false;
    draw();
    still_ = 0.0;
    for (int k = 0; k < Dim * run_.contacts; ++k) {
      piece_[k] = 0.0;
      still_ = larger(still_, certificate::kBooks * magnitude(problem_.contact_velocity[k]));
    }
    for (int i = 0; i < run_.contacts; ++i) {
      filled_[i] = false;
      work_[i] = goal_[i] = 0.0;
      compressed_[i] = stored_[i] = released_[i] = rubbed_[i] = 0.0;
      books_.restitution[i] = restitution_[i];
      books_.friction[i] = friction_[i];
    }
    certificate_.begin({run_.velocities, run_.contacts, problem_.jacobian, problem_.response,
                        problem_.mass, problem_.velocity, problem_.energy, view_.law});
  }
  /// Called before each stretch but the first. Returns whether e and mu have changed.
  CAROM_INLINE bool vary() {
    if (!view_.vary) return false;
    ++stretch_;
    draw();
    return true;
  }

  /// Whether contact i may push while it separates.
  [[nodiscard]] CAROM_INLINE bool filled(int i) const { return filled_[i]; }

  /// Impulse of the stretch until the store of contact i is empty; infinite if u changes its sign
  /// before. push: the contact's impulse per unit of the stretch.
  [[nodiscard]] CAROM_INLINE double until(int i, double u, double rate, double push) const {
    if (!filled_[i] || u < 0.0 || (u == 0.0 && !(rate > 0.0))) return kInfinity;
    const double spent = until_spent(work_[i], u, rate, push);
    if (view_.law == RestitutionLaw::poisson && push > 0.0) {
      return smaller(spent, goal_[i] / push);
    }
    if (view_.law == RestitutionLaw::newton && rate > 0.0) {
      return smaller(spent, at_least_zero(fused(restitution_[i], goal_[i], -u)) / rate);
    }
    return spent;
  }

  /// As event_idles.
  [[nodiscard]] CAROM_INLINE bool idles(const double* u, const double* impulse, const double* rate,
                                        double length) const {
    return event_idles(run_.contacts, Dim * run_.contacts, root_, problem_.energy, u, impulse, rate,
                       length);
  }

  /// Updates the store of contact i after a push with `impulse`, from velocity u to `next`.
  /// ended: until() says that the store is empty. rubbed: work of its friction.
  CAROM_INLINE void follow(int i, double u, double next, double impulse, double rubbed,
                           bool ended) {
    rubbed_[i] -= rubbed;
    const double e = restitution_[i], work = 0.5 * impulse * (u + next);
    const bool stronge = view_.law == RestitutionLaw::stronge;
    const bool compresses = u < 0.0 || next < 0.0;
    if (compresses) {
      const double put = stronge ? e * e * work : (e > 0.0 ? work : 0.0);
      compressed_[i] -= work;
      stored_[i] -= put;
      work_[i] -= put;
    } else {
      released_[i] += work;
      work_[i] -= work;
    }
    if (view_.law == RestitutionLaw::newton && impulse > 0.0) {
      goal_[i] = larger(goal_[i], larger(-u, -next));
    } else if (view_.law == RestitutionLaw::poisson &&
               (compresses ? smaller(u, next) < -still_ : larger(u, next) > still_)) {
      goal_[i] = fused(compresses ? e : -1.0, impulse, goal_[i]);
    }
    const auto reached = [&](double slack) {
      if (stronge) return false;
      if (view_.law == RestitutionLaw::poisson) return !(goal_[i] > slack * impulse);
      return !(next < e * goal_[i] * (1.0 - slack));
    };
    const double least = (stronge ? EventRules::kEmpty : kSpent) * problem_.energy;
    filled_[i] = !ended && work_[i] > least && !reached(kReached);
    if (filled_[i]) return;
    if (!stronge && ended && !reached(kNearlyReached)) guarded_ = true;
    work_[i] = goal_[i] = 0.0;
  }

  /// Adds the impulses of a piece, [rows], to the certificate.
  CAROM_INLINE void certify(const double* impulse) {
    certificate_.add(impulse, restitution_, friction_);
    for (int k = 0; k < Dim * run_.contacts; ++k) piece_[k] = impulse[k];
  }

  /// As PlanarStores::rounded.
  [[nodiscard]] CAROM_INLINE double rounded(int k, double u) const {
    const double own = certificate_.contact_velocity(k);
    return magnitude(own - u) <= EventRules::kNear * magnitude(u) ? own : u;
  }

  /// Writes row `at` of a path, the state after the newest piece.
  CAROM_INLINE void record(double* path, int at, const double* v) {
    const PathRow row{run_.velocities, Dim * run_.contacts, run_.contacts};
    row.write(path + static_cast<long>(at) * row.size(), v, piece_, restitution_, friction_);
    for (int k = 0; k < Dim * run_.contacts; ++k) piece_[k] = 0.0;
  }

  /// Completes the energy balance. Returns the error of v+, relative to the largest contact speed;
  /// infinite if the energy does not balance.
  CAROM_INLINE double finish(const double* v) {
    for (int i = 0; i < run_.contacts; ++i) {
      if (view_.vary) {
        books_.restitution[i] = books_.friction[i] = std::numeric_limits<double>::quiet_NaN();
      }
      books_.stored[i] = stored_[i];
      books_.released[i] = released_[i];
      books_.lost_compression[i] = compressed_[i] - released_[i];
      books_.lost_friction[i] = rubbed_[i];
    }
    books_.guarded = guarded_;
    books_.trimmed = false;
    const auto found = certificate_.finish(v, books_.lost_compression, books_.lost_friction);
    return certificate::within(found.books, certificate::kBooks) ? found.residual : kInfinity;
  }

 private:
  static constexpr double kSpent = 1e-24;    ///< kEmpty of the laws poisson and newton
  static constexpr double kReached = 1e-13;  ///< relative to what must be given back
  static constexpr double kNearlyReached = 1e-9;

  /// The first s > 0 with push s (u + rate s / 2) = work.
  CAROM_INLINE static double until_spent(double work, double u, double rate, double push) {
    if (!(push > 0.0)) return kInfinity;
    const double share = work / push;
    const double square = fused(u, u, 2.0 * rate * share);
    if (!(square >= 0.0)) return kInfinity;  // u changes its sign before
    const double sum = u + square_root(square);
    return sum > 0.0 ? 2.0 * share / sum : kInfinity;
  }

  CAROM_INLINE void draw() {
    const int m = run_.contacts;
    for (int i = 0; i < m; ++i) {
      const double e_low = view_.restitution_low[i], e_high = view_.restitution_high[i];
      const double mu_low = view_.friction_low[i], mu_high = view_.friction_high[i];
      restitution_[i] = e_low == e_high
                            ? e_low
                            : material_draw(e_low, e_high, numbers_.restitution(i, m, stretch_));
      friction_[i] = mu_low == mu_high
                         ? mu_low
                         : material_draw(mu_low, mu_high, numbers_.friction(i, m, stretch_));
    }
  }

  const ImpactRun& run_;
  const ImpactProblemView& problem_;
  const RestitutionView& view_;
  StoreBooks& books_;
  certificate::Restitution<Dim, kMost> certificate_;
  MaterialNumbers numbers_{};
  std::uint32_t stretch_ = 0;
  bool guarded_ = false;
  double still_ = 0.0;  ///< poisson: below this speed a push does not change the store
  double root_[Dim * kMost];
  bool filled_[kMost];
  double restitution_[kMost], friction_[kMost];
  double piece_[Dim * kMost];
  double work_[kMost];  ///< stored and not yet released
  double goal_[kMost];  ///< poisson: impulse to release; newton: largest speed of approach
  double compressed_[kMost], stored_[kMost], released_[kMost], rubbed_[kMost];
};

}  // namespace carom::kernels
