#pragma once

#include <cmath>

#include <carom/device/lanes.hpp>
#include <carom/device/numeric.hpp>

#include "impact/kernels/contact_path_tableau.hpp"

/// Finds which slack vanishes first, without a division for each.
namespace carom::cuda {

namespace first_event {

using Linear = kernels::contact_path::Linear<double>;

/// How far the driving variable moves until f vanishes, to the bit of value / -rate; infinity where
/// it does not shrink faster than the tolerance. 0 is not divided, see quotient.cuh.
CAROM_INLINE double step_to(Linear f, double tolerance) {
  const bool shrinks = f.rate < -tolerance;
  const bool ahead = f.value > 0.0;
  const double rate = kernels::larger(-f.rate, tolerance);
  const double step = (ahead ? f.value : 1.0) / rate * (ahead ? 1.0 : 0.0);
  return shrinks ? step : kernels::kInfinity;
}

}  // namespace first_event

/// The first of the events whose slacks it is shown, without a division each: value / -rate is
/// compared by products, and in doubt whenever rounding could put two steps in another order.
class FirstEvent {
 public:
  CAROM_INLINE explicit FirstEvent(double tolerance) : tolerance_(tolerance) {}

  CAROM_INLINE void operator()(int event, first_event::Linear slack) {
    const double value = slack.value <= 0.0 ? 0.0 : slack.value;  // NaN is in doubt
    const double ours = value_ * slack.rate;                      // rates are negative here
    const double difference = kernels::fused(value, -rate_, ours);
    const bool shrinks = slack.rate < -tolerance_;
    const bool close = !(::fabs(difference) > ::fabs(ours) * 0x1.0p-50);  // or beyond all numbers
    const bool earlier = shrinks & (difference < 0.0);
    doubt_ |= static_cast<int>(shrinks & close);
    value_ = earlier ? value : value_;
    rate_ = earlier ? slack.rate : rate_;
    event_ = earlier ? event : event_;
  }
  [[nodiscard]] CAROM_INLINE bool in_doubt() const {
    return (doubt_ != 0) | ((value_ > 0.0) & (value_ < 1e-250));
  }
  [[nodiscard]] CAROM_INLINE kernels::ArgMin<double> found(int first) const {
    return {first_event::step_to({value_, rate_}, tolerance_), event_ < 0 ? -1 : first + event_};
  }

 private:
  double tolerance_;
  double value_ = 1.0, rate_ = 0.0;  // infinitely far
  int event_ = -1;
  int doubt_ = 0;
};

}  // namespace carom::cuda
