#include "stability/sos_program.hpp"

#include <algorithm>
#include <cmath>

namespace carom::stability {

namespace {

constexpr int kDegree = 3;  // of P
/// Share of the energy that V2 + m V1 is at least: what makes it positive, not only not negative.
constexpr double kPositive = 1e-3;

Polynomial linear(const std::vector<double>& factors) {
  Polynomial result;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    Monomial m{};
    m[i] = 1;
    result.add(m, factors[i]);
  }
  return result;
}

class Conditions {
 public:
  Conditions(const Setting& s, SosTheorem theorem, const std::vector<Monomial>& of_p)
      : s_(s),
        single_(theorem == SosTheorem::one),
        // what bounces flies, and falls with the impact after it: but not by Theorem 1
        flights_(!single_ && (s.side[0].e > 0.0 || s.side[1].e > 0.0)),
        of_p_(of_p) {
    // two unit vectors across n; e1, e2 = z, theta where both contacts are level
    const Vector3d axis = std::fabs(s.n(2)) < 0.9 ? Vector3d::UnitZ() : Vector3d::UnitX();
    across_[1] = (axis - axis.dot(s.n) * s.n).normalized();
    across_[0] = across_[1].cross(s.n);
  }

  std::vector<SosCondition> all() {
    positive();
    for (int i = 0; i < 2; ++i) {
      for (int way = 0; way < 2; ++way) slip(i, way);
      for (int kind = 0; kind < 3; ++kind) impact(i, kind);
    }
    if (single_) flight();
    for (int way = 0; way < 2; ++way) {
      if (slides(s_, way)) sliding(way);
    }
    return std::move(conditions_);
  }

 private:
  using State = std::array<Polynomial, 5>;

  [[nodiscard]] std::array<double, 2> across(const Vector3d& v) const {
    return {across_[0].dot(v), across_[1].dot(v)};
  }
  /// (z, theta, v) as linear functions of x, from the images of x's unit vectors.
  [[nodiscard]] State state_of(const std::vector<Vector3d>& q,
                               const std::vector<Vector3d>& v) const {
    std::array<std::vector<double>, 5> rows;
    for (std::size_t i = 0; i < q.size(); ++i) {
      const auto [z, theta] = across(q[i]);
      rows[0].push_back(z), rows[1].push_back(theta);
      for (int k = 0; k < 3; ++k) rows[2 + static_cast<std::size_t>(k)].push_back(v[i](k));
    }
    State state;
    for (std::size_t k = 0; k < 5; ++k) state[k] = linear(rows[k]);
    return state;
  }
  static Polynomial composed(const Monomial& m, const State& state) {
    Polynomial result(1.0);
    for (std::size_t i = 0; i < m.size(); ++i) {
      for (int k = 0; k < m[i]; ++k) result = result * state[i];
    }
    return result;
  }
  /// Of a monomial along d(state)/dt = rate.
  static Polynomial derivative(const Monomial& m, const State& state, const State& rate) {
    Polynomial sum;
    for (std::size_t i = 0; i < m.size(); ++i) {
      if (m[i] == 0) continue;
      Monomial less = m;
      --less[i];
      sum = sum + Polynomial(m[i]) * composed(less, state) * rate[i];
    }
    return sum;
  }
  SosCondition& begin(std::string name, const State& state, std::vector<int> weights, int order) {
    SosCondition& condition = conditions_.emplace_back();
    condition.name = std::move(name);
    condition.variables = weights.size();
    std::copy(weights.begin(), weights.end(), condition.weight.begin());
    condition.order = order;
    condition.state = state;
    return condition;
  }
  /// y in V2, which the single function has not.
  [[nodiscard]] Polynomial of_y(std::vector<double> factors) const {
    return single_ ? Polynomial() : linear(factors);
  }
  /// `linear_ones` with a largest coefficient of 1, their products and the unit ball.
  static void restrict_to(SosCondition& condition, std::vector<Polynomial> linear_ones) {
    for (Polynomial& one : linear_ones) {
      double size = 0.0;
      for (const auto& [m, value] : one.terms()) size = std::max(size, std::fabs(value));
      one = Polynomial(1.0 / size) * one;
    }
    condition.where = linear_ones;
    for (std::size_t i = 0; i < linear_ones.size(); ++i) {
      for (std::size_t j = i + 1; j < linear_ones.size(); ++j) {
        condition.where.push_back(linear_ones[i] * linear_ones[j]);
      }
    }
    Polynomial ball(1.0);
    for (const Polynomial& part : condition.state) ball = ball - part * part;
    condition.where.push_back(std::move(ball));
  }

