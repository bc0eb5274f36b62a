#include "stability/sos_program.hpp"

#include <algorithm>
#include <cmath>

namespace carom::stability {

namespace {

constexpr int kDegree = 3;        // of P
constexpr int kMainDegree = 2;    // of the monomials whose squares are summed
constexpr int kFactorDegree = 1;  // of those that multiply a condition's polynomial
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
  explicit Conditions(const Setting& s) : s_(s), of_p_(monomials(5, 1, kDegree)) {
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
    for (int way = 0; way < 2; ++way) {
      if (slides(s_, way)) sliding(way);
    }
    return std::move(conditions_);
  }
  [[nodiscard]] const std::vector<Monomial>& of_p() const { return of_p_; }

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
  SosCondition& begin(std::string name, const State& state, std::size_t variables) {
    SosCondition& condition = conditions_.emplace_back();
    condition.name = std::move(name);
    condition.variables = variables;
    condition.state = state;
    return condition;
  }
  /// `linear_ones`, their products and the unit ball.
  static void restrict_to(SosCondition& condition, const std::vector<Polynomial>& linear_ones) {
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

  /// V2 + m V1 in the admissible states: instead of (36)-(38).
  void positive() {
    State x;
    for (std::size_t k = 0; k < 5; ++k) {
      std::vector<double> unit(5, 0.0);
      unit[k] = 1.0;
      x[k] = linear(unit);
    }
    SosCondition& c = begin("positive", x, 5);
    for (const Monomial& m : of_p_) c.per_coefficient.push_back(composed(m, x));
    const Polynomial kinetic = Polynomial(0.5) * (x[2] * x[2] + x[3] * x[3] + x[4] * x[4]);
    const Polynomial work =
        Polynomial(across_[0].dot(s_.g)) * x[0] + Polynomial(across_[1].dot(s_.g)) * x[1];
    std::vector<Polynomial> gaps;
    for (const Side& side : s_.side) {
      const auto [z, theta] = across(side.normal / side.normal.norm());
      gaps.push_back(Polynomial(z) * x[0] + Polynomial(theta) * x[1]);
    }
    c.known =
        Polynomial(s_.m) * (kinetic - work) -
        Polynomial(kPositive * s_.m) * (kinetic + Polynomial(s_.g.norm()) * (gaps[0] + gaps[1]));
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
    SosCondition& c = begin(named("slip", i) + (way == 0 ? "+" : "-"), x, 3);
    for (const Monomial& m : of_p_) {
      c.per_coefficient.push_back(Polynomial(-1.0) * derivative(m, x, rate));
    }
    c.known = linear({0.0, -turn.dot(s_.n), -along.dot(s_.n)});
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
    SosCondition& c = begin(way == 0 ? "both slide+" : "both slide-", x, 1);
    for (const Monomial& m : of_p_) {
      c.per_coefficient.push_back(Polynomial(-1.0) * derivative(m, x, rate));
    }
    c.known = linear({-sign});
    restrict_to(c, {linear({1.0})});
  }

  /// V2 before less V2 after an impact of contact i, gap j >= 0: (68)-(73), one cone for each kind
  /// of impact. x: gap j, v before.
  void impact(int i, int kind) {
    const Side& side = s_.side[i];
    const Vector3d lift = s_.gap_dual[1 - i].normalized();
    const double det = side.nn * side.tt - side.nt * side.nt;
    // impulses, linear in v
    const Vector3d &normal = side.normal, &tangent = side.tangent;
    Vector3d pressed = (-side.tt * normal + side.nt * tangent) / det;
    Vector3d rubbed = (side.nt * normal - side.nn * tangent) / det;
    const double sign = kind == 1 ? 1.0 : -1.0;
    if (kind > 0) {
      pressed = -normal / (side.nn - sign * side.mu * side.nt);
      rubbed = -sign * side.mu * pressed;
    }
    const Matrix3d after =
        Matrix3d::Identity() + normal * pressed.transpose() + tangent * rubbed.transpose();
    const Vector3d zero = Vector3d::Zero();
    const auto unit = [](int k) { return Vector3d(Vector3d::Unit(k)); };
    const State x = state_of({lift, zero, zero, zero}, {zero, unit(0), unit(1), unit(2)});
    const State next =
        state_of({lift, zero, zero, zero}, {zero, after.col(0), after.col(1), after.col(2)});
    const char* kinds[] = {" stick", " slip+", " slip-"};
    SosCondition& c = begin(named("impact", i) + kinds[kind], x, 4);
    for (const Monomial& m : of_p_) {
      c.per_coefficient.push_back(composed(m, x) - composed(m, next));
    }
    const auto of_velocity = [](const Vector3d& w) {
      const Vector3d u = w.normalized();
      return linear({0.0, u(0), u(1), u(2)});
    };
    std::vector<Polynomial> where{linear({1.0}), of_velocity(-normal)};
    if (kind == 0) {
      where.push_back(of_velocity(side.mu * pressed - rubbed));
      where.push_back(of_velocity(side.mu * pressed + rubbed));
    } else {
      where.push_back(of_velocity(sign * after.transpose() * tangent));
    }
    restrict_to(c, where);
  }

  static std::string named(const char* what, int i) {
    return std::string(what) + " " + std::to_string(i + 1);
  }

  const Setting& s_;
  std::vector<Monomial> of_p_;
  Vector3d across_[2];
  std::vector<SosCondition> conditions_;
};

/// Equalities between the coefficients of f and of the sums of squares.
class Equalities {
 public:
  explicit Equalities(SosForm& to) : to_(to) {
    for (const SosCondition& c : to.conditions) {
      first_.push_back(size_);
      for (std::size_t k = 0; k <= c.where.size(); ++k) {
        const auto n = static_cast<int>(basis(c, k).size());
        to.sdp.blocks.push_back(n);
        size_ += static_cast<std::size_t>(n * n);
        to.unknowns += n * (n + 1) / 2;
      }
    }
    to.unknowns += static_cast<int>(to.of_p.size());
    to.sdp.constant.assign(size_, 0.0);
    std::size_t at = 0;
    for (const int n : to.sdp.blocks) {  // the least sum of traces
      for (int i = 0; i < n; ++i) to.sdp.constant[at + static_cast<std::size_t>(i * n + i)] = 1.0;
      at += static_cast<std::size_t>(n * n);
    }
  }

