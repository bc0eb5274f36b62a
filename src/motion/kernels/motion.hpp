#pragma once

#include "motion/kernels/motion_leap.hpp"
#include "motion/kernels/zeno.hpp"

/// One motion: phases of fixed contact laws, integrated with error control until an event; impacts;
/// limits of accumulating impacts (docs/explanation/motion.md).
namespace carom::kernels::motion {

template <class T>
class Motion : MotionLeap<T> {
  using Base = MotionLeap<T>;
  using Base::energy, Base::evaluate, Base::has, Base::note, Base::s, Base::slip_of, Base::v;
  using Base::index_, Base::laws_, Base::local_, Base::nq_, Base::nv_, Base::out_, Base::preferred_,
      Base::parameters_, Base::problem_, Base::response_, Base::run_, Base::sample_, Base::size_,
      Base::time_, Base::y_;
  using Base::kContacts, Base::kState;

 public:
  CAROM_HOST_DEVICE Motion(const MotionRun& run, const MotionProblemView& problem,
                           std::uint32_t index, std::uint64_t sample, const MotionSampleView& out)
      : Base(run, problem, index, sample, out) {}

  /// Fills all of the sample's numbers.
  CAROM_CALL void run() {
    *out_.events = *out_.impacts = *out_.pushes = *out_.ambiguous = *out_.zeno = 0;
    *out_.residual = *out_.gap_drift = *out_.energy_gain = *out_.energy_error = 0.0;
    if (out_.event_count != nullptr) *out_.event_count = 0;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (int j = 0; j < nv_; ++j) out_.first_impact[j] = nan;
    for (int i = 0; i < size_.constraints; ++i) out_.load[i] = nan;
    *out_.zeno_time = *out_.zeno_s = nan;
    MotionEnd end = MotionEnd::failed;
    if (this->start()) {
      while (phase(end)) {
      }
    }
    finish(end);
  }

 private:
  /// From one event to the next; false at the end.
  CAROM_CALL bool phase(MotionEnd& end) {
    end = MotionEnd::failed;
    stalled_ = time_ > last_time_ ? 0 : stalled_ + 1;
    last_time_ = time_;
    if (stalled_ > kMostStalled) return false;
    if (*out_.events >= run_.max_events) {
      end = MotionEnd::event_limit;
      return false;
    }
    if (problem_.drive != nullptr) {
      while (this->knot_ + 1 < problem_.knots &&
             time_ >= static_cast<double>(this->knot_ + 1) * problem_.drive_interval) {
        ++this->knot_;
      }
    }
    if (!evaluate(~0U)) return false;
    unsigned near = 0;
    unsigned touching = 0;
    bool approaches = false;
    const double closed = larger(run_.contact_tolerance, time_ == 0.0 ? Base::kStartGap : 0.0);
    for (int i = 0; i < size_.constraints; ++i) {
      if (!this->closes(i) || !(local_.gap[i] <= closed)) continue;
      near |= 1U << i;
      approaches = approaches || local_.speed[i][0] < -run_.velocity_tolerance;
      if (local_.speed[i][0] <= run_.velocity_tolerance) touching |= 1U << i;
    }
    if (approaches) return collide(near, false);
    if (time_ >= run_.duration) {
      end = MotionEnd::duration;
      return false;
    }
    if (!this->settle(touching)) return false;
    double scale = 0.0;
    int found = choose(touching, scale);
    if (found == 0 && stop_slip(touching, kCreep)) found = choose(touching, scale);
    if (found == 0) return collide(touching, true) || leaps();
    for (int i = 0; i < size_.constraints; ++i) {
      if (has(near, i) && laws_.law[i] == Law::open) this->armed_ &= ~(1U << i);
    }
    if (rests(scale)) {
      end = MotionEnd::rest;
      note(MotionEventKind::rest, touching);
      for (int i = 0; i < size_.constraints; ++i) out_.load[i] = response_.force[i][0];
      return false;
    }
    this->know_energy();
    const FlightEnd flight = this->fly();
    if (flight == FlightEnd::stalled) {
      end = MotionEnd::event_limit;
      return false;
    }
    if (flight == FlightEnd::jammed) {
      return evaluate(~0U) && (collide(touching, true) || stop_slip(touching, kJammed) || leaps());
    }
    return flight != FlightEnd::failed;
  }

  /// As leap; a run that asks for the first impact has it no longer.
  CAROM_CALL bool leaps() { return run_.probe == nullptr && evaluate(~0U) && this->leap(); }

