#pragma once

#include <concepts>
#include <limits>

#include "motion/kernels/contact_forces.hpp"
#include "motion/kernels/motion_impact.hpp"
#include "motion/kernels/motion_view.hpp"

namespace carom::kernels::motion {

/// A mechanism that lifts what swings: contact i may close only after its gap was open while
/// `clears(i)` was true.
template <class T>
concept LiftingMechanism = requires(const T& at) {
  { at.clears(0) } -> std::same_as<bool>;
};

/// Numbers of positions and velocities and of the integrated state (q, v, s, work of the drive,
/// loss by slip).
template <class T, bool kGrowing = SizedAtRunTime<T>>
struct MotionCounts {
  static constexpr int nq_ = T::kSizes.positions;
  static constexpr int nv_ = T::kSizes.velocities;
  static constexpr int n_ = nq_ + nv_ + 3;
  CAROM_INLINE explicit MotionCounts(const MechanismSizes&) {}
};
template <class T>
struct MotionCounts<T, true> {
  int nq_, nv_, n_;
  CAROM_INLINE explicit MotionCounts(const MechanismSizes& size)
      : nq_(size.positions), nv_(size.velocities), n_(nq_ + nv_ + 3) {}
};

/// Where a motion is: state and clocks, what the mechanism says there, and what is told of it.
template <class T>
class MotionState : protected MotionCounts<T> {
 protected:
  using MotionCounts<T>::nq_, MotionCounts<T>::nv_, MotionCounts<T>::n_;
  static constexpr int kQ = T::kSizes.positions;
  static constexpr int kV = T::kSizes.velocities;
  static constexpr int kContacts = T::kSizes.constraints;
  static constexpr int kRows = T::kRows;
  static constexpr int kState = kQ + kV + 3;
  static_assert(kContacts <= 31);

  CAROM_HOST_DEVICE MotionState(const MotionRun& run, const MotionProblemView& problem,
                                std::uint32_t index, std::uint64_t sample,
                                const MotionSampleView& out)
      : MotionCounts<T>(T::sizes(parameters_of(run, problem))),
        run_(run),
        problem_(problem),
        index_(index),
        sample_(sample),
        out_(out),
        parameters_(parameters_of(run, problem)),
        size_(T::sizes(parameters_)) {
    for (int i = 0; i < kState; ++i) y_[i] = 0.0;
    for (int i = 0; i < kContacts; ++i) {
      laws_.law[i] = Law::open;
      laws_.direction[i][0] = laws_.direction[i][1] = 0.0;
      preferred_[i] = -1;
    }
  }

  [[nodiscard]] CAROM_INLINE double* q() { return y_; }
  [[nodiscard]] CAROM_INLINE double* v() { return y_ + nq_; }
  [[nodiscard]] CAROM_INLINE double& s() { return y_[nq_ + nv_]; }
  [[nodiscard]] CAROM_INLINE static bool has(unsigned mask, int i) {
    return (mask >> i & 1U) != 0U;
  }

  /// Draws the start; false where every draw penetrates.
  CAROM_CALL bool start() {
    const std::uint64_t seed = derived_seed(run_.seed, kStartDraws, 0);
    std::uint32_t draw = 0;
    const auto around = [&](double centre, const double* spread, int j) {
      if (spread == nullptr) return centre;
      return fused(spread[j], 2.0 * uniform(seed, index_, sample_, draw++) - 1.0, centre);
    };
    for (int attempt = 0; attempt < kStartAttempts; ++attempt) {
      for (int j = 0; j < nq_; ++j) {
        q()[j] = around(problem_.position[j], problem_.position_spread, j);
      }
      normalise();
      for (int j = 0; j < nv_; ++j) {
        v()[j] = around(problem_.velocity[j], problem_.velocity_spread, j);
      }
      for (int j = 0; j < nq_ + nv_; ++j) {
        if (!is_finite(y_[j])) return false;  // a device's problems are refused afterwards
      }
      if (!evaluate(~0U)) return false;
      double least = 0.0;
      for (int i = 0; i < size_.constraints; ++i) least = smaller(least, local_.gap[i]);
      if (least >= -larger(kStartGap, run_.contact_tolerance)) {
        arm();
        lowest_energy_ = energy();
        keep_state();
        return true;
      }
      if (problem_.position_spread == nullptr) return false;
    }
    return false;
  }

  [[nodiscard]] CAROM_INLINE const double* drive() const {
    return problem_.drive == nullptr ? nullptr : problem_.drive + knot_ * nv_;
  }
  /// End of the drive's interval or of the motion.
  [[nodiscard]] CAROM_INLINE double next_stop() const {
    if (problem_.drive == nullptr || knot_ + 1 >= problem_.knots) return run_.duration;
    return smaller(run_.duration, static_cast<double>(knot_ + 1) * problem_.drive_interval);
  }
  CAROM_CALL bool evaluate(unsigned wanted) {
    return local_.evaluate(parameters_, size_, time_, q(), v(), drive(), wanted);
  }

