#include "stability/exact/forms.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace carom::exact {

double sign_of(char letter) { return letter == 'P' ? 1.0 : (letter == 'N' ? -1.0 : 0.0); }

namespace {

// Charts ask for the same angle many times.
template <class Interval>
void sine_cosine(double x, Interval& sine, Interval& cosine) {
  thread_local double last = 0.0;
  thread_local Interval last_sine(0.0), last_cosine(1.0);
  if (x != last) {
    Interval::sine_cosine(x, last_sine, last_cosine);
    last = x;
  }
  sine = last_sine, cosine = last_cosine;
}

}  // namespace

template <class Interval>
StanceData<Interval> data_of(const Stance& stance) {
  StanceData<Interval> data;
  for (std::size_t i = 0; i < 2; ++i) {
    const StanceContact& from = stance.contacts[i];
    ContactData<Interval>& to = data.contact[i];
    Interval sine, cosine;
    if (from.slope == 0.0) {
      sine = Interval(0.0), cosine = Interval(1.0);
    } else {
      sine_cosine(from.slope, sine, cosine);
    }
    const Interval l(from.l), h(from.h);
    to.normal = {-sine, cosine, l * cosine - h * sine};
    to.tangent = {cosine, sine, h * cosine + l * sine};
    to.nn = product(to.normal, to.normal);
    to.nt = product(to.normal, to.tangent);
    to.tt = product(to.tangent, to.tangent);
    to.mu = Interval(from.friction);
    to.e = Interval(from.restitution);
    to.friction = from.friction;
    to.restitution = from.restitution;
  }
  Interval sine, cosine;
  sine_cosine(stance.angle, sine, cosine);
  const Interval force(stance.force);
  data.g = {force * sine, -(force * cosine), Interval(stance.torque)};
  return data;
}

bool is_judged(const Stance& stance) {
  const auto fits = [](double value) { return std::fabs(value) <= kLargestJudged; };
  for (const StanceContact& c : stance.contacts) {
    if (!fits(c.l) || !fits(c.h) || !fits(c.friction)) return false;
  }
  return fits(stance.force) && fits(stance.torque);
}

template <class Interval>
bool positive_on_unit(const Interval& q0, const Interval& q1, const Interval& q2) {
  if (!q0.positive() || !(q0 + q1 + q2).positive()) return false;
  if (q2.at_most_zero() || q1.at_least_zero()) return true;
  if ((q1 + Interval(2.0) * q2).at_most_zero()) return true;
  return (Interval(4.0) * q0 * q2 - q1 * q1).positive();
}

namespace {

// x of sum x_k columns_k = right, by Cramer's rule.
template <class Interval>
class ThreeColumns {
 public:
  ThreeColumns(const Triple<Interval>& a, const Triple<Interval>& b, const Triple<Interval>& c)
      : row_{cross(b, c), cross(c, a), cross(a, b)}, det_(product(a, row_[0])) {}

  bool solve(const Triple<Interval>& right, std::array<Interval, 3>& x) const {
    bool valid = true;
    for (std::size_t k = 0; k < 3; ++k) {
      x[k] = Interval::quotient(product(right, row_[k]), det_, valid);
    }
    return valid;
  }

 private:
  std::array<Triple<Interval>, 3> row_;
  Interval det_;
};

// Where the least of six linear functions is largest, in plain numbers.
double best_of(const std::array<double, 6>& value, const std::array<double, 6>& slope) {
  const auto least = [&](double t) {
    double worst = value[0] + t * slope[0];
    for (std::size_t i = 1; i < 6; ++i) worst = std::min(worst, value[i] + t * slope[i]);
    return worst;
  };
  double best = 0.0;
  const auto consider = [&](double t) {
    if (std::isfinite(t) && least(t) > least(best)) best = t;
  };
  for (std::size_t i = 0; i < 6; ++i) {
    consider((1.0 + std::fabs(value[i])) / slope[i]);
    consider(-value[i] / slope[i]);
    for (std::size_t j = i + 1; j < 6; ++j) {
      consider((value[j] - value[i]) / (slope[i] - slope[j]));
    }
  }
  return best;
}

}  // namespace