  /// Laws of the contacts that touch; how many solutions there were.
  CAROM_CALL int choose(unsigned touching, double& scale) {
    unsigned sliding = 0;
    double direction[kContacts][2] = {};
    for (int i = 0; i < size_.constraints; ++i) {
      if (!has(touching, i) || !(local_.friction[i] > 0.0)) continue;
      if (slip_of(local_, i, direction[i]) > run_.velocity_tolerance) sliding |= 1U << i;
    }
    LawSearch<T> search(size_, local_, touching, sliding, direction, preferred_,
                        run_.law_tolerance);
    const int found = search.run();
    scale = search.acceleration_scale();
    for (int i = 0; i < kContacts; ++i) preferred_[i] = -1;
    if (found == 0) return 0;
    int chosen = 0;
    if (found > 1) {
      const std::uint64_t seed = derived_seed(run_.seed, kLawDraws, 0);
      chosen = static_cast<int>(
          uniform(seed, index_, sample_, static_cast<std::uint32_t>(*out_.ambiguous)) * found);
      if (chosen >= found) chosen = found - 1;
      ++*out_.ambiguous;
    }
    const Laws<T> before = laws_;
    *out_.residual = larger(*out_.residual, search.take(chosen, laws_, response_));
    this->acceleration_scale_ = scale;
    this->force_scale_ = larger(search.force_scale(), response_.normal_sum(size_.constraints));
    this->split_ = response_;
    tell_changes(before);
    return found;
  }

  /// Impacts without collision of contacts whose slip is at most `share` of the mechanism's
  /// velocities, too slow for a step to tell what becomes of it: it stops. Whether there was any.
  CAROM_CALL bool stop_slip(unsigned touching, double share) {
    const double slow = share * this->fastest();
    unsigned creeping = 0;
    unsigned still = 0;
    for (int i = 0; i < size_.constraints; ++i) {
      double direction[2];
      if (!has(touching, i)) continue;
      const double slip = slip_of(local_, i, direction);
      if (slip <= run_.velocity_tolerance) still |= 1U << i;
      if (slip <= slow && slip > run_.velocity_tolerance) creeping |= 1U << i;
    }
    if (creeping == 0) return false;
    s() += project_velocity<T>(size_, local_, touching, still | creeping, v());
    if (!evaluate(~0U)) return false;
    this->track_energy();
    this->count(out_.pushes);
    note(MotionEventKind::push, creeping);
    return true;
  }

  /// Events of the contacts whose law is another one now.
  CAROM_CALL void tell_changes(const Laws<T>& before) {
    unsigned lifted = 0;
    unsigned stuck = 0;
    unsigned slipping = 0;
    for (int i = 0; i < size_.constraints; ++i) {
      const Law law = laws_.law[i];
      const bool turned = law == Law::slide && before.law[i] == Law::slide &&
                          laws_.direction[i][0] * before.direction[i][0] +
                                  laws_.direction[i][1] * before.direction[i][1] <
                              0.0;
      if (law == before.law[i] && !turned) continue;
      if (law == Law::open) lifted |= 1U << i;
      if (law == Law::stick) stuck |= 1U << i;
      if (law == Law::slide && local_.friction[i] > 0.0) slipping |= 1U << i;
    }
    if (lifted != 0) note(MotionEventKind::lift_off, lifted);
    if (stuck != 0) note(MotionEventKind::stick, stuck);
    if (slipping != 0) note(MotionEventKind::slip, slipping);
  }

  /// Nothing moves, nothing is accelerated and the drive changes no more.
  [[nodiscard]] CAROM_CALL bool rests(double scale) const {
    if (problem_.drive != nullptr && this->knot_ + 1 < problem_.knots) return false;
    for (int j = 0; j < nv_; ++j) {
      if (!(magnitude(y_[nq_ + j]) <= run_.velocity_tolerance)) return false;
      if (!(magnitude(response_.acceleration[j]) <= run_.law_tolerance * scale)) return false;
    }
    return true;
  }

  CAROM_CALL bool collide(unsigned touching, bool push) {
    MotionImpact<T> impact(size_, local_, touching, v(), push);
    const double before = energy();
    const auto number =
        static_cast<std::uint64_t>(*out_.impacts) + static_cast<std::uint64_t>(*out_.pushes);
    if (run_.probe != nullptr) {
      if (number == 0 && !push) impact.tell(y_, nq_ + nv_, touching, *run_.probe);
      return false;
    }
    if (number == 0 && !push && is_known(touching)) impact.adopt(problem_.first->problem);
    const ImpactOutcome outcome = impact.run(run_.impact, run_.step_size, index_, sample_, number,
                                             push, run_.restitution, run_.coefficient, v());
    if (!outcome.done) return false;
    s() += outcome.normal_impulse;
    *out_.residual = larger(*out_.residual, outcome.residual);
    if (!evaluate(~0U)) return false;
    *out_.energy_gain = larger(*out_.energy_gain, energy() - before);
    this->track_energy();
    this->count(push ? out_.pushes : out_.impacts);
    note(push ? MotionEventKind::push : MotionEventKind::impact, impact.struck());
    watch_.add(nq_ + nv_, time_, s(), impact.struck(), y_);
    return complete();
  }

