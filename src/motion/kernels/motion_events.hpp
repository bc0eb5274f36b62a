#pragma once

#include "motion/kernels/dormand_prince.hpp"
#include "motion/kernels/motion_state.hpp"
#include "motion/kernels/stiff_steps.hpp"

namespace carom::kernels::motion {

/// Steps of a motion under fixed contact laws, and where in a step the first of the laws ends.
template <class T>
class MotionEvents : public MotionState<T> {
  using Base = MotionState<T>;

 protected:
  using Base::Base;
  using Base::kContacts, Base::kQ, Base::kRows, Base::kState, Base::kV;
  using Base::laws_, Base::local_, Base::nq_, Base::nv_, Base::n_, Base::parameters_,
      Base::response_, Base::run_, Base::size_, Base::time_, Base::y_;
  using Steps = DormandPrince<kState, !SizedAtRunTime<T>, LaneOf<T>>;
  struct NoSteps {  ///< friction in the plane does not turn
    CAROM_INLINE NoSteps(int, int, int) {}
  };
  using StiffSteps = std::conditional_t<kRows == 3, RadauSteps<kState, kV, LaneOf<T>>, NoSteps>;

  enum class Happening : unsigned char { none, gap, force, cone, stop, split };
  struct Found {
    Happening what = Happening::none;
    int contact = -1;
    double at = 2.0;     ///< fraction of the step
    bool exact = false;  ///< by its own series: the state is too coarse to be asked
  };

  /// (q', v', s', power of the drive, loss by slip). Leaves local_ and response_ of that state.
  CAROM_CALL bool slope(double time, const double* y, double* dy) {
    const double* v = y + nq_;
    if (!local_.evaluate(parameters_, size_, time, y, v, this->drive(), closed_ | watched_)) {
      return false;
    }
    Laws<T> laws = laws_;
    if constexpr (kRows == 3) {
      for (int i = 0; i < size_.constraints; ++i) {
        if (laws.law[i] != Law::slide || !(local_.friction[i] > 0.0)) continue;
        // A reversal is an event; until it is found friction stays as it was.
        this->follow_slip(local_, i, laws);
      }
    }
    if (!respond<T>(size_, local_, laws, response_)) return false;
    const T at(parameters_, time, y);
    at.rates(v, dy);
    double load = 0.0;
    double loss = 0.0;
    if constexpr (requires { at.loss(v); }) loss = at.loss(v);
    for (int i = 0; i < size_.constraints; ++i) {
      if (laws.law[i] == Law::open) continue;
      load += magnitude(response_.force[i][0]);
      if (laws.law[i] != Law::slide) continue;
      for (int d = 1; d < kRows; ++d)
        loss = fused(-response_.force[i][d], local_.speed[i][d], loss);
    }
    double power = 0.0;
    const double* drive = this->drive();
    for (int j = 0; j < nv_; ++j) {
      dy[nq_ + j] = response_.acceleration[j];
      if (drive != nullptr) power = fused(drive[j], v[j], power);
    }
    dy[nq_ + nv_] = 1.0 + load;
    dy[nq_ + nv_ + 1] = power;
    dy[nq_ + nv_ + 2] = loss;
    return true;
  }

  CAROM_CALL bool advance(double h, double* next) {
    int stage = 0;
    suspects_ = 0;
    extended_ = false;
    if constexpr (kRows == 3) {
      if (stiff_) return advance_stiff(h, next);
    }
    return steps_.step(
        time_, h, y_, slope_,
        [&](double time, const double* y, double* dy) {
          if (!slope(time, y, dy)) return false;
          // A law may end and hold again within the step.
          if (++stage > kFirstLook && stage <= kLastLook && !response_.redundant) {
            for (int i = 0; i < size_.constraints; ++i) {
              if (laws_.law[i] != Law::open && breaks(i)) suspects_ |= 1U << i;
            }
          }
          return true;
        },
        next);
  }
  /// Slip that is slow for its friction turns at once: such steps are implicit.
  CAROM_CALL bool advance_stiff(double h, double* next) {
    steps_.start_at(slope_);
    return stiff_steps_.prepare(time_, y_, slope_, kApart * slowest_slip_, slopes()) &&
           stiff_steps_.step(time_, h, y_, slope_, slopes(), next) &&
           slope(time_ + h, next, steps_.end_slope());
  }
  /// Of the step just made, as DormandPrince's.
  CAROM_CALL double step_error(double h, const double* next) {
    if constexpr (kRows == 3) {
      if (stiff_) {
        return stiff_steps_.error(h, y_, slope_, run_.tolerance, kSlipKnown * slowest_slip_);
      }
    }
    return steps_.error(h, y_, next, run_.tolerance);
  }
  CAROM_INLINE auto slopes() {
    return [this](double time, const double* y, double* dy) { return slope(time, y, dy); };
  }

