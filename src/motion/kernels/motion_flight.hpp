#pragma once

#include "motion/kernels/motion_events.hpp"

namespace carom::kernels::motion {

enum class FlightEnd : unsigned char { event, stop, jammed, stalled, failed, again };

/// Motion under fixed contact laws, until one of them ends.
template <class T>
class MotionFlight : public MotionEvents<T> {
  using Base = MotionEvents<T>;
  using typename Base::Found, typename Base::Happening;

 protected:
  using Base::Base;
  using Base::closed_, Base::extended_, Base::slope_, Base::steps_, Base::watched_;
  using Base::kContacts, Base::kQ, Base::kRows, Base::kState, Base::kV;
  using Base::laws_, Base::local_, Base::n_, Base::nq_, Base::nv_, Base::out_, Base::preferred_,
      Base::response_, Base::run_, Base::size_, Base::time_, Base::y_;
  using Base::slope, Base::extend;

  /// From laws_ just chosen. `event`: preferred_ says what should follow.
  CAROM_CALL FlightEnd fly() {
    const double stop = this->next_stop();
    closed_ = 0;
    for (int i = 0; i < size_.constraints; ++i) {
      if (laws_.law[i] != Law::open) closed_ |= 1U << i;
    }
    if (!slope(time_, y_, slope_)) return FlightEnd::failed;
    bool rejected = false;
    this->stiff_ = false;
    double rate = turning();
    int short_steps = 0;  // for what friction's turning is, in turn
    while (time_ < stop) {
      const double speed = this->fastest();
      const double longest = kMostSamples / (kSamples + kSamplesBySpeed * speed);
      const double left = stop - time_;
      double h = smaller(smaller(length_, left), longest);
      const bool whole = h >= left;
      if (!whole && h < kShortest * (1.0 + time_)) {
        length_ = kFirstLength;
        return FlightEnd::jammed;
      }
      if (++steps_taken_ % kStepsAWatch == 0) {
        if (time_ - watched_time_ < kStepsAWatch * kShortestMean) return FlightEnd::stalled;
        watched_time_ = time_;
      }
      double next[kState];
      const bool done = this->advance(h, next);
      const double error = done ? this->step_error(h, next) : kInfinity;
      const bool slow = h * rate > 1.0;
      short_steps = slow != this->stiff_ ? short_steps + 1 : 0;
      if (!(error <= 1.0)) {
        length_ = is_finite(error) ? next_after(h, error) : 0.1 * h;
        rejected = true;
        continue;
      }
      const int samples = 1 + static_cast<int>(h * (kSamples + kSamplesBySpeed * speed));
      const Found first = this->first_event(h, next, samples);
      if (first.what != Happening::none) {
        const FlightEnd met = meet(first, h, next);
        if (met != FlightEnd::again) return met;
        rejected = true;
        continue;
      }
      // Looking for events left local_ at another state.
      if (extended_ && !slope(time_ + h, next, steps_.end_slope())) return FlightEnd::failed;
      if (!accept(h, whole ? stop : time_ + h, next)) return FlightEnd::failed;
      length_ = rejected ? smaller(h, next_after(h, error)) : next_after(h, error);
      rejected = false;
      rate = turning();
      if (!(rate > 0.0) || short_steps >= (this->stiff_ ? kLoose : kStiff)) {
        this->stiff_ = rate > 0.0 && !this->stiff_;
        short_steps = 0;
      }
    }
    return FlightEnd::stop;
  }

  /// Free motion and contact start anew from here: local_ is at the state.
  CAROM_INLINE void know_energy() {
    energy_ = this->energy();
    energy_known_ = true;
  }

 private:
  static constexpr double kSamples = 20.0;        ///< gaps looked at per second ...
  static constexpr double kSamplesBySpeed = 4.0;  ///< ... and per metre or radian
  static constexpr double kMostSamples = 64.0;
  static constexpr double kShortest = 1e-14;
  static constexpr double kFirstLength = 1e-2;
  static constexpr double kDrifted = 1e-12;
  static constexpr int kStiff = 60;  ///< steps that friction's turning kept short, until implicit
  static constexpr int kLoose = 4;   ///< implicit ones that it would not have
  static constexpr double kBent = 1e-10;
  static constexpr double kAgain = 0.7;
  static constexpr double kMissed = 1e-11;       ///< [m]
  static constexpr long kStepsAWatch = 4096;     ///< of which the time is looked at:
  static constexpr double kShortestMean = 1e-7;  ///< a motion whose steps are shorter is given up
  static constexpr double kMet = 1e-14;          ///< of an event's function [m, m/s]
  static constexpr double kClose = 1e-9;         ///< [s]

  [[nodiscard]] CAROM_INLINE double next_after(double h, double error) const {
    return this->stiff_ ? next_stiff_length(h, error) : next_length(h, error);
  }
  CAROM_INLINE double turning() {
    if constexpr (kRows == 3) return this->turning_rate();
    return 0.0;
  }

  /// From the end of a step by a time whose square is nothing.
  CAROM_CALL bool move_on(double by, double length, double* next) {
    double* slope_there = steps_.end_slope();
    for (int j = 0; j < n_; ++j) next[j] = fused(by, slope_there[j], next[j]);
    return slope(time_ + length, next, slope_there);
  }