  [[nodiscard]] CAROM_INLINE double fastest() const {
    double most = 0.0;
    for (int j = 0; j < nv_; ++j) most = larger(most, magnitude(y_[nq_ + j]));
    return most;
  }

  [[nodiscard]] CAROM_INLINE double energy() const {
    return local_.kinetic(nv_, y_ + nq_) + local_.potential;
  }
  /// Energy less what the drive gave may fall and not rise. local_: at the state.
  CAROM_INLINE void track_energy() {
    const double own = energy() - y_[nq_ + nv_ + 1];
    *out_.energy_gain = larger(*out_.energy_gain, own - lowest_energy_);
    lowest_energy_ = smaller(lowest_energy_, own);
  }
  CAROM_INLINE void track_gaps() {
    for (int i = 0; i < size_.constraints; ++i) {
      if (!closes(i)) continue;
      const double gap = local_.gap[i];
      *out_.gap_drift = larger(*out_.gap_drift, laws_.law[i] == Law::open ? -gap : magnitude(gap));
    }
  }
  CAROM_INLINE void normalise() {
    if constexpr (TurningMechanism<T, ParametersOf<T>>) {
      int first[kMostQuaternions];
      const int count = T::quaternions(parameters_, first);
      for (int k = 0; k < count; ++k) {
        double* const at = y_ + first[k];
        double square = 0.0;
        for (int j = 0; j < 4; ++j) square = fused(at[j], at[j], square);
        const double size = square_root(square);
        for (int j = 0; j < 4; ++j) at[j] /= size;
      }
    }
  }

  [[nodiscard]] CAROM_INLINE bool closes(int i) const {
    return !lifts() || laws_.law[i] != Law::open || has(armed_, i);
  }
  /// What swings and clears the ground may land from now on.
  CAROM_CALL void arm() {
    if constexpr (LiftingMechanism<T>) {
      if (!lifts()) return;
      const T at(parameters_, time_, q());
      for (int i = 0; i < size_.constraints; ++i) {
        const bool open = local_.gap[i] > run_.contact_tolerance;
        if (open ? at.clears(i) : time_ == 0.0) armed_ |= 1U << i;
      }
    }
  }

  /// Speed and direction of a contact's slip.
  CAROM_INLINE static double slip_of(const LocalState<T>& at, int i, double* direction) {
    double square = 0.0;
    for (int d = 1; d < kRows; ++d) square = fused(at.speed[i][d], at.speed[i][d], square);
    const double speed = kRows == 2 ? magnitude(at.speed[i][1]) : square_root(square);
    direction[0] = direction[1] = 0.0;
    for (int d = 1; d < kRows; ++d) direction[d - 1] = speed > 0.0 ? at.speed[i][d] / speed : 0.0;
    return speed;
  }

  /// The direction of a contact's friction turns with its slip.
  CAROM_INLINE void follow_slip(const LocalState<T>& at, int i, Laws<T>& laws) const {
    double turned[2];
    double* d = laws.direction[i];
    if (!(slip_of(at, i, turned) > run_.velocity_tolerance)) return;
    if (!(turned[0] * d[0] + turned[1] * d[1] > 0.0)) return;
    d[0] = turned[0];
    d[1] = turned[1];
  }

  /// Gaps of `contacts` to zero along M^-1 Jn'. local_: at the state, all rows.
  CAROM_CALL bool close_gaps(unsigned contacts) {
    double change[kV];
    double rates[kQ];
    for (int round = 0; round < 3; ++round) {
      double worst = 0.0;
      for (int i = 0; i < size_.constraints; ++i) {
        if (has(contacts, i)) worst = larger(worst, magnitude(local_.gap[i]));
      }
      if (worst <= kClosed) return true;
      closing_move(contacts, change);
      T(parameters_, time_, q()).rates(change, rates);
      for (int j = 0; j < nq_; ++j) q()[j] += rates[j];
      normalise();
      if (!evaluate(~0U)) return false;
    }
    return true;
  }

  /// Takes what rounding and tolerances left of gaps and velocities of contacts that stay: normal
  /// velocities and those slips that count as none. local_: at the state, all rows, now and after.
  CAROM_CALL bool settle(unsigned touching) {
    if (!close_gaps(touching)) return false;
    bool moves = false;
    unsigned tangents = 0;
    double direction[2];
    for (int i = 0; i < size_.constraints; ++i) {
      if (!has(touching, i)) continue;
      moves = moves || magnitude(local_.speed[i][0]) > kStill;
      const double slip = slip_of(local_, i, direction);
      if (!(slip <= run_.velocity_tolerance)) continue;
      tangents |= 1U << i;
      moves = moves || slip > kStill;
    }
    if (!moves) return true;
    project_velocity<T>(size_, local_, touching, tangents, v());
    return evaluate(~0U);
  }

