#include "cli/judge_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>
#include <variant>

#include "cli/exact_sum.hpp"
#include "core/words.hpp"

namespace carom::cli {

namespace {

using run::LcpProblem;
using run::LpProblem;
using run::QpProblem;

using Numbers = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-8;  // of the largest term of a sum, which is taken for zero below
constexpr double kVisible = 1e-3;   // of a cost: what its sum may be off where rounding could hide

/// What a judge found wrong, thrown to its end.
struct Refuted {
  std::string reason;
};

template <class... Values>
[[noreturn]] void refute(fmt::format_string<Values...> format, Values&&... values) {
  throw Refuted{fmt::format(format, std::forward<Values>(values)...)};
}

double largest(const Numbers& values) {
  double most = 0.0;
  for (const double value : values) most = std::max(most, std::fabs(value));
  return most;
}

/// The sum, zero where it is below the rounding of its largest term.
double total(const Numbers& terms) {
  const double sum = exact_sum(terms);
  return std::fabs(sum) <= kRounding * largest(terms) ? 0.0 : sum;
}

struct MatrixView {
  const Numbers& values;
  std::size_t rows, columns;

  [[nodiscard]] double at(std::size_t i, std::size_t j) const { return values[i * columns + j]; }
  /// The terms of row i times x.
  [[nodiscard]] Numbers row_by(std::size_t i, const Numbers& x) const {
    Numbers terms(columns);
    for (std::size_t j = 0; j < columns; ++j) terms[j] = at(i, j) * x[j];
    return terms;
  }
  [[nodiscard]] Numbers column_by(std::size_t j, const Numbers& y) const {
    Numbers terms(rows);
    for (std::size_t i = 0; i < rows; ++i) terms[i] = at(i, j) * y[i];
    return terms;
  }
  [[nodiscard]] double largest_of_row(std::size_t i) const {
    double most = 0.0;
    for (std::size_t j = 0; j < columns; ++j) most = std::max(most, std::fabs(at(i, j)));
    return most;
  }
};

void append(Numbers& terms, const Numbers& more) {
  terms.insert(terms.end(), more.begin(), more.end());
}

Numbers negated(Numbers values) {
  for (double& value : values) value = -value;
  return values;
}

void require_within(const Numbers& terms, double low, double high, double room,
                    const std::string& what) {
  for (const double bound : {low, high}) {
    if (std::isinf(bound)) continue;
    Numbers beyond = terms;
    beyond.push_back(-bound);
    const double rest = total(beyond);
    if (bound == low ? rest >= -room : rest <= room) {
      if (bound != low || bound != high) continue;
      if (std::fabs(rest) <= room) continue;
    }
    refute("{} is {}: beyond its bound {}", what, exact_sum(terms), bound);
  }
}

/// Terms of the least of m'v for v within the bounds.
Numbers least(const Numbers& m, const Numbers& low, const Numbers& high) {
  Numbers terms;
  for (std::size_t i = 0; i < m.size(); ++i) {
    if (m[i] != 0.0) terms.push_back(m[i] * (m[i] > 0.0 ? low[i] : high[i]));
  }
  return terms;
}

void require_goes_on(double step, double low, double high, const std::string& what) {
  if (!std::isinf(low) && step < 0.0)
    refute("{} is {}: falls below {} in the end", what, step, low);
  if (!std::isinf(high) && step > 0.0) refute("{} is {}: exceeds {} in the end", what, step, high);
}

/// The numbers of a claim, all of which must be used or absent.
class Given {
 public:
  explicit Given(const io::KeptCaseAnswer& claim) : claim_(claim) {}

  const Numbers& take(const char* key, std::size_t count) {
    const auto found = claim_.numbers.find(key);
    if (found == claim_.numbers.end()) refute("{} is missing", key);
    const Numbers& values = found->second;
    if (values.size() != count) {
      refute("{} has {} numbers: must have {}", key, values.size(), count);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (!std::isfinite(values[i])) refute("{}[{}] is {}: must be finite", key, i, values[i]);
    }
    used_.emplace_back(key);
    return values;
  }
  [[nodiscard]] bool has(const char* key) const { return claim_.numbers.count(key) == 1; }
  double objective() {
    if (!claim_.objective) refute("objective is missing");
    objective_used_ = true;
    return *claim_.objective;
  }
  void require_nothing_else() const {
    for (const auto& [key, values] : claim_.numbers) {
      if (std::find(used_.begin(), used_.end(), key) == used_.end()) {
        refute("{}: status {} has none, must be null", key, claim_.status);
      }
    }
    if (claim_.objective && !objective_used_) {
      refute("objective: status {} has none, must be null", claim_.status);
    }
  }

