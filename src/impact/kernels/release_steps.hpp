#pragma once

#include <cstdint>

#include <carom/certificate_release.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

#include "core/material_draws.hpp"
#include "impact/kernels/contact_stores.hpp"
#include "impact/kernels/derived_step.hpp"
#include "impact/kernels/event_piece.hpp"
#include "impact/kernels/event_weights.hpp"
#include "impact/kernels/impact.hpp"

/// Algorithm 1 for contacts with restitution (docs/explanation/restitution.md): steps (75) in which
/// a contact with a filled store may push until it separates with a release speed.
namespace carom::kernels {

struct ReleaseSteps : AllSteps {
  static constexpr bool kRelease = true;
};

template <int Dim, class Lanes>
class ReleaseTrajectory {
  static constexpr int kMost = kMaxFollowedContacts;
  static constexpr int kTangents = Dim - 1;
  using Books = certificate::ReleaseBooks<Dim, kMost>;

 public:
  CAROM_HOST_DEVICE ReleaseTrajectory(const Lanes& lanes, const ImpactRun& run,
                                      const ImpactProblemView& problem,
                                      const ImpactScratch<Dim>& scratch,
                                      const RestitutionView& view, StoreBooks& books)
      : run_(run),
        problem_(problem),
        s_(scratch),
        view_(view),
        books_(books),
        contacts_(run.contacts),
        rows_(Dim * run.contacts),
        steps_(lanes, run_, problem_, s_),
        judge_(run.polygon) {
    problem_.friction = friction_;
    s_.release = release_;
  }
  ReleaseTrajectory(const ReleaseTrajectory&) = delete;
  ReleaseTrajectory& operator=(const ReleaseTrajectory&) = delete;

  /// As ImpactTrajectory::run; rows of `path` as of PathRow.
  CAROM_HOST_DEVICE TrajectoryEnd run(std::uint32_t index, std::uint64_t sample, double* path) {
    TrajectoryEnd end = steps_.begin(nullptr);
    begin(index, sample);
    record(path, 0);
    while (unfinished() && end.steps < run_.max_steps) {
      if (!advance(index, sample, end)) return end;
      ++end.steps;
      record(path, end.steps);
    }
    if (!unfinished()) end.status = TrajectoryStatus::terminated;
    finish(end);
    return end;
  }

 private:
  static constexpr double kMet = 1e-12;      ///< of the largest speed before: no approach
  static constexpr double kSame = 1e-9;      ///< likewise: what a policy takes for zero
  static constexpr double kFollowed = 64.0;  ///< longest_, by one policy
  static constexpr double kShortest = 0.25;  ///< stretch, of a step
  static constexpr double kRounding = 1e-12;
  static constexpr double kLeast = 1e-4;  ///< r - u, of speed_: far above the rounding of u

  [[nodiscard]] CAROM_INLINE bool approaches(int i) const {
    return s_.u[i] < -run_.velocity_tolerance;
  }
  [[nodiscard]] CAROM_INLINE bool unfinished() const {
    bool some = false;
    for (int i = 0; i < contacts_; ++i) some = some || approaches(i) || stored_[i] > 0.0;
    return some;
  }
  [[nodiscard]] CAROM_INLINE double mobility(int i) const {
    return normal_mobility(rows_, problem_.delassus, problem_.scale, i);
  }

  CAROM_INLINE void begin(std::uint32_t index, std::uint64_t sample) {
    numbers_ = {run_.seed, index, sample};
    stretch_ = 0;
    draw();
    speed_ = contact_speed(rows_, s_.u);
    trimmed_ = 0.0;
    for (int i = 0; i < contacts_; ++i) {
      stored_[i] = put_[i] = released_[i] = lost_[i] = rubbed_[i] = 0.0;
      slope_[i] = mobility(i);
      books_.restitution[i] = restitution_[i];
      books_.friction[i] = friction_[i];
    }
    for (int k = 0; k < rows_; ++k) s_.impulse[k] = 0.0;
    longest_ = longest_push(contacts_, speed_, [this](int i) { return mobility(i); });
    if (!(longest_ > 0.0)) longest_ = problem_.step_size;
    weights_.begin(contacts_, run_.seed, index, sample);
    followed_ = 0.0;
    judge_.begin({run_.velocities, contacts_, problem_.jacobian, problem_.response, problem_.mass,
                  problem_.velocity, problem_.energy, view_.law});
  }

  CAROM_INLINE void draw() {
    for (int i = 0; i < contacts_; ++i) {
      restitution_[i] = material_draw(view_.restitution_low[i], view_.restitution_high[i],
                                      numbers_.restitution(i, contacts_, stretch_));
      friction_[i] = material_draw(view_.friction_low[i], view_.friction_high[i],
                                   numbers_.friction(i, contacts_, stretch_));
    }
  }

