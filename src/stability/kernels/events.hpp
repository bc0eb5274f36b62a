#pragma once

#include <cstdint>

#include <carom/device/numeric.hpp>

#include "core/random.hpp"
#include "stability/kernels/modes.hpp"

/// Motion of a stance between events, in closed form (docs/explanation/stability.md, "Events").
///
/// Velocities are held as (a1, a2, u), both gap velocities and the part along the cyclic direction,
/// so that a contact that stays closed has a gap velocity of exactly 0. Scaling (q, v, t) ->
/// (s^2 q, s v, s t) is a symmetry: states are kept near size 1 by powers of two.
namespace carom::kernels::stability {

/// Situations that ask for a mode: only contact i closed and slipping forwards, backwards or not
/// at all (3 i + 0, 1, 2); both closed and slipping along n or -n (6, 7).
inline constexpr int kSituations = 8;
/// Modes by their accelerations: only contact i with letter S, P, N (3 i + letter - 1), flight,
/// both slipping along n, along -n.
inline constexpr int kFlight = 6, kBothForward = 7, kModes = 9;
/// Bits of the choices of situations 6 and 7; of the others bits are letters.
inline constexpr unsigned kBothSlip = 1, kFirstSlips = 2, kSecondSlips = 4, kBothLeave = 8;

/// What the simulation of a stance needs, computed once.
struct EventTables {
  double metric[3];      ///< |v|^2 = m0 a1^2 + 2 m1 a1 a2 + m2 a2^2 + u^2
  double weight;         ///< |g|, of gaps in the size of a state
  double slip[2][3];     ///< T_i.v from (a1, a2, u)
  double normal[2][3];   ///< change of (a1, a2, u) by an impulse of contact i
  double tangent[2][3];  ///< likewise
  double friction[2], restitution[2];
  double acceleration[kModes][3];
  double slip_acceleration[kModes][2];
  unsigned choices[kSituations];
  int letter[2][2];  ///< of both contacts, slipping along n and along -n
  unsigned paradox;  ///< as StabilityResult::paradox
};

CAROM_INLINE EventTables event_tables(const StanceForm& stance) {
  EventTables t{};
  const ContactForm& a = stance.contact[0];
  const ContactForm& b = stance.contact[1];
  const Vec3 n = cyclic_direction(stance);
  const double ab = dot(a.normal, b.normal);
  const double det = a.nn * b.nn - ab * ab;
  t.metric[0] = b.nn / det, t.metric[1] = -ab / det, t.metric[2] = a.nn / det;
  const Vec3 dual[2] = {t.metric[0] * a.normal + t.metric[1] * b.normal,
                        t.metric[1] * a.normal + t.metric[2] * b.normal};
  t.weight = square_root(dot(stance.g, stance.g));
  const auto place = [&](Vec3 v, double(&to)[3]) {
    to[0] = dot(a.normal, v), to[1] = dot(b.normal, v), to[2] = dot(n, v);
  };
  for (int i = 0; i < 2; ++i) {
    const ContactForm& c = stance.contact[i];
    t.friction[i] = c.friction, t.restitution[i] = c.restitution;
    t.slip[i][0] = dot(c.tangent, dual[0]), t.slip[i][1] = dot(c.tangent, dual[1]);
    t.slip[i][2] = dot(c.tangent, n);
    place(c.normal, t.normal[i]);
    t.normal[i][2] = 0.0;
    place(c.tangent, t.tangent[i]);
    t.letter[0][i] = t.slip[i][2] > 0.0 ? kPositive : kNegative;
    t.letter[1][i] = t.slip[i][2] > 0.0 ? kNegative : kPositive;
  }
  const auto keep = [&](int index, const ModeSolution& mode, bool first, bool second) {
    place(mode.acceleration, t.acceleration[index]);
    if (first) t.acceleration[index][0] = 0.0;
    if (second) t.acceleration[index][1] = 0.0;
    for (int i = 0; i < 2; ++i) {
      t.slip_acceleration[index][i] = dot(stance.contact[i].tangent, mode.acceleration);
    }
  };
  const ModeSolution flight = solve_mode(stance, kFree, kFree);
  keep(kFlight, flight, false, false);
  for (int i = 0; i < 2; ++i) {
    const ContactForm& c = stance.contact[i];
    const bool leaves = dot(c.normal, stance.g) > 0.0;
    ModeSolution mode[4];
    bool presses[4] = {};
    for (int letter = kStick; letter <= kNegative; ++letter) {
      mode[letter] = i == 0 ? solve_mode(stance, letter, kFree) : solve_mode(stance, kFree, letter);
      keep(3 * i + letter - 1, mode[letter], i == 0, i == 1);
      presses[letter] = mode[letter].solvable && mode[letter].normal[i] >= 0.0;
    }
    const unsigned free = leaves ? 1U << kFree : 0U;
    t.choices[3 * i] = free | (presses[kPositive] ? 1U << kPositive : 0U);
    t.choices[3 * i + 1] = free | (presses[kNegative] ? 1U << kNegative : 0U);
    const bool forwards = presses[kPositive] && t.slip_acceleration[3 * i + kPositive - 1][i] > 0.0;
    const bool backwards =
        presses[kNegative] && t.slip_acceleration[3 * i + kNegative - 1][i] < 0.0;
    const bool plain = !leaves && c.slip_stiffness(1.0) > 0.0 && c.slip_stiffness(-1.0) > 0.0;
    // Where k > 0 sticking is what is left; rounding must not leave none or two.
    const bool sticks = plain ? !forwards && !backwards
                              : presses[kStick] && magnitude(mode[kStick].tangential[i]) <=
                                                       c.friction * mode[kStick].normal[i];
    t.choices[3 * i + 2] = free | (sticks ? 1U << kStick : 0U) | (forwards ? 1U << kPositive : 0U) |
                           (backwards ? 1U << kNegative : 0U);
    for (int way = 0; way < 2; ++way) {
      if (!(c.slip_stiffness(way == 0 ? 1.0 : -1.0) > 0.0)) t.paradox |= 1U << (2 * i + way);
    }
  }
  for (int way = 0; way < 2; ++way) {
    const int first = t.letter[way][0], second = t.letter[way][1];
    const ModeSolution both = solve_mode(stance, first, second);
    keep(kBothForward + way, both, true, true);
    unsigned choices = 0;
    if (both.solvable && both.normal[0] >= 0.0 && both.normal[1] >= 0.0) choices |= kBothSlip;
    const int alone[2] = {first - 1, 3 + second - 1};
    for (int i = 0; i < 2; ++i) {
      const unsigned presses = t.choices[3 * i + (t.letter[way][i] == kPositive ? 0 : 1)];
      if ((presses >> t.letter[way][i] & 1U) != 0U && t.acceleration[alone[i]][1 - i] > 0.0) {
        choices |= i == 0 ? kFirstSlips : kSecondSlips;
      }
    }
    if (t.acceleration[kFlight][0] > 0.0 && t.acceleration[kFlight][1] > 0.0) {
      choices |= kBothLeave;
    }
    t.choices[6 + way] = choices;
  }
  for (int i = 0; i < kSituations; ++i) {
    const unsigned choices = t.choices[i];
    if (choices == 0U || (choices & (choices - 1U)) != 0U) t.paradox |= 1U << (4 + i);
  }
  return t;
}

/// Gaps, (a1, a2, u) and the contact whose slip is exactly 0 (-1: none); real velocities are
/// 2^scale as large, real gaps 4^scale.
struct EventState {
  double gap[2];
  double v[3];
  int stuck;
  int scale;
};

enum class MotionEnd : std::uint8_t { contracted, escaped, runaway, rest, paradox, limit };

/// Ends of a motion: sizes 2^escaped and 2^contracted of the start's, and a number of events.
struct MotionLimits {
  int escaped, contracted;
  std::int64_t events;
};
inline constexpr MotionLimits kScanLimits{20, -10, 0};
/// Events after which a shape of motion that came back is seen: a multiple of most cycles' lengths.
inline constexpr std::int64_t kCycle = 48;

inline constexpr double kBounceCut =
    1e-8;  ///< gap velocities, relative to a state's size, that end bounces
inline constexpr double kTouchCut =
    1e-13;  ///< likewise of a closed contact that another's impact moves

CAROM_INLINE double slip_of(const EventTables& t, int i, const double* v) {
  return t.slip[i][0] * v[0] + t.slip[i][1] * v[1] + t.slip[i][2] * v[2];
}
/// The part along n that leaves contact i without slip.
CAROM_INLINE double without_slip(const EventTables& t, int i, const double* v) {
  return -(t.slip[i][0] * v[0] + t.slip[i][1] * v[1]) / t.slip[i][2];
}
CAROM_INLINE double squared_size(const EventTables& t, const EventState& state) {
  const double* v = state.v;
  return t.metric[0] * v[0] * v[0] + 2.0 * t.metric[1] * v[0] * v[1] + t.metric[2] * v[1] * v[1] +
         v[2] * v[2] + t.weight * (state.gap[0] + state.gap[1]);
}

/// Impulses of an impact: normal and tangential.
struct Impulses {
  double normal, tangential;
  int letter;      ///< kStick, kPositive, kNegative
  int consistent;  ///< how many of the three are
};

/// Newton's restitution and Coulomb's law on impulses (15)-(21), from gap velocity `approach` <= 0
/// and slip `slip`.
CAROM_INLINE Impulses impact_of(double nn, double nt, double tt, double mu, double e,
                                double approach, double slip) {
  const double wanted = -(1.0 + e) * approach;
  const double det = nn * tt - nt * nt;
  const double normal = (wanted * tt + nt * slip) / det;
  const double tangential = (-nn * slip - nt * wanted) / det;
  Impulses result{normal, tangential, kStick, 0};
  if (normal >= 0.0 && magnitude(tangential) <= mu * normal) ++result.consistent;
  for (int letter = kPositive; letter <= kNegative; ++letter) {
    const double sign = sign_of(letter);
    const double k = nn - sign * mu * nt;
    if (!(k > 0.0)) continue;
    const double pressed = wanted / k;
    const double after = slip + (nt - sign * mu * tt) * pressed;
    if (!(sign * after > 0.0)) continue;
    if (result.consistent++ == 0) {
      result.normal = pressed;
      result.tangential = -sign * mu * pressed;
      result.letter = letter;
    }
  }
  return result;
}

/// Time until gap + v t + a t^2 / 2 comes down to 0 for the first time, infinite where never, and
/// the gap's velocity then.
CAROM_INLINE double time_to_close(double gap, double v, double a, double& speed) {
  const double root = v * v - 2.0 * gap * a;
  speed = 0.0;
  if (a < 0.0) {
    const double r = square_root(at_least_zero(root));
    speed = -r;
    return v > 0.0 ? (v + r) / -a : 2.0 * gap / (r - v);
  }
  if (!(v < 0.0) || root < 0.0) return kInfinity;
  const double r = square_root(root);
  speed = -r;
  return 2.0 * gap / (r - v);
}

/// A listener that nobody reads.
struct NoListener {
  CAROM_INLINE void advance(const EventState&, double, const double*) const {}
  CAROM_INLINE void event(const EventState&, int, int, int) const {}
  CAROM_INLINE void mode(int, int, int) const {}
};
// what `event` tells of: an impact of a letter, slip that came to 0
inline constexpr int kImpactEvent = 0, kSlipEvent = 1;

/// Runs a state to its end. Choice: draws a number in [0, 1) where several modes or impacts are
/// possible. Listener: advance(state before, duration, acceleration of (a1, a2, u)), event(state
/// after, what, contact, letter), mode(index, letters of the closed contacts).
template <class Choice, class Listener>
class Motion {
 public:
  CAROM_INLINE Motion(const EventTables& tables, EventState state, Choice choice,
                      Listener& listener, bool rescale)
      : t_(tables), state_(state), choice_(choice), listener_(listener), rescale_(rescale) {}