 private:
  const io::KeptCaseAnswer& claim_;
  std::vector<std::string> used_;
  bool objective_used_ = false;
};

void require_objective(Numbers terms, double offset, double said) {
  terms.push_back(offset);
  terms.push_back(-said);
  if (total(terms) == 0.0) return;
  terms.pop_back();
  refute("objective is {}: x has {}", said, exact_sum(terms));
}

/// y >= 0 with M'y <= 0 and q'y < 0: no z >= 0 has M z + q >= 0.
void judge_infeasible(const LcpProblem& lcp, Given& given) {
  const std::size_t n = lcp.vector.size();
  const MatrixView matrix{lcp.matrix, n, n};
  const Numbers& y = given.take("farkas", n);
  Numbers terms(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (y[i] < 0.0) refute("farkas[{}] is {}: must be >= 0", i, y[i]);
    if (const double sum = total(matrix.column_by(i, y)); sum > 0.0) {
      refute("entry {} of M'farkas is {}: must be <= 0", i, sum);
    }
    terms[i] = lcp.vector[i] * y[i];
  }
  if (!(total(terms) < 0.0)) refute("q'farkas is {}: must be < 0", total(terms));
}

/// Linear complementarity problems.
void judge(const LcpProblem& lcp, const std::string& status, Given& given) {
  if (status == "infeasible") return judge_infeasible(lcp, given);
  if (status != "solved") refute("status {} has no proof for this kind", status);
  const std::size_t n = lcp.vector.size();
  const MatrixView matrix{lcp.matrix, n, n};
  const Numbers& z = given.take("x", n);
  const Numbers& w = given.take("w", n);
  for (std::size_t i = 0; i < n; ++i) {
    Numbers terms = matrix.row_by(i, z);
    terms.push_back(lcp.vector[i]);
    const double own = total(terms);
    if (z[i] < 0.0) refute("x[{}] is {}: must be >= 0", i, z[i]);
    if (own < 0.0) refute("row {} of M x + q is {}: must be >= 0", i, own);
    if (own != 0.0 && z[i] != 0.0) {
      refute("x[{}] is {} and row {} of M x + q is {}: one must be 0", i, z[i], i, own);
    }
    terms.push_back(-w[i]);
    if (total(terms) != 0.0) refute("w[{}] is {}: M x + q is {}", i, w[i], own);
  }
}

/// Linear programs.
class LinearJudge {
 public:
  LinearJudge(const LpProblem& lp, Given& given)
      : lp_(lp),
        given_(given),
        m_(static_cast<std::size_t>(lp.rows)),
        n_(static_cast<std::size_t>(lp.columns)),
        a_{lp.matrix, m_, n_},
        sign_(lp.maximise ? -1.0 : 1.0) {}

  void judge(const std::string& status) {
    if (status == "solved") return solved();
    if (status == "infeasible") return infeasible();
    if (status == "unbounded") return unbounded();
    refute("status {} has no proof for this kind", status);
  }

 private:
  void solved() {
    const Numbers& given = given_.take("x", n_);
    const Numbers& y = given_.take("dual", m_);
    const Numbers& said = given_.take("reduced_costs", n_);
    Numbers x = given;
    for (std::size_t j = 0; j < n_; ++j) {
      x[j] = std::min(std::max(x[j], lp_.column_lower[j]), lp_.column_upper[j]);
    }
    const double room = kRounding * largest(x);
    for (std::size_t j = 0; j < n_; ++j) {
      if (!(std::fabs(x[j] - given[j]) <= room))
        refute("x[{}] is {}: beyond its bound {}", j, given[j], x[j]);
    }
    require_rows(x);
    Numbers costs(n_);
    for (std::size_t j = 0; j < n_; ++j) {
      Numbers terms = a_.column_by(j, negated(y));
      terms.push_back(lp_.cost[j]);
      costs[j] = sign_ * total(terms);
      terms.push_back(-said[j]);
      if (total(terms) != 0.0) {
        refute("reduced_costs[{}] is {}: c - A'y is {}", j, said[j], sign_ * costs[j]);
      }
    }
    Numbers signed_y = y;
    for (double& value : signed_y) value *= sign_;
    Numbers gap, value;
    for (std::size_t j = 0; j < n_; ++j) value.push_back(lp_.cost[j] * x[j]);
    for (const double term : value) gap.push_back(sign_ * term);
    append(gap, negated(least(signed_y, lp_.row_lower, lp_.row_upper)));
    append(gap, negated(least(costs, lp_.column_lower, lp_.column_upper)));
    const double rest = total(gap);
    if (!(rest == 0.0)) refute("the dual bound misses the objective of x by {}", rest);
    require_objective(value, lp_.offset, given_.objective());
  }

