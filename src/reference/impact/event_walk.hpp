#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <vector>

#include "reference/impact/event_draws.hpp"
#include "reference/impact/stores.hpp"
#include "reference/impact/trajectory.hpp"

namespace carom::reference {

/// One sample of the inclusion (39), (40) from event to event, as far as it does not depend on how
/// motions are found: stretches, cycles of events that shrink to a point, paths and results.
class EventWalk {
 public:
  EventWalk(const Mechanism& mechanism, const ImpactSettings& settings, std::uint32_t problem,
            std::int64_t sample, Stores* stores);
  virtual ~EventWalk() = default;
  EventWalk(const EventWalk&) = delete;
  EventWalk& operator=(const EventWalk&) = delete;

  Trajectory operator()(bool keep_path);

 protected:
  /// By contact: -1 where u_n was zero, else numbers of slips that were.
  using Vanished = std::vector<std::set<int>>;

  /// What a policy knows the contacts' states by.
  [[nodiscard]] virtual std::vector<int> states() const = 0;
  /// Follows a motion under the stretch's weights to its first event; false where none is found.
  virtual bool step() = 0;
  /// Adds what is zero now.
  virtual void note_vanished(Vanished& vanished) const = 0;
  /// Takes the limit of a cycle in which these vanished, unless it is none.
  virtual bool settle(const Vanished& vanished, const Vector& limit) = 0;

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] bool filled(int i) const { return stores_ != nullptr && stores_->filled(i); }
  [[nodiscard]] bool leaves(int i) const { return u_[i] > 0.0 && !filled(i); }
  /// held: but for those that the draws hold.
  [[nodiscard]] Vector pushers(bool held) const;
  /// That a piece gains no energy; `wrong`: what else is wrong with it.
  void certify_energy(const Vector& impulse, const Vector& next, double length, double wrong);
  /// The energy balance of a piece. event: or the stretch's end; key: what kind of event.
  void finish_piece(const Vector& impulse, double length, bool event, int key);

  const Mechanism& mechanism_;
  const ImpactSettings& settings_;
  Stores* stores_;
  int m_;
  Vector u_;     ///< contact velocities
  double size_;  ///< the largest before the impact
  EventDraws draws_;
  bool lengthens_;               ///< stretches, after many pieces
  double cycle_rounding_ = 0.0;  ///< of limits that sum many cycles, of size_

 private:
  // End of a cycle of events.
  struct Cycle {
    Vector u, impulse;
    double length;
    Vanished vanished;
    int events;
  };

  [[nodiscard]] bool unfinished() const;
  void record(bool keep_path);
  void begin_stretch();
  void end_stretch();
  void watch(int key);
  void take_limit();
  Trajectory finished(TrajectoryStatus status);

  double longest_ = 0.0;
  Trajectory result_;
  int redrawn_ = 0, events_ = 0;
  std::deque<Cycle> cycles_;
  int key_ = -1, cycle_events_ = 0;
  double cycle_length_ = 0.0;
  Vanished vanished_;
};

/// Sample number `sample` by a Walk.
template <class Walk>
Trajectory walk_events(const Mechanism& mechanism, const ImpactSettings& settings,
                       std::uint32_t problem, std::int64_t sample, bool keep_path) {
  if (mechanism.contacts() == 0) {
    Trajectory still;
    still.status = TrajectoryStatus::terminated;
    still.velocity = mechanism.velocity;
    if (keep_path) still.path.push_back(still.velocity);
    return still;
  }
  if (!has_stores(mechanism.problem)) {
    return Walk(mechanism, settings, problem, sample, nullptr)(keep_path);
  }
  Mechanism own = mechanism;
  Stores stores(own, settings, problem, sample);
  return Walk(own, settings, problem, sample, &stores)(keep_path);
}

}  // namespace carom::reference
