#pragma once

#include <array>

#include "stability/exact/copositive.hpp"
#include "stability/exact/forms.hpp"

/// Data that the exact checks of labelled functions share.
namespace carom::exact {

template <class Interval>
Triple<Interval> scaled(const Interval& factor, const Triple<Interval>& v) {
  return {factor * v[0], factor * v[1], factor * v[2]};
}
template <class Interval>
Triple<Interval> plus(const Triple<Interval>& a, const Triple<Interval>& b) {
  return sum(a, Interval(1.0), b);
}
template <class Interval>
Triple<Interval> minus(const Triple<Interval>& a, const Triple<Interval>& b) {
  return sum(a, Interval(-1.0), b);
}

/// What both kinds of labels start from: k = 1, c.n = 1, |n| = 1.
template <class Interval>
struct Frame {
  StanceData<Interval> data;
  Triple<Interval> n, c;
  Interval m;
  std::array<Triple<Interval>, 2> turn, normal_dual, tangent_dual, gap_dual;
  std::array<Interval, 2> turn2, load;
  std::array<std::array<Triple<Interval>, 2>, 2> slipping;  ///< A of only contact i, slip + and -
  bool valid = true;
};

template <class Interval>
Frame<Interval> frame_of(const Stance& stance);

/// The sign of a number that certainly has one; 0 otherwise.
template <class Interval>
int certain_sign(const Interval& x) {
  return x.positive() ? 1 : (x.negative() ? -1 : 0);
}

/// Some Q12 <= form at n has Q12 + m > 0 and 1 + Q12 A.n not along the motion.
template <class Interval>
bool slides_down(const Frame<Interval>& f, const Interval& at_n);

/// Numbers as StabilityResult::coefficients; all restitutions 0, and otherwise.
template <class Interval>
bool inelastic_labels_hold(const Frame<Interval>& f, const std::array<double, 24>& numbers);
template <class Interval>
bool elastic_labels_hold(const Frame<Interval>& f, const std::array<double, 24>& numbers);

}  // namespace carom::exact
