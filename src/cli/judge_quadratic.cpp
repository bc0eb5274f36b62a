#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "cli/judge_terms.hpp"

namespace carom::cli {

using run::QpProblem;

namespace {

constexpr double kVisible = 1e-3;   // of the energies of costs and bounds: what may be left out
constexpr double kOfMargin = 1e-6;  // of a contradiction's: what A'y may leave
constexpr double kInside = 1e-9;    // of a vector's first component: beyond, it is inside its cone

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
    if (status == "no_interior" && cones_) return no_interior();
    refute("status {} has no proof for this kind", status);
  }

 private:
  /// (P x + q + A'y)_j, with the rounding of its products.
  [[nodiscard]] double slope(std::size_t j, const Numbers& x, const Numbers& y) const {
    Numbers terms{qp_.vector[j]};
    for (std::size_t k = 0; k < n_; ++k) append_product(terms, p_.at(j, k), x[k]);
    for (std::size_t i = 0; i < m_; ++i) append_product(terms, a_.at(i, j), y[i]);
    return exact_sum(terms);
  }

  void solved() {
    const Numbers& x = given_.take("x", n_);
    Numbers y = given_.take(cones_ ? "cone_dual" : "dual", m_);
    if (!cones_) y = negated(pressing(negated(y), qp_.lower, qp_.upper));
    double left = 0.0, asked = 0.0;
    Numbers bends, given, slopes(n_);  // x_j P_jk x_k; x_j q_j and what the bounds pay
    for (std::size_t j = 0; j < n_; ++j) {
      Numbers gradient = p_.row_by(j, x);
      asked = std::max(asked, longest(j) * largest(gradient));
      for (const double term : gradient) bends.push_back(x[j] * term);
      given.push_back(x[j] * qp_.vector[j]);
      gradient.push_back(qp_.vector[j]);
      append(gradient, a_.column_by(j, y));
      slopes[j] = largest(gradient);
      if (const double rest = total(gradient); rest != 0.0) {
        refute("entry {} of P x + q + A'y is {}: must be 0", j, rest);
      }
      left = std::max(left, std::fabs(x[j] * slope(j, x, y)));
    }
    const double objective = std::max(largest(bends), largest(given));
    if (cones_) y = visible(y, slopes);
    append(given, cones_ ? products(qp_.cone_vector, y)
                         : negated(least(negated(y), qp_.lower, qp_.upper)));
    const double most = largest(given);
    if (largest(qp_.vector) > 0.0) asked = 0.0;
    if (kRounding * largest(bends) > kVisible * std::max(most, asked) && left > kVisible * most) {
      refute("x is so large that rounding hides the cost");
    }
    if (cones_) {
      require_in_cones(slacks(x), slack_of(x), false, "b - A x");
      if (given_.has("face")) {
        require_on_face(y, face());
      } else {
        require_in_cones(y, felt(y, slopes, objective), true, "cone_dual");
      }
    } else {
      require_rows(x);
    }
    append(given, bends);
    const double rest = total(given);
    if (!(rest == 0.0)) refute("the multipliers' bound misses the objective of x by {}", rest);
    judge_objective(x);
  }

  void judge_objective(const Numbers& x) const {
    Numbers value, slopes(n_);
    for (std::size_t j = 0; j < n_; ++j) {
      Numbers slope = {qp_.vector[j]};
      for (std::size_t k = 0; k < n_; ++k) {
        append_product(slope, p_.at(j, k), x[k]);
        append_product(value, 0.5 * p_.at(j, k), x[k], x[j]);
      }
      append_product(value, qp_.vector[j], x[j]);
      slopes[j] = exact_sum(slope);
    }
    require_objective(value, x, slopes, qp_.offset, given_.objective());
  }

  void infeasible() {
    if (!cones_ && !given_.has("farkas") && crossed(qp_.lower, qp_.upper)) return;
    const Numbers& y = given_.take("farkas", m_);
    if (cones_) {
      const double zero = zero_for_margin(products(qp_.cone_vector, y), "b'farkas");
      require_vanishes(y, "farkas", zero);
      require_dual(y, "farkas", zero);
      return;
    }
    const Numbers gain = least(negated(y), qp_.lower, qp_.upper);
    const double sum = exact_sum(gain), margin = sum / largest(gain);
    if (!(margin > 0.0)) refute("farkas: what it combines is no contradiction ({})", sum);
    // what is left of A'y must not make up for the margin
    Numbers left(n_);
    for (std::size_t j = 0; j < n_; ++j) {
      const Numbers pull = a_.column_by(j, y);
      const double rest = std::fabs(exact_sum(pull));
      if (!(rest <= std::min(kRounding, kOfMargin * margin) * largest(pull))) {
        refute("entry {} of A'farkas is {}: must be 0", j, rest);
      }
      if (rest > 0.0) left[j] = rest * (is_rounding(pull) ? longest(j) : own_bound(j));
    }
    append(left, by_rounding(a_, negated(y), qp_.lower, qp_.upper));
    if (const double most = exact_sum(left); !(most < sum)) {
      refute("A'farkas leaves {}: the contradiction is {}", most, sum);
    }
  }