  [[nodiscard]] CAROM_INLINE const EventState& state() const { return state_; }
  [[nodiscard]] CAROM_INLINE std::int64_t events() const { return events_; }

  CAROM_INLINE MotionEnd run(const MotionLimits& limits) {
    while (events_ < limits.events) {
      if (rescale_ && events_ % kCycle == 0 && shrinks()) return MotionEnd::contracted;
      bool hit[2];
      for (int i = 0; i < 2; ++i) hit[i] = state_.gap[i] == 0.0 && state_.v[i] < 0.0;
      if (hit[0] || hit[1]) {
        int i = hit[0] ? 0 : 1;
        if (hit[0] && hit[1]) i = choice_() < 0.5 ? 0 : 1;
        impact(i);
      } else {
        MotionEnd end = MotionEnd::rest;
        if (!fly(end)) return end;
      }
      ++events_;
      if (!rescale_) continue;
      normalise();
      if (state_.scale >= limits.escaped) return MotionEnd::escaped;
      if (state_.scale <= limits.contracted) return MotionEnd::contracted;
    }
    return MotionEnd::limit;
  }

 private:
  /// Whether the state is what it was kCycle events ago, only smaller: it will go on so for ever.
  CAROM_INLINE bool shrinks() {
    const double squared = squared_size(t_, state_), size = square_root(squared);
    double shape[5] = {state_.v[0] / size, state_.v[1] / size, state_.v[2] / size,
                       state_.gap[0] * t_.weight / squared, state_.gap[1] * t_.weight / squared};
    double off = state_.stuck == seen_stuck_ ? 0.0 : 1.0;
    for (int k = 0; k < 5; ++k) {
      off = larger(off, magnitude(shape[k] - seen_[k]));
      seen_[k] = shape[k];
    }
    double ratio = size / seen_size_;
    for (int i = state_.scale; i < seen_scale_; ++i) ratio *= 0.5;
    const bool smaller = state_.scale <= seen_scale_ && ratio < 1.0 - 1e-9;
    seen_size_ = size, seen_scale_ = state_.scale, seen_stuck_ = state_.stuck;
    return off <= 1e-13 && smaller;
  }
  CAROM_INLINE void normalise() {
    double size = squared_size(t_, state_);
    if (!(size > 0.0)) return;
    for (int guard = 0; guard < 1100 && size >= 4.0; ++guard) scale_by(0.5, size);
    for (int guard = 0; guard < 1100 && size < 1.0; ++guard) scale_by(2.0, size);
  }
  CAROM_INLINE void scale_by(double factor, double& size) {
    for (double& x : state_.v) x *= factor;
    for (double& x : state_.gap) x *= factor * factor;
    size *= factor * factor;
    state_.scale += factor < 1.0 ? 1 : -1;
  }