  /// Largest gap and normal velocity of closed contacts, at the state that local_ describes.
  [[nodiscard]] CAROM_INLINE double drift() const {
    double most = 0.0;
    for (int i = 0; i < size_.constraints; ++i) {
      if (laws_.law[i] == Law::open) continue;
      most = larger(most, larger(magnitude(local_.gap[i]), magnitude(local_.speed[i][0])));
    }
    return most;
  }

  /// Goes to the event and corrects its time by the function's own rate.
  CAROM_CALL FlightEnd meet(const Found& event, double h, const double* next) {
    const int i = event.contact;
    double length = event.at * h;
    if (length > 1e-15 * (1.0 + time_)) {
      double end[kState] = {};
      const auto go = [&](double at) {
        this->state_at(h, next, at, end);
        return slope(time_ + length, end, steps_.end_slope());
      };
      watched_ = 1U << i;
      bool done = go(event.at);
      const bool smooth = !event.exact && event.what != Happening::split;
      for (int round = 0; done && round < 3 && smooth; ++round) {
        double rate = 0.0;
        if (event.what == Happening::gap) rate = local_.speed[i][0];
        if (event.what == Happening::stop) {
          for (int d = 1; d < kRows; ++d) {
            const double* row = local_.rows[i] + d * nv_;
            rate = fused(
                laws_.direction[i][d - 1],
                LocalState<T>::along(nv_, row, response_.acceleration) + local_.drift[i][d], rate);
          }
        }
        const double away = this->value(event.what, i);
        if (!(rate < 0.0) || !(magnitude(away) > kMet)) break;
        const double correction = -away / rate;
        if (!(magnitude(correction) < 1e-3 * length)) break;
        length += correction;
        done = magnitude(correction) <= kClose ? move_on(correction, length, end) : go(length / h);
      }
      watched_ = 0;
      // Slip that comes to nothing within a step may turn by more than its dense output knows.
      if (done && !(drift() <= kBent)) {
        length_ = kAgain * length;
        return FlightEnd::again;
      }
      // Another gap may be closed here and be open again at the step's end.
      for (int k = 0; done && k < size_.constraints; ++k) {
        if (k == i || laws_.law[k] != Law::open || !this->closes(k)) continue;
        if (local_.gap[k] < -kMissed) {
          length_ = smaller(length, 0.5 * h);  // of the same length it would be found no sooner
          return FlightEnd::again;
        }
      }
      if (!done || !accept(h, time_ + length, end)) return FlightEnd::failed;
    }
    if (event.what == Happening::force) preferred_[i] = static_cast<int>(Law::open);
    if (event.what == Happening::cone) preferred_[i] = static_cast<int>(Law::slide);
    if (event.what == Happening::stop) preferred_[i] = static_cast<int>(Law::stick);
    if (length > 0.0) length_ = larger(length_ * 0.1, smaller(length_, length));
    return FlightEnd::event;
  }

  /// Takes a step of length h as far as `time`, where the state is `next`, which local_ describes.
  CAROM_CALL bool accept(double h, double time, const double* next) {
    const auto inside = [&] {
      return out_.state != nullptr && this->next_point_ < out_.grid_points &&
             this->grid_time(this->next_point_) < time;
    };
    if (inside() && !extended_ && !(extend(h, next) && slope(time, next, steps_.end_slope()))) {
      return false;
    }
    const bool anew = this->stiff_ && inside();
    while (inside()) {
      double at[kState];
      this->state_at(h, next, (this->grid_time(this->next_point_) - time_) / h, at);
      this->put_state(this->next_point_++, at);
    }
    if (anew && !slope(time, next, steps_.end_slope())) return false;
    const double before = balance_of(y_);
    for (int i = 0; i < n_; ++i) {
      y_[i] = next[i];
      slope_[i] = steps_.end_slope()[i];
    }
    time_ = time;
    this->normalise();
    error_ += energy_known_ ? balance_of(y_) + this->energy() - energy_ - before : 0.0;
    const bool drifted = drift() > kDrifted;
    for (int i = 0; i < size_.constraints; ++i) {
      if (kRows == 3 && laws_.law[i] == Law::slide && local_.friction[i] > 0.0) {
        this->follow_slip(local_, i, laws_);
      }
    }
    if (drifted) {
      if (!this->evaluate(~0U) || !this->settle(closed_)) return false;
      if (!slope(time_, y_, slope_)) return false;
    }
    energy_ = this->energy();
    *out_.energy_error = larger(*out_.energy_error, magnitude(error_));
    this->track_energy();
    this->track_gaps();
    this->arm();
    this->keep_state();
    return true;
  }

  /// What energy owes to the drive and to slip.
  [[nodiscard]] CAROM_INLINE double balance_of(const double* y) const {
    return y[nq_ + nv_ + 2] - y[nq_ + nv_ + 1];
  }

  long steps_taken_ = 0;
  double watched_time_ = 0.0;
  double length_ = kFirstLength;
  double energy_ = 0.0;
  double error_ = 0.0;
  bool energy_known_ = false;
};

}  // namespace carom::kernels::motion