  void write() {
    const SosCondition& first = to_.conditions.front();
    // P's own coefficients stand alone in the first condition's rows
    const std::vector<Sparse> matrices = matrices_of(0);
    const auto all = monomials(first.variables, 0, 2 * kMainDegree);
    to_.rows = static_cast<int>(all.size());
    for (std::size_t row = 0; row < all.size(); ++row) {
      const auto found = std::find(to_.of_p.begin(), to_.of_p.end(), all[row]);
      if (found == to_.of_p.end()) {
        add_row(matrices[row], first.known.coefficient(all[row]));
      }
    }
    for (const Monomial& m : to_.of_p) {
      const auto row = static_cast<std::size_t>(std::find(all.begin(), all.end(), m) - all.begin());
      of_p_.push_back(matrices[row]);
      to_.coefficient_rows.push_back(dense(matrices[row]));
      to_.coefficient_constants.push_back(-first.known.coefficient(m));
    }
    for (std::size_t c = 1; c < to_.conditions.size(); ++c) write(c);
  }

 private:
  struct Entry {
    std::size_t place;
    double value;
  };
  using Sparse = std::vector<Entry>;

  static std::vector<Monomial> basis(const SosCondition& c, std::size_t factor) {
    return monomials(c.variables, 0, factor == 0 ? kMainDegree : kFactorDegree);
  }

  /// For every monomial the matrix whose product with X is its coefficient in the sums of squares.
  [[nodiscard]] std::vector<Sparse> matrices_of(std::size_t condition) const {
    const SosCondition& c = to_.conditions[condition];
    const auto all = monomials(c.variables, 0, 2 * kMainDegree);
    std::map<Monomial, std::size_t> index;
    for (std::size_t k = 0; k < all.size(); ++k) index[all[k]] = k;
    std::vector<Sparse> result(all.size());
    std::size_t at = first_[condition];
    for (std::size_t k = 0; k <= c.where.size(); ++k) {
      const auto b = basis(c, k);
      const Polynomial factor = k == 0 ? Polynomial(1.0) : c.where[k - 1];
      for (std::size_t i = 0; i < b.size(); ++i) {
        for (std::size_t j = 0; j < b.size(); ++j) {
          for (const auto& [m, value] : factor.terms()) {
            result[index.at(b[i] + b[j] + m)].push_back({at + i * b.size() + j, value});
          }
        }
      }
      at += b.size() * b.size();
    }
    return result;
  }
  [[nodiscard]] std::vector<double> dense(const Sparse& entries) const {
    std::vector<double> row(size_, 0.0);
    for (const Entry& e : entries) row[e.place] += e.value;
    return row;
  }
  void add_row(const Sparse& entries, double value) {
    const std::vector<double> row = dense(entries);
    to_.sdp.objective.push_back(value);
    to_.sdp.coefficients.insert(to_.sdp.coefficients.end(), row.begin(), row.end());
  }
  /// <X, M_row> = known + sum_a p_a f_a with p_a = <X, M_a> - known_a.
  void write(std::size_t condition) {
    const SosCondition& c = to_.conditions[condition];
    const auto all = monomials(c.variables, 0, 2 * kMainDegree);
    std::vector<Sparse> matrices = matrices_of(condition);
    to_.rows += static_cast<int>(all.size());
    for (std::size_t row = 0; row < all.size(); ++row) {
      double value = c.known.coefficient(all[row]);
      for (std::size_t a = 0; a < to_.of_p.size(); ++a) {
        const double factor = c.per_coefficient[a].coefficient(all[row]);
        if (factor == 0.0) continue;
        value += factor * to_.coefficient_constants[a];
        for (const Entry& e : of_p_[a]) matrices[row].push_back({e.place, -factor * e.value});
      }
      add_row(matrices[row], value);
    }
  }

  SosForm& to_;
  std::vector<std::size_t> first_;
  std::vector<Sparse> of_p_;
  std::size_t size_ = 0;
};

}  // namespace

std::vector<double> SosForm::coefficients(const std::vector<double>& x) const {
  std::vector<double> result = coefficient_constants;
  for (std::size_t a = 0; a < result.size(); ++a) {
    for (std::size_t k = 0; k < x.size(); ++k) result[a] += coefficient_rows[a][k] * x[k];
  }
  return result;
}

SosForm pose_sos(const Setting& setting) {
  SosForm programme;
  Conditions conditions(setting);
  programme.conditions = conditions.all();
  programme.of_p = conditions.of_p();
  Equalities(programme).write();
  return programme;
}

}  // namespace carom::stability