  CAROM_INLINE void impact(int i) {
    const double slip = state_.stuck == i ? 0.0 : slip_of(t_, i, state_.v);
    const double nn = t_.normal[i][i], nt = t_.tangent[i][i];
    const double tt = t_.slip[i][0] * t_.tangent[i][0] + t_.slip[i][1] * t_.tangent[i][1] +
                      t_.slip[i][2] * t_.tangent[i][2];
    const Impulses p = impact_of(nn, nt, tt, t_.friction[i], t_.restitution[i], state_.v[i], slip);
    const double bounce = -t_.restitution[i] * state_.v[i];
    for (int k = 0; k < 3; ++k) {
      state_.v[k] += p.normal * t_.normal[i][k] + p.tangential * t_.tangent[i][k];
    }
    state_.v[i] = bounce;
    const double size = square_root(squared_size(t_, state_));
    if (state_.v[i] < kBounceCut * size) state_.v[i] = 0.0;
    const int j = 1 - i;
    if (state_.gap[j] == 0.0 && magnitude(state_.v[j]) <= kTouchCut * size) state_.v[j] = 0.0;
    state_.stuck = -1;
    if (p.letter == kStick) {
      state_.stuck = i;
      state_.v[2] = without_slip(t_, i, state_.v);
    }
    listener_.event(state_, kImpactEvent, i, p.letter);
  }