  /// State at fraction `at` of the step. After extend.
  CAROM_CALL void state_at(double h, const double* next, double at, double* y) {
    if constexpr (kRows == 3) {
      if (stiff_) {
        if (!stiff_steps_.step(time_, at * h, y_, slope_, slopes(), y)) {
          steps_.coarse(h, y_, next, at, y);
        }
        return;
      }
    }
    steps_.dense(y_, at, y);
  }

  /// How fast friction turns the slip of sliding contacts, at the state that local_ and response_
  /// describe [1/s].
  CAROM_CALL double turning_rate() {
    double most = 0.0;
    slowest_slip_ = kInfinity;
    for (int i = 0; i < size_.constraints; ++i) {
      if (laws_.law[i] != Law::slide || !(local_.friction[i] > 0.0)) continue;
      double direction[2];
      const double slip = this->slip_of(local_, i, direction);
      if (!(slip > run_.velocity_tolerance)) continue;
      slowest_slip_ = smaller(slowest_slip_, slip);
      if (slip > kQuickSlip) continue;
      double yielding = 0.0;
      for (int d = 1; d < kRows; ++d) {
        double effect[kV];
        const double* row = local_.rows[i] + d * nv_;
        for (int j = 0; j < nv_; ++j) effect[j] = row[j];
        local_.solve(nv_, effect);
        yielding = larger(yielding, LocalState<T>::along(nv_, row, effect));
      }
      most = larger(most, local_.friction[i] * response_.force[i][0] * yielding / slip);
    }
    return most;
  }

  /// Before state_at; local_ and response_ are of another state afterwards.
  CAROM_CALL bool extend(double h, const double* next) {
    if constexpr (kRows == 3) {
      if (stiff_) return extended_ = true;
    }
    if (!extended_) {
      extended_ = steps_.extend(
          time_, h, y_, next,
          [this](double time, const double* y, double* dy) { return slope(time, y, dy); });
    }
    return extended_;
  }

  /// A law that is asked for its forces or its slip ends for a closed contact.
  [[nodiscard]] CAROM_INLINE bool ends(Happening what, int i) const {
    if (what == Happening::force) return true;
    if (!(local_.friction[i] > 0.0)) return false;
    return what == (laws_.law[i] == Law::slide ? Happening::stop : Happening::cone);
  }
  [[nodiscard]] CAROM_INLINE bool breaks(int i) const {
    for (const Happening what : {Happening::force, Happening::cone, Happening::stop}) {
      if (ends(what, i) && value(what, i) < -slack(what, i)) return true;
    }
    return false;
  }

  /// Value of an event's function, not negative while the law holds. local_ and response_: of the
  /// state asked for.
  [[nodiscard]] CAROM_CALL double value(Happening what, int i) const {
    if (what == Happening::gap) return local_.gap[i];
    if (what == Happening::stop) {
      double along = 0.0;
      for (int d = 1; d < kRows; ++d) {
        along = fused(laws_.direction[i][d - 1], local_.speed[i][d], along);
      }
      return along;
    }
    const double normal = response_.force[i][0];
    if (what == Happening::force) return normal;
    double square = 0.0;
    for (int d = 1; d < kRows; ++d) {
      square = fused(response_.force[i][d], response_.force[i][d], square);
    }
    return fused(local_.friction[i], normal, -square_root(square));
  }
  /// What a force lacks is as much friction, times mu, along a contact's slip.
  [[nodiscard]] CAROM_INLINE double slack(Happening what, int i) const {
    const bool slides = what == Happening::force && laws_.law[i] == Law::slide;
    return slides ? slack(what) / larger(1.0, local_.friction[i]) : slack(what);
  }
  [[nodiscard]] CAROM_INLINE double slack(Happening what) const {
    if (what == Happening::gap) return kGapSlack;
    if (what == Happening::stop) return run_.velocity_tolerance;
    return kForceSlack * run_.law_tolerance * force_scale_;
  }