template <class Interval>
bool held(const StanceData<Interval>& data) {
  const ContactData<Interval>& a = data.contact[0];
  const ContactData<Interval>& b = data.contact[1];
  // Either component of contact 2 may be the one that is free.
  for (const bool tangent_free : {true, false}) {
    const Triple<Interval>& fixed = tangent_free ? b.normal : b.tangent;
    const Triple<Interval>& free = tangent_free ? b.tangent : b.normal;
    const Triple<Interval> load{-data.g[0], -data.g[1], -data.g[2]};
    const Triple<Interval> unload{-free[0], -free[1], -free[2]};
    std::array<Interval, 3> base, change;
    const ThreeColumns<Interval> columns(a.normal, a.tangent, fixed);
    if (!columns.solve(load, base) || !columns.solve(unload, change)) continue;
    // normal and tangential force of both contacts, value + slope t
    const Interval zero(0.0), one(1.0);
    const std::array<Interval, 4> value{base[0], base[1], tangent_free ? base[2] : zero,
                                        tangent_free ? zero : base[2]};
    const std::array<Interval, 4> slope{change[0], change[1], tangent_free ? change[2] : one,
                                        tangent_free ? one : change[2]};
    std::array<Interval, 6> margins, slopes;
    for (std::size_t i = 0; i < 2; ++i) {
      const Interval& mu = data.contact[i].mu;
      for (const auto& [from, to] : {std::pair{&value, &margins}, std::pair{&slope, &slopes}}) {
        (*to)[3 * i] = (*from)[2 * i];
        (*to)[3 * i + 1] = mu * (*from)[2 * i] - (*from)[2 * i + 1];
        (*to)[3 * i + 2] = mu * (*from)[2 * i] + (*from)[2 * i + 1];
      }
    }
    // The t to try is found in plain numbers; what it gives is judged in
    // intervals.
    std::array<double, 6> plain_margins{}, plain_slopes{};
    for (std::size_t i = 0; i < 6; ++i) {
      plain_margins[i] = margins[i].middle(), plain_slopes[i] = slopes[i].middle();
    }
    const Interval t(best_of(plain_margins, plain_slopes));
    bool holds = true;
    for (std::size_t i = 0; i < 6 && holds; ++i) {
      holds = (margins[i] + t * slopes[i]).at_least_zero();
    }
    if (holds) return true;
  }
  return false;
}

// A motion along which the load works, and against which no force within a cone does: that of two
// edges of the cones, perpendicular to both, or of one where the others press along it.
template <class Interval>
bool never_held(const StanceData<Interval>& data) {
  std::array<Triple<Interval>, 4> edges;
  for (std::size_t i = 0; i < 2; ++i) {
    const ContactData<Interval>& c = data.contact[i];
    edges[2 * i] = sum(c.normal, c.mu, c.tangent);
    edges[2 * i + 1] = sum(c.normal, -c.mu, c.tangent);
  }
  const auto separates = [&](const Triple<Interval>& v, std::size_t i, std::size_t j) {
    if (!product(v, data.g).positive()) return false;
    for (std::size_t k = 0; k < 4; ++k) {
      if (k != i && k != j && !product(v, edges[k]).at_least_zero()) return false;
    }
    return true;
  };
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = i + 1; j < 4; ++j) {
      const Triple<Interval> v = cross(edges[i], edges[j]);
      if (separates(v, i, j) || separates({-v[0], -v[1], -v[2]}, i, j)) return true;
    }
  }
  return separates(data.g, 4, 4);
}

template <class Interval>
bool dissipates(const ContactData<Interval>& c) {
  if (c.restitution == 0.0) return true;
  const Interval one(1.0), two(2.0);
  // (1 - e) W_NN + 2 r W_NT + (1 + e) r^2 W_TT > 0, for all r or for |r| <= mu
  const Interval q0 = (one - c.e) * c.nn, q1 = two * c.nt, q2 = (one + c.e) * c.tt;
  if ((Interval(4.0) * q0 * q2 - q1 * q1).positive()) return true;
  const Interval low = -c.mu, range = two * c.mu;
  return positive_on_unit(q0 + low * q1 + low * low * q2, range * (q1 + two * low * q2),
                          range * range * q2);
}