  /// One bit of `choices`, drawn where there are several.
  CAROM_INLINE unsigned chosen(unsigned choices) {
    int count = 0;
    for (unsigned rest = choices; rest != 0U; rest &= rest - 1U) ++count;
    int skip = count > 1 ? static_cast<int>(choice_() * count) : 0;
    for (; skip > 0; --skip) choices &= choices - 1U;
    return choices & (~choices + 1U);
  }

  /// Picks the mode and goes on in it to its end; false where there is none.
  CAROM_INLINE bool fly(MotionEnd& end) {
    const bool closed[2] = {state_.gap[0] == 0.0 && state_.v[0] == 0.0,
                            state_.gap[1] == 0.0 && state_.v[1] == 0.0};
    int mode = kFlight, letter[2] = {kFree, kFree};
    if (closed[0] && closed[1]) {
      if (state_.v[2] == 0.0 || state_.stuck >= 0) return false;
      const int way = state_.v[2] > 0.0 ? 0 : 1;
      const unsigned bit = chosen(t_.choices[6 + way]);
      if (bit == 0U) return fails(end, MotionEnd::paradox);
      if (bit == kBothSlip || bit == kFirstSlips) letter[0] = t_.letter[way][0];
      if (bit == kBothSlip || bit == kSecondSlips) letter[1] = t_.letter[way][1];
      if (bit == kBothSlip) mode = kBothForward + way;
      if (bit == kFirstSlips) mode = letter[0] - 1;
      if (bit == kSecondSlips) mode = 3 + letter[1] - 1;
    } else if (closed[0] || closed[1]) {
      const int i = closed[0] ? 0 : 1;
      const double slip = state_.stuck == i ? 0.0 : slip_of(t_, i, state_.v);
      const unsigned bit = chosen(t_.choices[3 * i + (slip > 0.0 ? 0 : (slip < 0.0 ? 1 : 2))]);
      if (bit == 0U) return fails(end, MotionEnd::paradox);
      letter[i] = lowest_bit(bit);
      if (letter[i] != kFree) mode = 3 * i + letter[i] - 1;
    }
    listener_.mode(mode, letter[0], letter[1]);
    const double* a = t_.acceleration[mode];
    double time = kInfinity, speed = 0.0;
    int closes = -1, stops = -1;
    for (int i = 0; i < 2; ++i) {
      if (letter[i] == kFree) {
        double arriving = 0.0;
        const double wait = time_to_close(state_.gap[i], state_.v[i], a[i], arriving);
        if (wait < time) time = wait, closes = i, stops = -1, speed = arriving;
      } else if (letter[i] != kStick) {
        const double sign = sign_of(letter[i]);
        const double change = t_.slip_acceleration[mode][i];
        if (!(sign * change < 0.0)) continue;
        const double wait = magnitude(slip_of(t_, i, state_.v)) / magnitude(change);
        if (wait < time) time = wait, stops = i, closes = -1;
      }
    }
    if (!(time < kInfinity)) return fails(end, MotionEnd::runaway);
    listener_.advance(state_, time, a);
    for (int i = 0; i < 2; ++i) {
      if (letter[i] != kFree) continue;
      state_.gap[i] += (state_.v[i] + 0.5 * a[i] * time) * time;
      if (i == closes || state_.gap[i] < 0.0) state_.gap[i] = 0.0;
      state_.v[i] = i == closes ? speed : state_.v[i] + a[i] * time;
    }
    state_.v[2] += a[2] * time;
    const int stuck = mode < kFlight && letter[mode / 3] == kStick ? mode / 3 : -1;
    state_.stuck = stuck;
    if (stuck >= 0) state_.v[2] = without_slip(t_, stuck, state_.v);
    if (stops >= 0) {
      state_.stuck = stops;
      state_.v[2] = without_slip(t_, stops, state_.v);
      listener_.event(state_, kSlipEvent, stops, kStick);
    }
    return true;
  }
  CAROM_INLINE static bool fails(MotionEnd& end, MotionEnd how) {
    end = how;
    return false;
  }

  const EventTables& t_;
  EventState state_;
  Choice choice_;
  Listener& listener_;
  bool rescale_;
  std::int64_t events_ = 0;
  double seen_[5] = {2.0}, seen_size_ = 1.0;  ///< the shape and size at the last look
  int seen_scale_ = 0, seen_stuck_ = -1;
};

}  // namespace carom::kernels::stability
