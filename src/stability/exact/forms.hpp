#pragma once

#include <array>
#include <string>

#include <carom/types/stability.hpp>

#include "core/exact/interval.hpp"
#include "stability/exact/plain_interval.hpp"

/// A stance's zero-order data in intervals, from only its own numbers. Everything
/// is computed with PlainInterval, and again with FineInterval if that does not
/// decide.
namespace carom::exact {

template <class Interval>
using Triple = std::array<Interval, 3>;

template <class Interval>
Interval product(const Triple<Interval>& a, const Triple<Interval>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
template <class Interval>
Triple<Interval> cross(const Triple<Interval>& a, const Triple<Interval>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
/// a + factor b
template <class Interval>
Triple<Interval> sum(const Triple<Interval>& a, const Interval& factor, const Triple<Interval>& b) {
  return {a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]};
}

template <class Interval>
struct ContactData {
  Triple<Interval> normal, tangent;
  Interval nn, nt, tt, mu, e;
  double friction = 0.0, restitution = 0.0;
};
template <class Interval>
struct StanceData {
  std::array<ContactData<Interval>, 2> contact;
  Triple<Interval> g;
};

/// Numbers up to this size are judged: products and sums of such numbers fit
/// into an Integer.
inline constexpr double kLargestJudged = 1e9;
/// Whether all numbers of the stance are of such a size.
bool is_judged(const Stance& stance);

/// Of a stance on two contacts.
template <class Interval>
StanceData<Interval> data_of(const Stance& stance);

/// Whether x in [0, 1] certainly has q0 + q1 x + q2 x^2 > 0.
template <class Interval>
bool positive_on_unit(const Interval& q0, const Interval& q1, const Interval& q2);

/// Some contact forces certainly hold the body at rest.
template <class Interval>
bool held(const StanceData<Interval>& data);

/// Certainly none do.
template <class Interval>
bool never_held(const StanceData<Interval>& data);

/// No single impact creates kinetic energy.
template <class Interval>
bool dissipates(const ContactData<Interval>& contact);

/// Forces and acceleration of a mode (letters F, S, P, N) without redundancy;
/// false if they are not certain.
template <class Interval>
struct ModeData {
  Triple<Interval> acceleration;
  std::array<Interval, 2> normal, tangential;
};
template <class Interval>
bool solve(const StanceData<Interval>& data, const std::string& word, ModeData<Interval>& mode);

/// Both slip: certainly no forces >= 0 keep the gaps closed, whether there is a solution or not.
template <class Interval>
bool never_presses(const StanceData<Interval>& data, const std::string& word);

/// The sign of slip of a letter.
double sign_of(char letter);

}  // namespace carom::exact