  CAROM_HOST_DEVICE bool advance(std::uint32_t index, std::uint64_t sample, TrajectoryEnd& end) {
    choose_weights(end.steps);
    for (int k = 0; k < rows_; ++k) before_[k] = s_.u[k];
    double most = 0.0;
    for (int i = 0; i < contacts_; ++i) most = larger(most, weights_.weight[i]);
    const double whole = problem_.step_size / most;
    const double length = weights_.left > 0.0 ? smaller(whole, weights_.left) : whole;
    // If the energy does not balance, releases are bounded so that it does.
    for (int attempt = 0;; ++attempt) {
      set_releases(length, attempt > 0);
      if (!steps_.solve(index, sample, end)) return false;
      if (book(attempt > 0)) break;
      for (int k = 0; k < rows_; ++k) s_.u[k] = before_[k];
    }
    weights_.left = at_least_zero(weights_.left - length);
    judge_.add(s_.impulse, s_.limit, release_, restitution_, friction_);
    for (int k = 0; k < rows_; ++k) {
      s_.u[k] = s_.next_u[k];
      s_.total[k] += s_.impulse[k];
    }
    for (int j = 0; j < run_.velocities; ++j) s_.v[j] = s_.next_v[j];
    return true;
  }

  [[nodiscard]] CAROM_INLINE bool able(int i) const { return approaches(i) || stored_[i] > 0.0; }

  /// Those of the events' stretches, of which a step is a part.
  CAROM_INLINE void choose_weights(int steps) {
    double pushers[kMost];
    for (int i = 0; i < contacts_; ++i) {
      pushers[i] = able(i) ? -speed_ : (s_.u[i] > kSame * speed_ ? s_.u[i] : 0.0);
    }
    if (!(weights_.left > 0.0)) {
      if (view_.vary && steps > 0) {
        ++stretch_;
        draw();
      }
      weights_.draw(pushers, longest_);
      weights_.left = larger(weights_.left, kShortest * problem_.step_size);
      followed_ = 0.0;
    }
    if (weights_.follows) {
      weights_.choose(pushers, [&](int i) { return state(i); });
      followed_ += problem_.step_size;
      if (followed_ > kFollowed * longest_) weights_.spoil();
    }
    bool some = false;
    for (int i = 0; i < contacts_; ++i) some = some || (weights_.weight[i] > 0.0 && able(i));
    if (some) return;
    weights_.left = 0.0;  // after a step
    for (int i = 0; i < contacts_; ++i) weights_.weight[i] = able(i) ? 1.0 : 0.0;
  }

  /// What policies tell faces apart by.
  [[nodiscard]] CAROM_INLINE int state(int i) const {
    const double slack = kSame * speed_;
    int slip = 0;
    for (int c = 0; c < kTangents; ++c) {
      const double t = s_.u[contacts_ + kTangents * i + c];
      slip = 3 * slip + (t > slack ? 2 : (t < -slack ? 0 : 1));
    }
    const int normal = s_.u[i] > slack ? 2 : (s_.u[i] < -slack ? 0 : 1);
    return (slip * 3 + normal) * 2 + (stored_[i] > 0.0 ? 1 : 0);
  }

  /// Limits and release speeds of the step, which then starts at u - r. A contact that pushes alone
  /// from u along `slope` reaches r when its store is empty.
  CAROM_INLINE void set_releases(double length, bool carefully) {
    for (int i = 0; i < contacts_; ++i) {
      const double u = before_[i];
      s_.limit[i] = length * weights_.weight[i];
      release_[i] = 0.0;
      if (!(stored_[i] > 0.0) || u < -kMet * speed_) continue;
      const double from = larger(u, 0.0);
      release_[i] = larger(square_root(fused(from, from, 2.0 * slope_[i] * stored_[i])),
                           from + kLeast * speed_);
      const double speed = carefully ? 2.0 * release_[i] : from + release_[i];
      if (speed * s_.limit[i] > 2.0 * stored_[i]) s_.limit[i] = 2.0 * stored_[i] / speed;
      s_.u[i] = u - release_[i];
    }
  }

