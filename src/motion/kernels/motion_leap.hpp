#pragma once

#include "motion/kernels/law_search.hpp"
#include "motion/kernels/motion_flight.hpp"

namespace carom::kernels::motion {

/// Where neither contact laws nor an impact without collision let a motion go on, as where slip
/// that starts turns away from every direction it might take: some steps of a time-stepping scheme
/// (Moreau's). Its laws hold of the velocities at the end of each step, which always has a solution
/// in theory, and its error is of the step's second order.
template <class T>
class MotionLeap : public MotionFlight<T> {
  using Base = MotionFlight<T>;

 protected:
  using Base::Base;
  using Base::kContacts, Base::kQ, Base::kRows, Base::kV;
  using Base::local_, Base::nq_, Base::nv_, Base::out_, Base::parameters_, Base::preferred_,
      Base::run_, Base::size_, Base::time_, Base::y_;

  /// local_: at the state, all rows, now and after. Whether the motion got on.
  CAROM_CALL bool leap() {
    for (int step = 0; step < kTogether; ++step) {
      unsigned touching = 0;
      for (int i = 0; i < size_.constraints; ++i) {
        if (!this->closes(i) || local_.gap[i] > run_.contact_tolerance) continue;
        if (local_.speed[i][0] < -run_.velocity_tolerance) return step > 0;  // an impact's task
        touching |= 1U << i;
      }
      const double h = length(touching);
      if (!(h > kShortest) || ++leaps_ > kMostLeaps) return step > 0;
      if (!step_by(h, touching)) return false;
    }
    return true;
  }

 private:
  static constexpr double kLength = 1e-6;  ///< [s]
  static constexpr double kShortest = 1e-12;
  static constexpr int kTogether = 16;
  static constexpr int kMostLeaps = 20000;
  /// Of the laws' tolerance: what ended the others may have been that they were missed by little.
  static constexpr double kLooser = 100.0;
  static constexpr double kJump = 1e3;  ///< of the accelerations' scale: an impact

  /// No other gap closes, and the drive does not change.
  [[nodiscard]] CAROM_CALL double length(unsigned touching) const {
    double h = smaller(kLength, this->next_stop() - time_);
    for (int i = 0; i < size_.constraints; ++i) {
      const double closing = -local_.speed[i][0];
      if (this->has(touching, i) || !this->closes(i) || !(closing > 0.0)) continue;
      h = smaller(h, 0.5 * local_.gap[i] / closing);
    }
    return h;
  }

  CAROM_CALL bool step_by(double h, unsigned touching) {
    // With J v / h added to dJ/dt v the laws of accelerations are those of velocities after h.
    LocalState<T> ahead = local_;
    for (int i = 0; i < size_.constraints; ++i) {
      for (int k = 0; k < kRows; ++k) ahead.drift[i][k] += local_.speed[i][k] / h;
    }
    const double direction[kContacts][2] = {};
    LawSearch<T> search(size_, ahead, touching, 0U, direction, preferred_,
                        kLooser * run_.law_tolerance);
    if (search.run() == 0) return false;
    Laws<T> laws;
    Response<T> response;
    *out_.residual = larger(*out_.residual, search.take(0, laws, response));
    double middle[kV];
    double rates[kQ];
    double power = 0.0;
    double jump = 0.0;
    double* const v = this->v();
    for (int j = 0; j < nv_; ++j) {
      const double change = h * response.acceleration[j];
      middle[j] = fused(0.5, change, v[j]);
      if (this->drive() != nullptr) power = fused(this->drive()[j], middle[j], power);
      jump = larger(jump, magnitude(change));
      v[j] += change;
    }
    T(parameters_, time_, y_).rates(middle, rates);
    for (int j = 0; j < nq_; ++j) y_[j] = fused(h, rates[j], y_[j]);
    this->s() = fused(h, 1.0 + response.normal_sum(size_.constraints), this->s());
    y_[nq_ + nv_ + 1] = fused(h, power, y_[nq_ + nv_ + 1]);
    time_ += h;
    this->normalise();
    unsigned closed = 0;
    for (int i = 0; i < size_.constraints; ++i) {
      if (laws.law[i] != Law::open) closed |= 1U << i;
    }
    if (!this->evaluate(~0U) || !this->settle(closed)) return false;
    this->track_energy();
    if (jump > kJump * h * this->acceleration_scale_) {
      this->count(out_.pushes);
      this->note(MotionEventKind::push, closed);
    } else {
      this->keep_state();
    }
    return true;
  }

  int leaps_ = 0;
};

}  // namespace carom::kernels::motion