  void unbounded() {
    const Numbers& x = given_.take("point", n_);
    const Numbers& r = given_.take("ray", n_);
    Numbers fall = products(qp_.vector, r), curve;
    if (const std::size_t j = bent_by(r, kRounding); j < n_) {
      // convex only on the equations: the fall is that at the point
      if (cones_ || !has_equations()) refute("entry {} of P ray is not 0", j);
      for (std::size_t i = 0; i < n_; ++i) {
        for (const double term : p_.row_by(i, r)) curve.push_back(r[i] * term);
        for (const double term : p_.row_by(i, x)) fall.push_back(r[i] * term);
      }
    }
    const double zero = zero_for_margin(fall, "the objective's fall along the ray");
    require_ray(x, r, zero);
    if (const double rest = total(curve, zero); rest != 0.0) {
      refute("ray'P ray is {}: must be 0", rest);
    }
    if (const std::size_t j = bent_by(r, zero); curve.empty() && j < n_) {
      refute("entry {} of P ray is not 0", j);
    }
  }

  void no_interior() {
    if (given_.has("face")) {
      face();
      return;
    }
    const Numbers& x = given_.take("point", n_);
    const Numbers& r = given_.take("ray", n_);
    require_ray(x, r, kRounding);
    if (!(largest(r) > 0.0)) refute("ray is 0");
    if (const std::size_t j = bent_by(r, kRounding); j < n_)
      refute("entry {} of P ray is not 0", j);
    if (const double rest = total(products(qp_.vector, r)); rest != 0.0) {
      refute("the objective changes by {} along the ray: must be 0", rest);
    }
  }

