#pragma once

#include <array>

#include "stability/exact/copositive.hpp"
#include "stability/exact/forms.hpp"

/// What the judges of labelled functions share.
namespace carom::exact {

inline Triple scaled(const Interval& factor, const Triple& v) {
  return {factor * v[0], factor * v[1], factor * v[2]};
}
inline Triple plus(const Triple& a, const Triple& b) { return sum(a, Interval(1.0), b); }
inline Triple minus(const Triple& a, const Triple& b) { return sum(a, Interval(-1.0), b); }

/// What both kinds of labels start from: k = 1, c.n = 1, |n| = 1.
struct Frame {
  StanceData data;
  Triple n, c;
  Interval m;
  std::array<Triple, 2> turn, normal_dual, tangent_dual, gap_dual;
  std::array<Interval, 2> turn2, load;
  std::array<std::array<Triple, 2>, 2> slipping;  ///< A of contact i alone, slip + and -
  bool valid = true;
};

Frame frame_of(const Stance& stance);

/// The sign of a number that certainly has one; 0 otherwise.
int certain_sign(const Interval& x);

/// Some Q12 <= form at n has Q12 + m > 0 and 1 + Q12 A.n not along the motion.
bool slides_down(const Frame& f, const Interval& at_n);

/// Numbers as StabilityResult::coefficients; all restitutions 0, and otherwise.
bool inelastic_labels_hold(const Frame& f, const std::array<double, 24>& numbers);
bool elastic_labels_hold(const Frame& f, const std::array<double, 24>& numbers);

}  // namespace carom::exact