  /// V2 + m V1, or V, in the admissible states: instead of (36)-(38).
  void positive() {
    State x;
    for (std::size_t k = 0; k < 5; ++k) {
      std::vector<double> unit(5, 0.0);
      unit[k] = 1.0;
      x[k] = linear(unit);
    }
    SosCondition& c = begin("positive", x, {2, 2, 1, 1, 1}, 2);
    for (const Monomial& m : of_p_) c.per_coefficient.push_back(composed(m, x));
    const Polynomial kinetic = Polynomial(0.5) * (x[2] * x[2] + x[3] * x[3] + x[4] * x[4]);
    const Polynomial work =
        Polynomial(across_[0].dot(s_.g)) * x[0] + Polynomial(across_[1].dot(s_.g)) * x[1];
    std::vector<Polynomial> gaps;
    for (const Side& side : s_.side) {
      const auto [z, theta] = across(side.normal / side.normal.norm());
      gaps.push_back(Polynomial(z) * x[0] + Polynomial(theta) * x[1]);
    }
    const Polynomial share = kinetic + Polynomial(s_.g.norm()) * (gaps[0] + gaps[1]);
    c.known = Polynomial(-kPositive * s_.m) * share;
    if (!single_) c.known = c.known + Polynomial(s_.m) * (kinetic - work);
    restrict_to(c, gaps);
  }

  /// -dV2/dt of contact i slipping, gap j >= 0: (52)-(56). x: gap j, turn about i, slip.
  void slip(int i, int way) {
    const Side& side = s_.side[i];
    const double sign = way == 0 ? 1.0 : -1.0;
    const Vector3d lift = s_.gap_dual[1 - i].normalized();
    const Vector3d turn = side.turn.normalized(), along = side.tangent_dual.normalized();
    const Vector3d zero = Vector3d::Zero();
    const State x = state_of({lift, zero, zero}, {zero, turn, along});
    State rate = state_of({zero, turn, along}, {zero, zero, zero});
    for (std::size_t k = 0; k < 3; ++k) {
      rate[2 + k] = Polynomial(side.slip_acceleration[way](static_cast<int>(k)));
    }
    SosCondition& c = begin(named("slip", i) + (way == 0 ? "+" : "-"), x, {2, 1, 1}, 1);
    for (const Monomial& m : of_p_) {
      c.per_coefficient.push_back(Polynomial(-1.0) * derivative(m, x, rate));
    }
    c.known = of_y({0.0, -turn.dot(s_.n), -along.dot(s_.n)});
    restrict_to(c, {linear({1.0}), linear({0.0, 0.0, sign})});
  }

  /// -dV2/dt of both sliding along n or -n: (63)-(66).
  void sliding(int way) {
    const double sign = way == 0 ? 1.0 : -1.0;
    const Vector3d zero = Vector3d::Zero();
    const State x = state_of({zero}, {sign * s_.n});
    State rate;
    // along n, what the contacts leave of the acceleration
    const double pull = s_.tables.acceleration[body::kBothForward + way][2];
    for (std::size_t k = 0; k < 3; ++k) {
      rate[2 + k] = Polynomial(pull * s_.n(static_cast<int>(k)));
    }
    SosCondition& c = begin(way == 0 ? "both slide+" : "both slide-", x, {1}, 1);
    for (const Monomial& m : of_p_) {
      c.per_coefficient.push_back(Polynomial(-1.0) * derivative(m, x, rate));
    }
    c.known = of_y({-sign});
    restrict_to(c, {linear({1.0})});
  }

  /// -dV/dt of flight, by only Theorem 1. x: both gaps, v.
  void flight() {
    const Vector3d zero = Vector3d::Zero();
    const auto unit = [](int k) { return Vector3d(Vector3d::Unit(k)); };
    const State x = state_of({s_.gap_dual[0], s_.gap_dual[1], zero, zero, zero},
                             {zero, zero, unit(0), unit(1), unit(2)});
    State rate = state_of({zero, zero, unit(0), unit(1), unit(2)}, std::vector<Vector3d>(5, zero));
    for (int k = 0; k < 3; ++k) rate[2 + static_cast<std::size_t>(k)] = Polynomial(s_.g(k));
    SosCondition& c = begin("flight", x, {2, 2, 1, 1, 1}, 1);
    for (const Monomial& m : of_p_) {
      c.per_coefficient.push_back(Polynomial(-1.0) * derivative(m, x, rate));
    }
    restrict_to(c, {linear({1.0}), linear({0.0, 1.0})});
  }