  void infeasible() {
    const Numbers& y = given_.take("farkas", m_);
    Numbers g(n_);
    for (std::size_t j = 0; j < n_; ++j) g[j] = -total(a_.column_by(j, y));
    Numbers terms = least(y, lp_.row_lower, lp_.row_upper);
    append(terms, least(g, lp_.column_lower, lp_.column_upper));
    const double surplus = total(terms);
    if (!(surplus > 0.0)) refute("farkas: its rows ask for {} more than columns allow", surplus);
  }

  void unbounded() {
    const Numbers& x = given_.take("point", n_);
    const Numbers& r = given_.take("ray", n_);
    require_rows(x);
    Numbers rise;
    for (std::size_t j = 0; j < n_; ++j) {
      require_within({x[j]}, lp_.column_lower[j], lp_.column_upper[j], 0.0,
                     fmt::format("point[{}]", j));
      require_goes_on(r[j], lp_.column_lower[j], lp_.column_upper[j], fmt::format("ray[{}]", j));
      rise.push_back(sign_ * lp_.cost[j] * r[j]);
    }
    for (std::size_t i = 0; i < m_; ++i) {
      require_goes_on(total(a_.row_by(i, r)), lp_.row_lower[i], lp_.row_upper[i],
                      fmt::format("row {} along the ray", i));
    }
    if (!(total(rise) < 0.0)) refute("the objective gains nothing along the ray");
  }

  void require_rows(const Numbers& x) const {
    for (std::size_t i = 0; i < m_; ++i) {
      require_within(a_.row_by(i, x), lp_.row_lower[i], lp_.row_upper[i], 0.0,
                     fmt::format("row {}", i));
    }
  }

  const LpProblem& lp_;
  Given& given_;
  std::size_t m_, n_;
  MatrixView a_;
  double sign_;
};

/// Quadratic programs, with rows or with cones.
class QuadraticJudge {
 public:
  QuadraticJudge(const QpProblem& qp, bool cones, Given& given)
      : qp_(qp),
        cones_(cones),
        given_(given),
        n_(static_cast<std::size_t>(qp.variables)),
        m_(cones ? qp.cone_vector.size() : static_cast<std::size_t>(qp.rows)),
        p_{qp.hessian, n_, n_},
        a_{cones ? qp.cone_matrix : qp.matrix, m_, n_} {}

  void judge(const std::string& status) {
    if (status == "solved") return solved();
    if (status == "infeasible") return infeasible();
    if (status == "unbounded") return unbounded();
    if (status == "nonconvex") return nonconvex();
    refute("status {} has no proof for this kind", status);
  }

 private:
  void solved() {
    const Numbers& x = given_.take("x", n_);
    const Numbers& y = given_.take(cones_ ? "cone_dual" : "dual", m_);
    bool hidden = false, seen = true;
    double steepest = 0.0, given = largest(qp_.vector);
    Numbers gap, value;
    for (std::size_t j = 0; j < n_; ++j) {
      const Numbers bent = p_.row_by(j, x);
      steepest = std::max(steepest, largest(bent));
      Numbers gradient = bent;
      gradient.push_back(qp_.vector[j]);
      append(gradient, a_.column_by(j, y));
      if (const double rest = total(gradient); rest != 0.0) {
        refute("entry {} of P x + q + A'y is {}: must be 0", j, rest);
      }
      const double cost = std::fabs(qp_.vector[j]);
      const double most = cost > 0.0 ? kVisible * cost : 1e-15 * largest(gradient);
      seen = seen && std::fabs(exact_sum(gradient)) <= most;
      for (const double term : bent) {
        gap.push_back(x[j] * term);
        value.push_back(0.5 * (x[j] * term));
      }
      gap.push_back(x[j] * qp_.vector[j]);
      value.push_back(x[j] * qp_.vector[j]);
    }
    for (const Numbers* bounds : {&qp_.lower, &qp_.upper}) {
      for (const double bound : *bounds) {
        if (!cones_ && std::isfinite(bound)) given = std::max(given, std::fabs(bound));
      }
    }
    if (cones_) given = std::max(given, largest(qp_.cone_vector));
    hidden = kRounding * steepest > kVisible * given;
    if (hidden && !seen) refute("x is so large that rounding hides the cost");
    if (cones_) {
      require_in_cones(slacks(x), slack_of(x), false, "b - A x");
      require_in_cones(y, Numbers(m_, kRounding * largest(y)), true, "cone_dual");
      for (std::size_t i = 0; i < m_; ++i) gap.push_back(qp_.cone_vector[i] * y[i]);
    } else {
      require_rows(x);
      append(gap, negated(least(negated(y), qp_.lower, qp_.upper)));
    }
    const double rest = total(gap);
    if (!(rest == 0.0)) refute("the multipliers' bound misses the objective of x by {}", rest);
    require_objective(value, qp_.offset, given_.objective());
  }