  CAROM_CALL double value_at(Happening what, int i, double h, const double* next, double at) {
    double y[kState] = {};
    if (!extend(h, next)) return -1.0;
    state_at(h, next, at, y);
    if (what == Happening::gap) {
      return T(parameters_, time_ + at * h, y).constraint(i).gap;
    }
    double unused[kState];
    slope(time_ + at * h, y, unused);
    return value(what, i);
  }

  /// Gap of an open contact, roughly.
  CAROM_CALL double gap_near(int i, double h, const double* next, double at) const {
    double y[kState] = {};
    steps_.coarse(h, y_, next, at, y);
    return T(parameters_, time_ + at * h, y).constraint(i).gap;
  }

  /// Loads that contacts share are split so that all laws hold, at the state that local_ and
  /// response_ describe.
  [[nodiscard]] CAROM_CALL bool bears(Response<T>& split) const {
    split = response_;
    const double force = slack(Happening::force);
    return obeys<T>(size_, local_, laws_, split, force) ||
           share<T>(size_, local_, laws_, force, split_.force, split);
  }
  CAROM_CALL bool bears_at(double h, const double* next, double at) {
    double y[kState] = {};
    double unused[kState];
    if (!extend(h, next)) return false;
    state_at(h, next, at, y);
    Response<T> split;
    return slope(time_ + at * h, y, unused) && bears(split);
  }

  /// The first law that ends in a step whose end local_ and response_ describe.
  CAROM_CALL Found first_event(double h, const double* next, int samples) {
    Found broken[3 * kContacts];
    int count = 0;
    unsigned lowered = 0;
    const bool shared = response_.redundant;
    for (int i = 0; i < size_.constraints; ++i) {
      const auto look = [&](Happening what) {
        if (value(what, i) < -slack(what, i)) {
          broken[count].what = what;
          broken[count++].contact = i;
        }
      };
      if (laws_.law[i] == Law::open) {
        if (!this->closes(i)) continue;
        look(Happening::gap);
        if (local_.gap[i] < 0.0 && local_.gap[i] >= -kGapSlack) lowered |= 1U << i;
        continue;
      }
      for (const Happening what : {Happening::force, Happening::cone, Happening::stop}) {
        if (!ends(what, i) || (shared && what != Happening::stop)) continue;
        look(what);
        if ((suspects_ >> i & 1U) == 0U || value(what, i) < -slack(what, i)) continue;
        broken[count].what = what;
        broken[count].contact = i;
        broken[count++].at = kLook;
      }
    }
    // A hop lower than the slack ends where it comes down.
    for (int i = 0; i < size_.constraints && lowered != 0; ++i) {
      if (!this->has(lowered, i) || !comes_down(i, next)) continue;
      broken[count].what = Happening::gap;
      broken[count++].contact = i;
    }
    Found first;
    Response<T> split;
    if (shared && bears(split)) {
      split_ = split;
    } else if (shared) {
      double low = 0.0;
      double high = 1.0;
      for (int halving = 0; halving < 50; ++halving) {
        const double middle = 0.5 * (low + high);
        (bears_at(h, next, middle) ? low : high) = middle;
      }
      first.what = Happening::split;
      first.contact = 0;
      first.at = high;
    }
    // A gap may have closed and opened again within the step.
    for (int i = 0; i < size_.constraints && samples > 1; ++i) {
      if (laws_.law[i] != Law::open || !this->closes(i) || local_.gap[i] < -kGapSlack) continue;
      for (int k = 1; k < samples; ++k) {
        if (gap_near(i, h, next, static_cast<double>(k) / samples) < -kGapSlack) {
          broken[count].what = Happening::gap;
          broken[count].contact = i;
          broken[count++].at = static_cast<double>(k) / samples;
          break;
        }
      }
    }
    for (int b = 0; b < count; ++b) {
      locate(broken[b], h, next);
      if (broken[b].at < first.at) first = broken[b];
    }
    return first;
  }

  /// Whether contact i approaches at a state.
  [[nodiscard]] CAROM_CALL bool comes_down(int i, const double* y) const {
    const T at(parameters_, time_, y);
    double rows[kRows * kV] = {};
    at.jacobian(at.constraint(i), rows, nv_);
    return LocalState<T>::along(nv_, rows, y + nq_) < -run_.velocity_tolerance;
  }