  /// An impact that just happened.
  CAROM_CALL void count(std::int32_t* kind) {
    if (*out_.impacts + *out_.pushes == 0) {
      for (int j = 0; j < nv_; ++j) out_.first_impact[j] = v()[j];
    }
    ++*kind;
    keep_state();
  }

  /// Counts an event and keeps it where there is room.
  CAROM_CALL void note(MotionEventKind kind, unsigned contacts) {
    ++*out_.events;
    if (out_.event_count == nullptr || *out_.event_count >= out_.event_rows) return;
    const long row = (*out_.event_count)++;
    out_.event_kind[row] = kind;
    out_.event_contacts[row] = contacts;
    out_.event_time[row] = time_;
    out_.event_s[row] = s();
    for (int j = 0; j < nq_ + nv_; ++j) out_.event_state[row * (nq_ + nv_) + j] = y_[j];
  }

  [[nodiscard]] CAROM_INLINE double grid_time(long point) const {
    return smaller(static_cast<double>(point) * run_.grid, run_.duration);
  }
  /// The state where its time is on the grid; of several at one time the last stays.
  CAROM_CALL void keep_state() {
    while (out_.state != nullptr && next_point_ < out_.grid_points &&
           grid_time(next_point_) < time_) {
      put_state(next_point_++, y_);
    }
    if (out_.state != nullptr && next_point_ < out_.grid_points &&
        grid_time(next_point_) <= time_) {
      put_state(next_point_, y_);
    }
  }
  CAROM_INLINE void put_state(long point, const double* y) {
    double* row = out_.state + point * (nq_ + nv_ + 1);
    for (int j = 0; j <= nq_ + nv_; ++j) row[j] = y[j];
  }

 private:
  CAROM_INLINE static ParametersOf<T> parameters_of(const MotionRun& run,
                                                    const MotionProblemView& problem) {
    if constexpr (ErasedMechanism<T>) {
      return T::parameters_of(run, problem);
    } else {
      return problem.parameters;
    }
  }
  [[nodiscard]] CAROM_INLINE bool lifts() const {
    if constexpr (ErasedMechanism<T> && LiftingMechanism<T>) {
      return T::lifts(parameters_);
    } else {
      return LiftingMechanism<T>;
    }
  }

  CAROM_CALL void closing_move(unsigned contacts, double* change) const {
    SmallSystem<kContacts, LaneOf<T>> system;
    double effect[kContacts][kV];
    int contact[kContacts];
    int unknowns = 0;
    for (int i = 0; i < size_.constraints; ++i) {
      if (!has(contacts, i)) continue;
      for (int j = 0; j < nv_; ++j) effect[unknowns][j] = local_.rows[i][j];
      local_.solve(nv_, effect[unknowns]);
      system.b[unknowns] = -local_.gap[i];
      contact[unknowns++] = i;
    }
    for (int r = 0; r < unknowns; ++r) {
      for (int c = 0; c < unknowns; ++c) {
        system.a[r][c] = LocalState<T>::along(nv_, local_.rows[contact[r]], effect[c]);
      }
    }
    double x[kContacts];
    bool redundant = false;
    for (int j = 0; j < nv_; ++j) change[j] = 0.0;
    if (!system.solve(unknowns, x, redundant)) return;
    for (int c = 0; c < unknowns; ++c) {
      for (int j = 0; j < nv_; ++j) change[j] = fused(effect[c][j], x[c], change[j]);
    }
  }

  static constexpr int kStartAttempts = 256;

 protected:
  static constexpr double kStartGap = 1e-9;  ///< [m]: a smaller one touches at the start
  static constexpr double kClosed = 1e-13;   ///< [m]
  static constexpr double kStill = 1e-13;    ///< [m/s]

  const MotionRun& run_;
  const MotionProblemView& problem_;
  std::uint32_t index_;
  std::uint64_t sample_;
  const MotionSampleView& out_;
  ParametersOf<T> parameters_;
  SizesOf<T> size_;
  double y_[kState];
  double time_ = 0.0;
  long knot_ = 0;
  long next_point_ = 0;
  unsigned armed_ = 0;
  double lowest_energy_ = 0.0;
  Laws<T> laws_;
  int preferred_[kContacts];
  LocalState<T> local_;
  Response<T> response_;
};

}  // namespace carom::kernels::motion