  void infeasible() {
    if (!cones_ && !given_.has("farkas")) {
      for (std::size_t i = 0; i < m_; ++i) {
        if (qp_.lower[i] > qp_.upper[i]) return;
      }
    }
    const Numbers& y = given_.take("farkas", m_);
    for (std::size_t j = 0; j < n_; ++j) {
      const double rest = total(a_.column_by(j, y));
      if (rest != 0.0) refute("entry {} of A'farkas is {}: must be 0", j, rest);
    }
    if (cones_) {
      require_in_cones(y, Numbers(m_, kRounding * largest(y)), true, "farkas");
      Numbers terms(m_);
      for (std::size_t i = 0; i < m_; ++i) terms[i] = qp_.cone_vector[i] * y[i];
      if (!(total(terms) < 0.0)) refute("b'farkas is {}: must be < 0", total(terms));
    } else {
      const double surplus = total(least(negated(y), qp_.lower, qp_.upper));
      if (!(surplus > 0.0)) refute("farkas: what it combines is no contradiction ({})", surplus);
    }
  }

  void unbounded() {
    const Numbers& x = given_.take("point", n_);
    const Numbers& r = given_.take("ray", n_);
    if (cones_) {
      require_in_cones(slacks(x), slack_of(x), false, "b - A point");
      Numbers steps(m_);
      for (std::size_t i = 0; i < m_; ++i) steps[i] = total(negated(a_.row_by(i, r)));
      require_in_cones(steps, slack_of(r), false, "-A ray");
    } else {
      require_rows(x);
      for (std::size_t i = 0; i < m_; ++i) {
        require_goes_on(total(a_.row_by(i, r)), qp_.lower[i], qp_.upper[i],
                        fmt::format("row {} along the ray", i));
      }
    }
    Numbers rise(n_);
    for (std::size_t j = 0; j < n_; ++j) {
      if (const double rest = total(p_.row_by(j, r)); rest != 0.0) {
        refute("entry {} of P ray is {}: must be 0", j, rest);
      }
      rise[j] = qp_.vector[j] * r[j];
    }
    if (!(total(rise) < 0.0)) refute("the objective does not fall along the ray");
  }

  void nonconvex() {
    const Numbers& d = given_.take("direction", n_);
    // products with what their roundings leave: the sum is exact
    Numbers terms;
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < n_; ++j) {
        const double left = d[i] * p_.at(i, j), rest = std::fma(d[i], p_.at(i, j), -left);
        for (const double part : {left, rest}) {
          const double whole = part * d[j];
          terms.push_back(whole);
          terms.push_back(std::fma(part, d[j], -whole));
        }
      }
    }
    const double curve = exact_sum(terms);
    if (!(curve < 0.0)) refute("direction: d'P d is {}: must be < 0", curve);
  }

  [[nodiscard]] Numbers slacks(const Numbers& x) const {
    Numbers values(m_);
    for (std::size_t i = 0; i < m_; ++i) {
      Numbers terms = negated(a_.row_by(i, x));
      terms.push_back(qp_.cone_vector[i]);
      values[i] = total(terms);
    }
    return values;
  }
  /// What rounding of x does to rows.
  [[nodiscard]] Numbers slack_of(const Numbers& x) const {
    Numbers room(m_);
    for (std::size_t i = 0; i < m_; ++i) room[i] = kRounding * largest(x) * a_.largest_of_row(i);
    return room;
  }
  void require_rows(const Numbers& x) const {
    const Numbers room = slack_of(x);
    for (std::size_t i = 0; i < m_; ++i) {
      require_within(a_.row_by(i, x), qp_.lower[i], qp_.upper[i], room[i],
                     fmt::format("row {}", i));
    }
  }
  void require_in_cones(const Numbers& values, const Numbers& rooms, bool dual,
                        const char* what) const {
    std::size_t at = 0;
    for (std::size_t c = 0; c < qp_.cones.size(); ++c) {
      const auto size = static_cast<std::size_t>(qp_.cones[c].size);
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(at);
      const Numbers v(first, first + static_cast<std::ptrdiff_t>(size));
      double room = 0.0, tail = 0.0;
      for (std::size_t i = 0; i < size; ++i) room = std::max(room, rooms[at + i]);
      for (std::size_t i = 1; i < size; ++i) tail = std::hypot(tail, v[i]);
      const bool inside = qp_.cones[c].kind == ConeKind::zero
                              ? dual || largest(v) <= room
                              : (qp_.cones[c].kind == ConeKind::nonnegative
                                     ? *std::min_element(v.begin(), v.end()) >= -room
                                     : tail <= v[0] + room);
      if (!inside) refute("{}: its part in cones[{}] is not in the cone", what, c);
      at += size;
    }
  }

