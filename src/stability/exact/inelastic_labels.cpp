#include <array>
#include <utility>
#include <vector>

#include "stability/exact/label_frame.hpp"

namespace carom::exact {

namespace {

template <class Interval>
class Inelastic {
 public:
  Inelastic(const Frame<Interval>& f, const std::array<double, 24>& numbers) : f_(f) {
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t label = 0; label < 3; ++label) {
        const double* from = numbers.data() + 12 * i + 4 * label;
        form_[i][label] = {from[0], from[1], from[2], from[3]};
      }
    }
  }

  bool holds() {
    for (std::size_t i = 0; i < 2; ++i) {
      if (!settle(i)) return false;
    }
    if (!meet()) return false;
    for (std::size_t i = 0; i < 2; ++i) {
      if (!continuous(i)) return false;
      for (std::size_t label = 0; label < (sticks_[i] ? 3U : 2U); ++label) {
        if (!impacts(i, label)) return false;
      }
    }
    return slides_down(f_, at_n(0, 0)) && slides_down(f_, at_n(0, 1));
  }

 private:
  struct Form {
    Interval a, xx, xs, ss;
  };
  using Pair = std::array<Interval, 2>;  ///< x and sd

  static Interval value(const Form& form, const Pair& u, const Pair& w) {
    return form.xx * u[0] * w[0] + form.xs * (u[0] * w[1] + u[1] * w[0]) + form.ss * u[1] * w[1];
  }
  [[nodiscard]] Pair parts(std::size_t i, const Triple<Interval>& v) const {
    return {product(f_.turn[i], v), product(f_.data.contact[i].tangent, v)};
  }

  /// What the equalities of slip and stick leave no choice of.
  bool settle(std::size_t i) {
    const ContactData<Interval>& k = f_.data.contact[i];
    const Interval rate =
        Interval::quotient(product(f_.data.contact[1 - i].normal, f_.turn[i]), f_.turn2[i], valid_);
    const Interval turning = product(f_.turn[i], f_.data.g);
    int starts = 0;
    for (std::size_t way = 0; way < 2; ++way) {
      const Interval change = product(k.tangent, f_.slipping[i][way]);
      Form& form = form_[i][way];
      form.xs = Interval::quotient(-(rate * form.a + turning * form.xx), change, valid_);
      slows_[i][way] = certain_sign(Interval(way == 0 ? -1.0 : 1.0) * change);
      if (!valid_ || slows_[i][way] == 0) return false;
      starts += slows_[i][way] < 0 ? 1 : 0;
    }
    if (starts > 1) return false;
    sticks_[i] = starts == 0;
    if (!sticks_[i]) return true;
    Form& form = form_[i][2];
    form.xx = Interval::quotient(-(rate * form.a), turning, valid_);
    form.xs = form.ss = Interval(0.0);
    return valid_;
  }

  [[nodiscard]] std::size_t label_at_n(std::size_t i, std::size_t way) const {
    const Interval along = product(f_.data.contact[i].tangent, f_.n);
    return along.positive() == (way == 0) ? 0 : 1;
  }
  [[nodiscard]] Interval at_n(std::size_t i, std::size_t way) const {
    const Pair u = parts(i, f_.n);
    return value(form_[i][label_at_n(i, way)], u, u);
  }
  bool meet() {
    const Pair u = parts(1, f_.n);
    for (const ContactData<Interval>& k : f_.data.contact) {
      if (certain_sign(product(k.tangent, f_.n)) == 0) return false;
    }
    for (std::size_t way = 0; way < 2; ++way) {
      Form& form = form_[1][label_at_n(1, way)];
      form.ss = Interval(0.0);
      form.ss = Interval::quotient(at_n(0, way) - value(form, u, u), u[1] * u[1], valid_);
    }
    return valid_;
  }

  bool continuous(std::size_t i) {
    const std::size_t j = 1 - i;
    const ContactData<Interval>& k = f_.data.contact[i];
    const Triple<Interval>& dual = f_.tangent_dual[i];
    const Interval below = product(minus(f_.c, scaled(f_.m, f_.data.g)), f_.gap_dual[j]);
    const Interval turning = product(f_.turn[i], f_.data.g);
    const Interval tau = product(f_.data.contact[j].normal, dual);
    const Interval spin = Interval::quotient(f_.m, f_.turn2[i], valid_);
    for (std::size_t label = 0; label < (sticks_[i] ? 3U : 2U); ++label) {
      const Form& form = form_[i][label];
      if (!(form.a + below).positive()) return false;
      if (label == 2) {
        if (!(form.xx + spin).positive()) return false;
        continue;
      }
      Matrix<Interval> m(2);
      m(0, 0) = form.xx + spin;
      m(0, 1) = m(1, 0) = form.xs;
      m(1, 1) = form.ss + f_.m * product(dual, dual);
      if (!positive_definite(m)) return false;
      const Interval sign(label == 0 ? 1.0 : -1.0);
      const Interval change = product(k.tangent, f_.slipping[i][label]);
      const Interval along =
          product(f_.c, dual) + tau * form.a + turning * form.xs + change * form.ss;
      if (!(-(sign * along)).positive()) return false;
      if (slows_[i][label] < 0) continue;
      const Form& next = form_[i][sticks_[i] ? 2 : 1 - label];
      if (!(form.a - next.a).at_least_zero() || !(form.xx - next.xx).at_least_zero()) return false;
    }
    return valid_;
  }