template <class Interval>
bool solve(const StanceData<Interval>& data, const std::string& word, ModeData<Interval>& mode) {
  std::vector<Triple<Interval>> rows, forces;
  std::vector<std::size_t> of;
  for (std::size_t i = 0; i < 2; ++i) {
    const ContactData<Interval>& c = data.contact[i];
    if (word[i] == 'F') continue;
    rows.push_back(c.normal);
    forces.push_back(sum(c.normal, Interval(-sign_of(word[i])) * c.mu, c.tangent));
    of.push_back(i);
    if (word[i] != 'S') continue;
    rows.push_back(c.tangent);
    forces.push_back(c.tangent);
    of.push_back(i + 2);
  }
  const std::size_t n = rows.size();
  mode = {};
  mode.acceleration = data.g;
  if (n == 0) return true;
  if (n > 2) return false;
  std::array<Interval, 2> x;
  bool valid = true;
  const auto k = [&](std::size_t i, std::size_t j) { return product(rows[i], forces[j]); };
  if (n == 1) {
    x[0] = Interval::quotient(-product(rows[0], data.g), k(0, 0), valid);
  } else {
    const Interval det = k(0, 0) * k(1, 1) - k(0, 1) * k(1, 0);
    const Interval a = -product(rows[0], data.g), b = -product(rows[1], data.g);
    x[0] = Interval::quotient(a * k(1, 1) - k(0, 1) * b, det, valid);
    x[1] = Interval::quotient(k(0, 0) * b - a * k(1, 0), det, valid);
  }
  if (!valid) return false;
  for (std::size_t i = 0; i < n; ++i) {
    mode.acceleration = sum(mode.acceleration, x[i], forces[i]);
    (of[i] < 2 ? mode.normal[of[i]] : mode.tangential[of[i] - 2]) = x[i];
  }
  return true;
}

template <class Interval>
bool never_presses(const StanceData<Interval>& data, const std::string& word) {
  std::array<Triple<Interval>, 2> force;
  std::array<Interval, 2> load;
  for (std::size_t i = 0; i < 2; ++i) {
    const ContactData<Interval>& c = data.contact[i];
    force[i] = sum(c.normal, Interval(-sign_of(word[i])) * c.mu, c.tangent);
    load[i] = -product(c.normal, data.g);
  }
  const auto k = [&](std::size_t i, std::size_t j) {
    return product(data.contact[i].normal, force[j]);
  };
  // the numerators of Cramer's rule: opposite signs whatever the determinant is
  const Interval first = load[0] * k(1, 1) - load[1] * k(0, 1);
  const Interval second = load[1] * k(0, 0) - load[0] * k(1, 0);
  return (first * second).negative();
}

template bool never_presses(const StanceData<PlainInterval>&, const std::string&);
template bool never_presses(const StanceData<FineInterval>&, const std::string&);
template StanceData<PlainInterval> data_of(const Stance&);
template StanceData<FineInterval> data_of(const Stance&);
template bool positive_on_unit(const PlainInterval&, const PlainInterval&, const PlainInterval&);
template bool positive_on_unit(const FineInterval&, const FineInterval&, const FineInterval&);
template bool held(const StanceData<PlainInterval>&);
template bool held(const StanceData<FineInterval>&);
template bool never_held(const StanceData<PlainInterval>&);
template bool never_held(const StanceData<FineInterval>&);
template bool dissipates(const ContactData<PlainInterval>&);
template bool dissipates(const ContactData<FineInterval>&);
template bool solve(const StanceData<PlainInterval>&, const std::string&, ModeData<PlainInterval>&);
template bool solve(const StanceData<FineInterval>&, const std::string&, ModeData<FineInterval>&);

}  // namespace carom::exact