  /// Where the event's function leaves zero; event.at: where it is known to be below, or 2.
  CAROM_CALL void locate(Found& event, double h, const double* next) {
    const auto function = [&](double at) {
      return value_at(event.what, event.contact, h, next, at);
    };
    double high = event.at > 1.0 ? 1.0 : event.at;
    double below = function(high);
    double low = 0.0;
    if (!(below < 0.0)) {  // it was a rough look
      event.at = 2.0;
      return;
    }
    double above = function(0.0);
    const double least = slack(event.what, event.contact);
    double level = 0.0;
    if (!(above > least)) {  // it starts at zero: look for where it is above
      double at = high;
      double seen = -1.0;
      double limit = 0.0;
      for (int halving = 0; halving < 60 && !(seen > limit); ++halving) {
        at *= 0.5;
        seen = function(at);
        limit = event.what == Happening::gap ? 1e-15 : 0.0;
      }
      if (seen > limit) {
        low = at;
        above = seen;
      } else if (event.what == Happening::gap && hops(event, h)) {
        return;
      } else {
        level = smaller(above, 0.0) - 0.5 * least;
      }
    }
    above -= level;
    below -= level;
    if (!(above > 0.0)) {
      event.at = 0.0;
      return;
    }
    // Regula falsi with Illinois' halving; the bracket never leaves the root.
    int side = 0;
    double weight_above = above;
    double weight_below = below;
    // What the event's own rate corrects afterwards need not be closer.
    const bool smooth = event.what == Happening::gap || event.what == Happening::stop;
    const double close = smooth ? 1e-10 : 1e-15;
    const double enough = smooth ? 1e-10 * (above - below) : 0.0;
    for (int i = 0; i < 80 && high - low > close; ++i) {
      double at = (low * weight_below - high * weight_above) / (weight_below - weight_above);
      if (!(at > low && at < high) || i % 8 == 7) at = 0.5 * (low + high);
      if (at <= low || at >= high) break;
      const double f = function(at) - level;
      if (f > 0.0) {
        low = at;
        weight_above = f;
        if (side == 1) weight_below *= 0.5;
        side = 1;
      } else {
        high = at;
        weight_below = f;
        if (side == -1) weight_above *= 0.5;
        side = -1;
      }
      if (magnitude(f) <= enough) {
        high = at;
        break;
      }
    }
    event.at = high;
  }

  /// A gap that opens by less than rounding sees: its time of flight by velocity and acceleration.
  CAROM_CALL bool hops(Found& event, double h) {
    double unused[kState];
    watched_ = 1U << event.contact;
    const bool known = slope(time_, y_, unused);
    watched_ = 0;
    if (!known) return false;
    const int i = event.contact;
    const double bend =
        LocalState<T>::along(nv_, local_.rows[i], response_.acceleration) + local_.drift[i][0];
    const double speed = local_.speed[i][0];
    if (!(speed > 0.0 && bend < 0.0)) return false;
    const double at = -2.0 * speed / bend / h;
    if (!(at < 1.0)) return false;
    event.at = at;
    event.exact = true;
    return true;
  }

  double force_scale_ = 0.0;         ///< of the contact laws [N]
  double acceleration_scale_ = 0.0;  ///< likewise [m/s2]
  Response<T> split_;                ///< last of loads that contacts share
  Steps steps_{n_};
  StiffSteps stiff_steps_{n_, nq_, nv_};
  bool stiff_ = false;
  double slowest_slip_ = 0.0;  ///< of contacts that slide, where friction's turning was looked at
  double slope_[kState];
  unsigned closed_ = 0;
  unsigned watched_ = 0;
  unsigned suspects_ = 0;  ///< contacts whose law ended at one of a step's late stages
  bool extended_ = false;

 private:
  static constexpr double kGapSlack = 1e-12;   ///< [m]
  static constexpr double kForceSlack = 10.0;  ///< of the law's tolerance
  static constexpr double kQuickSlip = 0.05;   ///< [m/s]: nothing stiff
  static constexpr double kApart = 1e-4;       ///< of the slowest slip: differences
  static constexpr double kSlipKnown = 1e-3;   ///< of the slowest slip: to which it is integrated
  static constexpr int kFirstLook = Steps::kLateStages;
  static constexpr int kLastLook = kFirstLook + 3;
  static constexpr double kLook = 0.65;  ///< of a step: where they look, more or less
};

}  // namespace carom::kernels::motion