  /// V2 before less V2 after an impact of contact i, gap j >= 0: (68)-(73), one cone for each kind
  /// of impact. x: gap j, then of v before the turn about i and two parts across it, and the
  /// duration of the flight before the impact, from whose start V2 counts.
  void impact(int i, int kind) {
    const Side &side = s_.side[i], &other = s_.side[1 - i];
    const Vector3d lift = s_.gap_dual[1 - i].normalized();
    const double det = side.nn * side.tt - side.nt * side.nt, bounce = 1.0 + side.e;
    // impulses, linear in v
    const Vector3d &normal = side.normal, &tangent = side.tangent;
    Vector3d pressed = (-bounce * side.tt * normal + side.nt * tangent) / det;
    Vector3d rubbed = (bounce * side.nt * normal - side.nn * tangent) / det;
    const double sign = kind == 1 ? 1.0 : -1.0;
    if (kind > 0) {
      pressed = -bounce * normal / (side.nn - sign * side.mu * side.nt);
      rubbed = -sign * side.mu * pressed;
    }
    const Matrix3d after =
        Matrix3d::Identity() + normal * pressed.transpose() + tangent * rubbed.transpose();
    // an approach whose impulse is of size 1: near k = 0 a slipping one is as small as k
    const double stiffness = kind == 0 ? side.nn : side.nn - sign * side.mu * side.nt;
    const Vector3d axis[] = {side.turn.normalized(),
                             std::min(1.0, stiffness / side.nn) * side.normal_dual.normalized(),
                             side.tangent_dual.normalized()};
    std::vector<Vector3d> place{lift}, before{Vector3d::Zero()}, then{Vector3d::Zero()};
    std::vector<int> weights{2};
    for (const Vector3d& a : axis) {
      place.push_back(Vector3d::Zero()), before.push_back(a), then.push_back(after * a);
      weights.push_back(1);
    }
    if (flights_) {
      place.push_back(Vector3d::Zero()), before.push_back(-s_.g), then.push_back(Vector3d::Zero());
      weights.push_back(1);
    }
    State x = state_of(place, before);
    const State next = state_of(place, then);
    const auto of_velocity = [&](const Vector3d& w, double of_duration) {
      std::vector<double> factors{0.0, axis[0].dot(w), axis[1].dot(w), axis[2].dot(w)};
      // what vanishes but for rounding has no monomial
      for (double& f : factors) f = std::fabs(f) > 1e-14 * w.norm() ? f : 0.0;
      if (flights_) factors.push_back(of_duration);
      return linear(factors);
    };
    /// w.q at the start of the flight less w.q at its end: -w.v D + w.g D^2 / 2
    const auto moved = [&](const Vector3d& w) {
      return of_velocity(-w, 0.5 * w.dot(s_.g)) * linear({0.0, 0.0, 0.0, 0.0, 1.0});
    };
    if (flights_) {
      for (std::size_t k = 0; k < 2; ++k) x[k] = x[k] + moved(across_[k]);
    }
    SosCondition& c = begin(named("impact", i) + kImpactKinds[kind], x, weights, 2);
    for (const Monomial& m : of_p_) {
      c.per_coefficient.push_back(composed(m, x) - composed(m, next));
    }
    if (flights_) {
      c.known = moved(s_.n);
      c.main_degree = 3, c.factor_degree = 2;  // of P, whose z is quadratic in the duration
    }
    const auto part = [&](const Vector3d& w) { return of_velocity(w.normalized(), 0.0); };
    std::vector<Polynomial> where{linear({1.0})};
    if (flights_) {
      where.push_back(linear({0.0, 0.0, 0.0, 0.0, 1.0}));
      // gap i at the start by the duration: N.v before the impact is not positive either
      where.push_back(of_velocity(-normal, 0.5 * normal.dot(s_.g)));
    } else {
      where.push_back(part(-normal));
    }
    if (kind == 0) {
      where.push_back(part(side.mu * pressed - rubbed));
      where.push_back(part(side.mu * pressed + rubbed));
    } else {
      where.push_back(part(sign * after.transpose() * tangent));
    }
    restrict_to(c, where);
    if (!flights_) return;
    const Polynomial gap = linear({other.normal.dot(lift)}) + moved(other.normal);
    c.where.insert(c.where.end() - 1, gap);
  }

  static std::string named(const char* what, int i) {
    return std::string(what) + " " + std::to_string(i + 1);
  }

  static constexpr const char* kImpactKinds[] = {" stick", " slip+", " slip-"};
  const Setting& s_;
  bool single_, flights_;
  std::vector<Monomial> of_p_;
  Vector3d across_[2];
  std::vector<SosCondition> conditions_;
};

}  // namespace

Polynomial SosCondition::at(const std::vector<double>& p) const {
  Polynomial f = known;
  for (std::size_t a = 0; a < p.size(); ++a) f = f + Polynomial(p[a]) * per_coefficient[a];
  return f;
}

std::vector<Monomial> monomials_of_p() { return monomials(5, 1, kDegree); }

std::vector<Monomial> leading_monomials_of_p() {
  std::vector<Monomial> result;
  for (const Monomial& m : monomials_of_p()) {
    if (2 * (m[0] + m[1]) + m[2] + m[3] + m[4] == 2) result.push_back(m);
  }
  return result;
}

std::vector<SosCondition> sos_conditions(const Setting& setting, SosTheorem theorem,
                                         const std::vector<Monomial>& of_p) {
  return Conditions(setting, theorem, of_p).all();
}

}  // namespace carom::stability
