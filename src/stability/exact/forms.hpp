#pragma once

#include <array>
#include <string>

#include <carom/stability.hpp>

#include "stability/exact/interval.hpp"

/// A stance's zero-order data in intervals, from its own numbers alone.
namespace carom::exact {

using Triple = std::array<Interval, 3>;

Interval product(const Triple& a, const Triple& b);
Triple cross(const Triple& a, const Triple& b);
Triple sum(const Triple& a, const Interval& factor, const Triple& b);  ///< a + factor b

struct ContactData {
  Triple normal, tangent;
  Interval nn, nt, tt, mu, e;
  double friction = 0.0, restitution = 0.0;
};
struct StanceData {
  std::array<ContactData, 2> contact;
  Triple g;
};

/// Largest size of a number that is judged: what is made of such numbers fits into an Integer.
inline constexpr double kLargestJudged = 1e9;
/// Whether all numbers of the stance are of such a size.
bool is_judged(const Stance& stance);

/// Of a stance on two contacts.
StanceData data_of(const Stance& stance);

/// Whether x in [0, 1] certainly has q0 + q1 x + q2 x^2 > 0.
bool positive_on_unit(const Interval& q0, const Interval& q1, const Interval& q2);

/// Some contact forces certainly hold the body at rest.
bool held(const StanceData& data);

/// No single impact creates kinetic energy.
bool dissipates(const ContactData& contact);

/// Forces and acceleration of a word of letters F, S, P, N without redundancy; false where they
/// are not certain.
struct ModeData {
  Triple acceleration;
  std::array<Interval, 2> normal, tangential;
};
bool solve(const StanceData& data, const std::string& word, ModeData& mode);

/// The sign of slip of a letter.
double sign_of(char letter);

}  // namespace carom::exact