  /// Slacks mu LN - LT, mu LN + LT of the impulse that sticks.
  [[nodiscard]] std::array<Interval, 2> spare(std::size_t j, const Triple<Interval>& v) const {
    const ContactData<Interval>& k = f_.data.contact[j];
    const Interval gap = product(k.normal, v), slip = product(k.tangent, v);
    // both multiplied by W_NN W_TT - W_NT^2 > 0
    const Interval normal = k.nt * slip - k.tt * gap, tangential = k.nt * gap - k.nn * slip;
    return {k.mu * normal - tangential, k.mu * normal + tangential};
  }
  [[nodiscard]] Triple<Interval> after(std::size_t j, int kind, const Triple<Interval>& v) {
    const ContactData<Interval>& k = f_.data.contact[j];
    const Interval gap = product(k.normal, v);
    if (kind == 0) {  // what turns about the contact is left
      const Interval part = Interval::quotient(product(f_.turn[j], v), f_.turn2[j], valid_);
      return scaled(part, f_.turn[j]);
    }
    const Interval sign(kind > 0 ? 1.0 : -1.0);
    const Interval pressed = Interval::quotient(-gap, k.nn - sign * k.mu * k.nt, valid_);
    return plus(v, scaled(pressed, minus(k.normal, scaled(sign * k.mu, k.tangent))));
  }
  /// 0 stick, 1 slip +, -1 slip -; 2 where that is not certain.
  [[nodiscard]] int kind_of(std::size_t j, const Triple<Interval>& v) const {
    const auto slack = spare(j, v);
    if (slack[0].positive() && slack[1].positive()) return 0;
    // The impulse that would stick lies beyond the cone's edge LT = -mu LN or
    // LT = mu LN.
    if (slack[1].negative() && slack[0].positive()) return 1;
    if (slack[0].negative() && slack[1].positive()) return -1;
    return 2;
  }

  bool impacts(std::size_t i, std::size_t label) {
    const std::size_t j = 1 - i;
    const int opens = certain_sign(product(f_.data.contact[j].normal, f_.turn[i]));
    if (opens == 0) return false;
    const Triple<Interval> turn = scaled(Interval(-opens), f_.turn[i]);
    if (label == 2) {
      const int kind = kind_of(j, turn);
      return kind != 2 && falls(i, label, j, kind, {turn}, false);
    }
    const int along = certain_sign(product(f_.data.contact[i].tangent, f_.n));
    const Triple<Interval> slide = scaled(Interval(label == 0 ? along : -along), f_.n);
    const auto at_slide = spare(j, slide), at_turn = spare(j, turn);
    std::array<Interval, 2> cut;
    std::size_t cuts = 0;
    for (std::size_t k = 0; k < 2; ++k) {
      const int first = certain_sign(at_slide[k]), second = certain_sign(at_turn[k]);
      if (first == 0 || second == 0) return false;
      if (first == second) continue;
      cut[cuts++] = Interval::quotient(at_slide[k], at_slide[k] - at_turn[k], valid_);
    }
    if (cuts == 2) {
      const int order = certain_sign(cut[1] - cut[0]);
      if (order == 0) return false;
      if (order < 0) std::swap(cut[0], cut[1]);
    }
    const Interval one(1.0);
    const auto between = [&](const Interval& share) {
      return plus(scaled(one - share, slide), scaled(share, turn));
    };
    Interval from(0.0);
    for (std::size_t part = 0; part <= cuts; ++part) {
      const Interval to = part < cuts ? cut[part] : one;
      const int kind = kind_of(j, between(Interval(0.5) * (from + to)));
      if (kind == 2 || !falls(i, label, j, kind, {between(from), between(to)}, part == 0))
        return false;
      from = to;
    }
    return valid_;
  }

  /// at_slide: the first ray is along n.
  bool falls(std::size_t i, std::size_t label, std::size_t j, int kind,
             const std::vector<Triple<Interval>>& rays, bool at_slide) {
    std::size_t next = kind > 0 ? 0 : 1;
    if (kind == 0) next = sticks_[j] ? 2 : (slows_[j][0] < 0 ? 0 : 1);
    std::vector<Pair> before, behind;
    for (const Triple<Interval>& ray : rays) {
      before.push_back(parts(i, ray));
      behind.push_back(parts(j, after(j, kind, ray)));
      if (kind == 0) behind.back()[1] = Interval(0.0);
    }
    Matrix<Interval> m(rays.size());
    for (std::size_t a = 0; a < rays.size(); ++a) {
      for (std::size_t b = 0; b < rays.size(); ++b) {
        m(a, b) = value(form_[i][label], before[a], before[b]) -
                  value(form_[j][next], behind[a], behind[b]);
      }
    }
    if (!valid_) return false;
    if (at_slide) {  // no impulse along n, and next is the label there: equal by
                     // meet()
      const int along = certain_sign(product(f_.data.contact[j].tangent, rays[0]));
      if (kind == 0 || along != kind) return false;
      return m(0, 1).at_least_zero() && m(1, 1).positive();
    }
    return strictly_copositive(m);
  }

  const Frame<Interval>& f_;
  bool valid_ = true;
  std::array<std::array<Form, 3>, 2> form_;
  std::array<std::array<int, 2>, 2> slows_{};
  std::array<bool, 2> sticks_{};
};

}  // namespace

template <class Interval>
bool inelastic_labels_hold(const Frame<Interval>& f, const std::array<double, 24>& numbers) {
  return Inelastic<Interval>(f, numbers).holds();
}

template bool inelastic_labels_hold(const Frame<PlainInterval>&, const std::array<double, 24>&);
template bool inelastic_labels_hold(const Frame<FineInterval>&, const std::array<double, 24>&);

}  // namespace carom::exact