  void nonconvex() {
    const Numbers& d = given_.take("direction", n_);
    Numbers terms;
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < n_; ++j) append_product(terms, d[i], p_.at(i, j), d[j]);
    }
    const double curve = exact_sum(terms);
    if (!(curve < 0.0)) refute("direction: d'P d is {}: must be < 0", curve);
    for (std::size_t i = 0; i < m_; ++i) {
      if (!is_equation(i)) continue;
      if (const double rest = total(a_.row_by(i, d)); rest != 0.0) {
        refute("row {} of A direction is {}: must be 0, the row is an equation", i, rest);
      }
    }
  }

  /// A'v = 0.
  void require_vanishes(const Numbers& v, const char* what, double zero) const {
    for (std::size_t j = 0; j < n_; ++j) {
      const double rest = total(a_.column_by(j, v), zero);
      if (rest != 0.0) refute("entry {} of A'{} is {}: must be 0", j, what, rest);
    }
  }
  void require_dual(const Numbers& v, const char* what, double zero) const {
    require_in_cones(v, Numbers(m_, zero * largest(v)), true, what);
  }
  /// The y_i by which the terms of row i match the largest ones, slopes, of a sum of P x + q + A'y.
  [[nodiscard]] double match(std::size_t i, const Numbers& slopes) const {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < n_; ++j) {
      if (a_.at(i, j) != 0.0) least = std::min(least, slopes[j] / std::fabs(a_.at(i, j)));
    }
    return least;
  }
  /// y without what is rounding in every sum of P x + q + A'y.
  [[nodiscard]] Numbers visible(Numbers y, const Numbers& slopes) const {
    for (std::size_t i = 0; i < m_; ++i) {
      const double size = match(i, slopes);
      if (std::isfinite(size) && std::fabs(y[i]) <= 1e-15 * size) y[i] = 0.0;
    }
    return y;
  }
  /// How far y may lie outside the dual cones: so little that it is lost in the rounding of the
  /// sums P x + q + A'y, whose largest terms are slopes, and of the objective, whose largest is
  /// value.
  [[nodiscard]] Numbers felt(const Numbers& y, const Numbers& slopes, double value) const {
    Numbers room(m_, largest(y));
    for (std::size_t i = 0; i < m_; ++i) {
      double least = match(i, slopes);
      if (qp_.cone_vector[i] != 0.0) {
        least = std::min(least, value / std::fabs(qp_.cone_vector[i]));
      }
      if (std::isfinite(least)) room[i] = std::max(room[i], least);
      room[i] *= kRounding;
    }
    return room;
  }
  /// f in the dual cones with A'f = 0 and b'f = 0: f's = 0 for all slacks s.
  const Numbers& face() {
    const Numbers& f = given_.take("face", m_);
    if (!(largest(f) > 0.0)) refute("face is 0");
    require_vanishes(f, "face", kRounding);
    require_dual(f, "face", kRounding);
    if (const double rest = total(products(qp_.cone_vector, f)); rest != 0.0) {
      refute("b'face is {}: must be 0", rest);
    }
    return f;
  }
  /// y's >= 0 for the slacks s with f's = 0: of a cone its apex where f is inside, a half-line
  /// where f is on the boundary.
  void require_on_face(const Numbers& y, const Numbers& f) const {
    const double room = kRounding * largest(y);
    std::size_t at = 0;
    for (std::size_t c = 0; c < qp_.cones.size(); ++c) {
      const auto size = static_cast<std::size_t>(qp_.cones[c].size);
      bool holds = qp_.cones[c].kind == ConeKind::zero;
      if (qp_.cones[c].kind == ConeKind::nonnegative) {
        holds = true;
        for (std::size_t i = 0; i < size; ++i) holds = holds && y[at + i] >= -room;
      } else if (!holds) {
        double tail_y = 0.0, tail_f = 0.0;
        Numbers along;
        for (std::size_t i = 1; i < size; ++i) {
          tail_y = std::hypot(tail_y, y[at + i]);
          tail_f = std::hypot(tail_f, f[at + i]);
          along.push_back(-(y[at + i] * f[at + i]) / f[at]);
        }
        if (size > 1 && f[at] > 0.0) {
          along.push_back(y[at]);
          holds = f[at] - tail_f > kInside * f[at] || exact_sum(along) >= -room;
        } else {
          holds = y[at] - tail_y >= -room;
        }
      }
      if (!holds) refute("cone_dual: its part of cones[{}] does not bound the face", c);
      at += size;
    }
  }
  /// x meets all bounds and r leaves none of them.
  void require_ray(const Numbers& x, const Numbers& r, double zero) const {
    if (cones_) {
      require_in_cones(slacks(x), slack_of(x), false, "b - A point");
      Numbers steps(m_);
      for (std::size_t i = 0; i < m_; ++i) steps[i] = total(negated(a_.row_by(i, r)), zero);
      require_in_cones(steps, slack_of(r, zero), false, "-A ray");
      return;
    }
    require_rows(x);
    for (std::size_t i = 0; i < m_; ++i) {
      require_goes_on(total(a_.row_by(i, r), zero), qp_.lower[i], qp_.upper[i],
                      fmt::format("row {} along the ray", i));
    }
  }
  /// The first entry of P r that is not 0; n where all are.
  [[nodiscard]] std::size_t bent_by(const Numbers& r, double zero) const {
    std::size_t j = 0;
    while (j < n_ && total(p_.row_by(j, r), zero) == 0.0) ++j;
    return j;
  }
  [[nodiscard]] const Numbers& lower() const { return cones_ ? qp_.cone_vector : qp_.lower; }
  [[nodiscard]] const Numbers& upper() const { return cones_ ? qp_.cone_vector : qp_.upper; }
  /// The largest |x_j| that a bound asks for.
  [[nodiscard]] double longest(std::size_t j) const {
    double most = 0.0;
    for (std::size_t i = 0; i < m_; ++i) {
      if (a_.at(i, j) == 0.0) continue;
      for (const Numbers* bounds : {&lower(), &upper()}) {
        const double bound = (*bounds)[i];
        if (std::isfinite(bound)) most = std::max(most, std::fabs(bound / a_.at(i, j)));
      }
    }
    return most;
  }
  /// How far x_j may be from zero by rows that hold nothing else; infinite without such.
  [[nodiscard]] double own_bound(std::size_t j) const {
    double low = -std::numeric_limits<double>::infinity();
    double high = -low;
    for (std::size_t i = 0; i < m_; ++i) {
      const double entry = a_.at(i, j);
      Numbers row(n_);
      for (std::size_t k = 0; k < n_; ++k) row[k] = k == j ? 0.0 : a_.at(i, k);
      if (entry == 0.0 || largest(row) > 0.0) continue;
      const auto [least, most] = std::minmax({qp_.lower[i] / entry, qp_.upper[i] / entry});
      low = std::max(low, least);
      high = std::min(high, most);
    }
    return std::max(std::fabs(low), std::fabs(high));
  }
  [[nodiscard]] bool is_equation(std::size_t i) const {
    if (!cones_) return qp_.lower[i] == qp_.upper[i];
    std::size_t c = 0;
    for (std::size_t end = 0; c < qp_.cones.size(); ++c) {
      end += static_cast<std::size_t>(qp_.cones[c].size);
      if (i < end) break;
    }
    return qp_.cones[c].kind == ConeKind::zero;
  }
  [[nodiscard]] bool has_equations() const {
    for (std::size_t i = 0; i < m_; ++i) {
      if (is_equation(i)) return true;
    }
    return false;
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
  [[nodiscard]] Numbers slack_of(const Numbers& x, double rounding = kRounding) const {
    Numbers room(m_);
    for (std::size_t i = 0; i < m_; ++i) room[i] = rounding * largest(x) * a_.largest_of_row(i);
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

}  // namespace

void judge(const QpProblem& qp, bool cones, const std::string& status, Given& given) {
  QuadraticJudge(qp, cones, given).judge(status);
}

}  // namespace carom::cli