  const QpProblem& qp_;
  bool cones_;
  Given& given_;
  std::size_t n_, m_;
  MatrixView p_, a_;
};

/// Friction problems: every contact by its own force and its own velocities.
void judge(const CoulombProblem& problem, const std::string& status, Given& given) {
  if (status != "solved") refute("status {} has no proof for this kind", status);
  const auto d = static_cast<std::size_t>(problem.dimension);
  const std::size_t n = problem.vector.size();
  const MatrixView matrix{problem.matrix, n, n};
  const Numbers& r = given.take("x", n);
  for (std::size_t c = 0; c < problem.friction.size(); ++c) {
    Numbers force, velocity;
    double size = 0.0, own = 0.0;
    for (std::size_t i = c * d; i < c * d + d; ++i) {
      Numbers terms = matrix.row_by(i, r);
      terms.push_back(problem.vector[i]);
      size = std::max(size, largest(terms));
      own = std::max(own, matrix.at(i, i));
      force.push_back(r[i]);
      velocity.push_back(exact_sum(terms));
    }
    const double mu = problem.friction[c];
    const double room_u = kRounding * size;
    const double room_r = kRounding * std::max(largest(force), own > 0.0 ? size / own : 0.0);
    double pull = 0.0, slip = 0.0, power = 0.0;
    for (std::size_t k = 1; k < d; ++k) {
      pull = std::hypot(pull, force[k]);
      slip = std::hypot(slip, velocity[k]);
      power += force[k] * velocity[k];
    }
    if (force[0] < -room_r) refute("contact {}: pulls with {}", c, force[0]);
    if (velocity[0] < -room_u) refute("contact {}: penetrates with {}", c, velocity[0]);
    if (pull > mu * std::max(force[0], 0.0) + room_r * (1.0 + mu)) {
      refute("contact {}: friction {} exceeds mu x {}", c, pull, force[0]);
    }
    if (force[0] > room_r && velocity[0] > room_u) {
      refute("contact {}: presses with {} and separates with {}", c, force[0], velocity[0]);
    }
    // slips only at the cone's edge, and against the friction
    if (slip > room_u && force[0] > room_r &&
        power > -mu * force[0] * slip + 3.0 * room_r * (1.0 + mu) * slip +
                    3.0 * room_u * mu * force[0]) {
      refute("contact {}: slips with {} where friction is {}, not opposed or not mu x {}", c, slip,
             pull, force[0]);
    }
  }
}

constexpr std::array<Status, 4> kClaims = {Status::solved, Status::infeasible, Status::unbounded,
                                           Status::nonconvex};

}  // namespace

Verdict judge(const run::CaseProblem& problem, const io::KeptCaseAnswer& claim) {
  Given given(claim);
  try {
    if (claim.kind != problem.kind) {
      refute("kind is {}: the problem's is {}", claim.kind, problem.kind);
    }
    const std::optional<Status> status = value_of<Status>(claim.status);
    if (!status) refute("status is \"{}\": must be one of {}", claim.status, listed<Status>());
    if (std::find(kClaims.begin(), kClaims.end(), *status) == kClaims.end()) {
      return {Judgement::unjudged, {}};
    }
    if (const auto* lcp = std::get_if<LcpProblem>(&problem.problem)) {
      judge(*lcp, claim.status, given);
    } else if (const auto* lp = std::get_if<LpProblem>(&problem.problem)) {
      LinearJudge(*lp, given).judge(claim.status);
    } else if (const auto* qp = std::get_if<QpProblem>(&problem.problem)) {
      QuadraticJudge(*qp, problem.kind == "socp", given).judge(claim.status);
    } else {
      judge(std::get<CoulombProblem>(problem.problem), claim.status, given);
    }
    given.require_nothing_else();
  } catch (const Refuted& refuted) {
    return {Judgement::refuted, refuted.reason};
  }
  return {};
}

}  // namespace carom::cli