  /// Whether the first impact is the one that was prepared: backends' sines differ in a bit,
  /// samples whose laws were drawn differ in more.
  [[nodiscard]] CAROM_CALL bool is_known(unsigned touching) const {
    const FirstImpact* known = problem_.first;
    if (known == nullptr || known->contacts != touching) return false;
    for (int j = 0; j < nq_ + nv_; ++j) {
      const double apart = magnitude(y_[j] - known->state[j]);
      if (!(apart <= kSameState * larger(1.0, magnitude(y_[j])))) return false;
    }
    return true;
  }

  /// Takes the limit of impacts whose times accumulate.
  CAROM_CALL bool complete() {
    double state[kState];
    const auto limit = watch_.limit(nq_ + nv_, nq_, run_.zeno_tolerance, state);
    if (!limit.found || !(limit.time <= this->next_stop()) || meets_others(limit.contacts, state)) {
      return true;
    }
    watch_.clear();
    for (int i = 0; i < nq_ + nv_; ++i) y_[i] = state[i];
    this->normalise();
    s() = limit.s;
    time_ = limit.time;
    if (!evaluate(~0U) || !this->close_gaps(limit.contacts)) return false;
    unsigned slow = 0;
    for (int i = 0; i < size_.constraints; ++i) {
      if (!has(limit.contacts, i)) continue;
      double direction[2];
      if (slip_of(local_, i, direction) <= kStopped * limit.reference) slow |= 1U << i;
    }
    project_velocity<T>(size_, local_, limit.contacts, slow, v());
    if (!evaluate(~0U)) return false;
    this->track_energy();
    this->keep_state();
    if (*out_.zeno == 0) {
      *out_.zeno_time = time_;
      *out_.zeno_s = s();
    }
    ++*out_.zeno;
    note(MotionEventKind::zeno, limit.contacts);
    return true;
  }

  /// Contacts that the impacts do not touch close before their limit.
  [[nodiscard]] CAROM_CALL bool meets_others(unsigned struck, const double* q) const {
    const T at(parameters_, time_, q);
    for (int i = 0; i < size_.constraints; ++i) {
      if (has(struck, i) || !this->closes(i)) continue;
      const double room = laws_.law[i] == Law::open ? 0.0 : -run_.contact_tolerance;
      if (at.constraint(i).gap < smaller(room, local_.gap[i])) return true;
    }
    return false;
  }

  CAROM_CALL void finish(MotionEnd end) {
    *out_.end = end;
    *out_.time = time_;
    *out_.s = s();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const bool known = end != MotionEnd::failed;
    for (int j = 0; j < nq_; ++j) out_.position[j] = known ? y_[j] : nan;
    for (int j = 0; j < nv_; ++j) out_.velocity[j] = known ? y_[nq_ + j] : nan;
    clear_events();
    if (out_.state == nullptr) return;
    // At rest only s goes on.
    double load = 0.0;
    for (int i = 0; i < size_.constraints && end == MotionEnd::rest; ++i) load += out_.load[i];
    const double rested = s();
    for (long point = this->next_point_; point < out_.grid_points; ++point) {
      const double after = this->grid_time(point) - time_;
      if (end == MotionEnd::rest) s() = fused(1.0 + load, at_least_zero(after), rested);
      if (end == MotionEnd::duration || end == MotionEnd::rest || after <= 0.0) {
        this->put_state(point, y_);
      } else {
        for (int j = 0; j <= nq_ + nv_; ++j) {
          out_.state[point * (nq_ + nv_ + 1) + j] = nan;
        }
      }
    }
    s() = rested;
  }

  /// Rows of events that did not happen.
  CAROM_CALL void clear_events() {
    if (out_.event_count == nullptr) return;
    for (long row = *out_.event_count; row < out_.event_rows; ++row) {
      out_.event_kind[row] = MotionEventKind::impact;
      out_.event_contacts[row] = 0;
      out_.event_time[row] = out_.event_s[row] = 0.0;
      for (int j = 0; j < nq_ + nv_; ++j) out_.event_state[row * (nq_ + nv_) + j] = 0.0;
    }
  }

  static constexpr double kCreep = 1e-6;
  static constexpr double kJammed = 1e-3;
  static constexpr int kMostStalled = 64;
  static constexpr double kSameState = 1e-10;
  static constexpr double kStopped = 1e-5;  ///< of the velocities at a sequence's start

  int stalled_ = 0;
  double last_time_ = -1.0;
  ZenoWatch<kState, LaneOf<T>> watch_;
};

/// Motion number `row` of a view's, problem after problem.
template <class T>
CAROM_HOST_DEVICE void simulate(const MotionView& view, long row) {
  const long p = row / view.samples;
  const long i = row % view.samples;
  const MotionProblemView problem = view.problem(p, i);
  const MotionSampleView out = view.sample(p, i);
  Motion<T>(view.run, problem, static_cast<std::uint32_t>(view.first_problem + p),
            view.first_sample + static_cast<std::uint64_t>(i), out)
      .run();
}

}  // namespace carom::kernels::motion