  /// Adds the step's work to the energy balance (certificate::ReleaseBooks); false if it must be
  /// tried with smaller releases.
  CAROM_INLINE bool book(bool carefully) {
    double out[kMost], put[kMost], spent[kMost], rubbed[kMost];
    double gift = 0.0, puts = 0.0, losses = 0.0, left = 0.0;
    for (int i = 0; i < contacts_; ++i) {
      const double e = restitution_[i];
      const double work = 0.5 * s_.impulse[i] * (before_[i] + s_.next_u[i]);
      double friction = 0.0;
      for (int t = contacts_ + kTangents * i; t < contacts_ + kTangents * (i + 1); ++t) {
        friction = fused(0.5 * s_.impulse[t], before_[t] + s_.next_u[t], friction);
      }
      out[i] = work > 0.0 ? smaller(work, stored_[i]) : 0.0;
      put[i] = work < 0.0 ? -e * e * work : 0.0;
      spent[i] = work < 0.0 ? -work - put[i] : 0.0;
      rubbed[i] = larger(-friction, 0.0);
      gift += larger(work, 0.0) - out[i] + larger(friction, 0.0);
      puts += put[i];
      losses += spent[i] + rubbed[i];
      left += stored_[i] - out[i];
    }
    if (gift > puts + losses + kRounding * problem_.energy && !carefully) return false;
    trimmed_ += gift;
    const double by_puts = puts > gift ? gift / puts : (puts > 0.0 ? 1.0 : 0.0);
    gift = at_least_zero(gift - puts);
    const double by_losses = losses > gift ? gift / losses : (losses > 0.0 ? 1.0 : 0.0);
    gift = at_least_zero(gift - losses);
    const double by_left = left > gift ? gift / left : (left > 0.0 ? 1.0 : 0.0);
    for (int i = 0; i < contacts_; ++i) {
      const double taken = by_left * (stored_[i] - out[i]), kept = put[i] * (1.0 - by_puts);
      stored_[i] += kept - out[i] - taken;
      put_[i] += kept - taken;
      released_[i] += out[i];
      lost_[i] += spent[i] * (1.0 - by_losses);
      rubbed_[i] += rubbed[i] * (1.0 - by_losses);
      if (stored_[i] <= Books::kNothing * problem_.energy) {
        lost_[i] += stored_[i];
        stored_[i] = 0.0;
      }
      const double slope = (s_.next_u[i] - before_[i]) / s_.impulse[i];
      const bool pushes = s_.impulse[i] > kRounding * problem_.step_size;
      slope_[i] = pushes && slope > 0.0 && is_finite(slope) ? slope : mobility(i);
    }
    return true;
  }

  CAROM_INLINE void record(double* path, int step) const {
    if (path == nullptr) return;
    const PathRow row{run_.velocities, rows_, contacts_};
    double* const to = path + static_cast<long>(step) * row.size();
    row.write(to, s_.v, s_.impulse, restitution_, friction_);
  }

  CAROM_INLINE void finish(TrajectoryEnd& end) {
    for (int i = 0; i < contacts_; ++i) {
      if (view_.vary) {
        books_.restitution[i] = books_.friction[i] = std::numeric_limits<double>::quiet_NaN();
      }
      books_.stored[i] = put_[i];
      books_.released[i] = released_[i];
      books_.lost_compression[i] = lost_[i];
      books_.lost_friction[i] = rubbed_[i];
    }
    books_.guarded = false;
    books_.trimmed = trimmed_ > kRounding * problem_.energy;
    end.energy_ratio = energy_ratio<double>(problem_, run_.velocities, s_.v);
    if (end.status == TrajectoryStatus::terminated) {
      const auto found = judge_.finish(s_.v, lost_, rubbed_, run_.velocity_tolerance);
      end.residual = larger(end.residual, found.residual);
      if (!certificate::within(found.residual, run_.residual_tolerance) ||
          !certificate::within(found.books, certificate::kBooks)) {
        end.status = TrajectoryStatus::failed;
        end.residual = kInfinity;
        return;
      }
    }
    end.modes = contact_modes<Dim>(contacts_, s_.u, run_.mode_tolerance);
    end.in_net = end.status == TrajectoryStatus::terminated;
    end.net_modes = end.modes;
  }

  const ImpactRun& run_;
  ImpactProblemView problem_;
  ImpactScratch<Dim> s_;
  const RestitutionView& view_;
  StoreBooks& books_;
  int contacts_, rows_;
  double friction_[kMost], release_[kMost];
  ImpactTrajectory<Dim, Lanes, ReleaseSteps> steps_;
  Books judge_;
  EventWeights<kMost, true> weights_;
  MaterialNumbers numbers_{};
  std::uint32_t stretch_ = 0;
  double before_[Dim * kMost];
  double restitution_[kMost];
  double stored_[kMost];  ///< [J], and ...
  double slope_[kMost];   ///< ... du_n by impulse of the contact's last push
  double put_[kMost], released_[kMost], lost_[kMost], rubbed_[kMost];
  double speed_ = 0.0, trimmed_ = 0.0;
  double longest_ = 0.0;   ///< impulse that stops the fastest contact
  double followed_ = 0.0;  ///< of a policy
};

}  // namespace carom::kernels
