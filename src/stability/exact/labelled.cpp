#include <array>
#include <optional>

#include "stability/exact/copositive.hpp"
#include "stability/exact/forms.hpp"
#include "stability/exact/proofs.hpp"

namespace carom::exact {

namespace {

Triple scaled(const Interval& factor, const Triple& v) {
  return {factor * v[0], factor * v[1], factor * v[2]};
}
Triple plus(const Triple& a, const Triple& b) { return sum(a, Interval(1.0), b); }
Triple minus(const Triple& a, const Triple& b) { return sum(a, Interval(-1.0), b); }

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

Frame frame_of(const Stance& stance) {
  Frame f;
  f.data = data_of(stance);
  const ContactData& a = f.data.contact[0];
  const ContactData& b = f.data.contact[1];
  f.n = cross(a.normal, b.normal);
  if (product(f.n, f.data.g).negative()) f.n = scaled(Interval(-1.0), f.n);
  const Interval square = product(f.n, f.n);
  if (!square.positive() || !product(f.n, f.data.g).positive()) {
    f.valid = false;
    return f;
  }
  f.n = scaled(Interval::quotient(Interval(1.0), root(square), f.valid), f.n);
  f.m = Interval::quotient(Interval(1.0), product(f.n, f.data.g), f.valid);
  for (std::size_t i = 0; i < 2; ++i) {
    const ContactData& k = f.data.contact[i];
    f.turn[i] = cross(k.normal, k.tangent);
    f.turn2[i] = product(f.turn[i], f.turn[i]);
    const Interval inverse = Interval::quotient(Interval(1.0), k.nn * k.tt - k.nt * k.nt, f.valid);
    f.normal_dual[i] = scaled(inverse, minus(scaled(k.tt, k.normal), scaled(k.nt, k.tangent)));
    f.tangent_dual[i] = scaled(inverse, minus(scaled(k.nn, k.tangent), scaled(k.nt, k.normal)));
    f.load[i] = -product(k.normal, f.data.g);
    f.valid = f.valid && f.load[i].positive();
    for (std::size_t way = 0; way < 2; ++way) {
      const Interval sign(way == 0 ? 1.0 : -1.0);
      const Interval stiffness = k.nn - sign * k.mu * k.nt;
      f.valid = f.valid && stiffness.positive();
      if (!f.valid) return f;
      const Interval force = Interval::quotient(f.load[i], stiffness, f.valid);
      f.slipping[i][way] =
          plus(f.data.g, scaled(force, minus(k.normal, scaled(sign * k.mu, k.tangent))));
    }
  }
  f.c = cross(f.turn[0], f.turn[1]);
  f.c = scaled(Interval::quotient(Interval(1.0), product(f.c, f.n), f.valid), f.c);
  const Interval ab = product(a.normal, b.normal);
  const Interval inverse = Interval::quotient(Interval(1.0), a.nn * b.nn - ab * ab, f.valid);
  f.gap_dual[0] = scaled(inverse, minus(scaled(b.nn, a.normal), scaled(ab, b.normal)));
  f.gap_dual[1] = scaled(inverse, minus(scaled(a.nn, b.normal), scaled(ab, a.normal)));
  return f;
}

/// The sign of a number that certainly has one; 0 otherwise.
int certain_sign(const Interval& x) { return x.positive() ? 1 : (x.negative() ? -1 : 0); }

/// Both contacts slide along way * n: whether they stay, or one of them leaves; nothing where that
/// is not certain.
enum class Sliding { both, one };
std::optional<Sliding> sliding(const Frame& f, double way, Interval& pull) {
  std::string word;
  for (const ContactData& k : f.data.contact) {
    const int sign = certain_sign(Interval(way) * product(k.tangent, f.n));
    if (sign == 0) return std::nullopt;
    word += sign > 0 ? 'P' : 'N';
  }
  ModeData mode;
  if (!solve(f.data, word, mode)) return std::nullopt;
  const int first = certain_sign(mode.normal[0]), second = certain_sign(mode.normal[1]);
  if (first == 0 || second == 0) return std::nullopt;
  // Another consistent word beside, or instead of, both: contact i alone, the other leaving.
  int alone = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const Triple& a = f.slipping[i][word[i] == 'P' ? 0 : 1];
    const int leaves = certain_sign(product(f.data.contact[1 - i].normal, a));
    if (leaves == 0) return std::nullopt;
    alone += leaves > 0 ? 1 : 0;
  }
  const bool both = first > 0 && second > 0;
  if ((both ? 1 : 0) + alone != 1) return std::nullopt;
  pull = product(mode.acceleration, f.n);
  return both ? Sliding::both : Sliding::one;
}

/// Some Q12 <= form at n has Q12 + m > 0 and 1 + Q12 A.n not along the motion.
bool slides_down(const Frame& f, const Interval& at_n) {
  for (const double way : {1.0, -1.0}) {
    Interval pull;
    const auto kind = sliding(f, way, pull);
    if (!kind) return false;
    if (*kind == Sliding::one) continue;
    bool found = false;
    for (const double share : {1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999, 1.0}) {
      const Interval q12 = Interval(share) * (at_n + f.m) - f.m;
      const bool falls = (Interval(-way) * (Interval(1.0) + q12 * pull)).positive();
      found = found || (falls && (q12 + f.m).positive());
    }
    if (!found) return false;
  }
  return true;
}

// ---------------------------------------------------------------------------------- e = 0

class Inelastic {
 public:
  Inelastic(const Frame& f, const std::array<double, 24>& numbers) : f_(f) {
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
  [[nodiscard]] Pair parts(std::size_t i, const Triple& v) const {
    return {product(f_.turn[i], v), product(f_.data.contact[i].tangent, v)};
  }

  /// What the equalities of slip and stick leave no choice of.
  bool settle(std::size_t i) {
    const ContactData& k = f_.data.contact[i];
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
    for (const ContactData& k : f_.data.contact) {
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
    const ContactData& k = f_.data.contact[i];
    const Triple& dual = f_.tangent_dual[i];
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
      Matrix m(2);
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
  [[nodiscard]] std::array<Interval, 2> spare(std::size_t j, const Triple& v) const {
    const ContactData& k = f_.data.contact[j];
    const Interval gap = product(k.normal, v), slip = product(k.tangent, v);
    // both multiplied by W_NN W_TT - W_NT^2 > 0
    const Interval normal = k.nt * slip - k.tt * gap, tangential = k.nt * gap - k.nn * slip;
    return {k.mu * normal - tangential, k.mu * normal + tangential};
  }
  [[nodiscard]] Triple after(std::size_t j, int kind, const Triple& v) {
    const ContactData& k = f_.data.contact[j];
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
  [[nodiscard]] int kind_of(std::size_t j, const Triple& v) const {
    const auto slack = spare(j, v);
    if (slack[0].positive() && slack[1].positive()) return 0;
    // The impulse that would stick lies beyond the cone's edge LT = -mu LN or LT = mu LN.
    if (slack[1].negative() && slack[0].positive()) return 1;
    if (slack[0].negative() && slack[1].positive()) return -1;
    return 2;
  }

  bool impacts(std::size_t i, std::size_t label) {
    const std::size_t j = 1 - i;
    const int opens = certain_sign(product(f_.data.contact[j].normal, f_.turn[i]));
    if (opens == 0) return false;
    const Triple turn = scaled(Interval(-opens), f_.turn[i]);
    if (label == 2) {
      const int kind = kind_of(j, turn);
      return kind != 2 && falls(i, label, j, kind, {turn});
    }
    const int along = certain_sign(product(f_.data.contact[i].tangent, f_.n));
    const Triple slide = scaled(Interval(label == 0 ? along : -along), f_.n);
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
      if (kind == 2 || !falls(i, label, j, kind, {between(from), between(to)})) return false;
      from = to;
    }
    return valid_;
  }

  bool falls(std::size_t i, std::size_t label, std::size_t j, int kind,
             const std::vector<Triple>& rays) {
    std::size_t next = kind > 0 ? 0 : 1;
    if (kind == 0) next = sticks_[j] ? 2 : (slows_[j][0] < 0 ? 0 : 1);
    std::vector<Pair> before, behind;
    for (const Triple& ray : rays) {
      before.push_back(parts(i, ray));
      behind.push_back(parts(j, after(j, kind, ray)));
      if (kind == 0) behind.back()[1] = Interval(0.0);
    }
    Matrix m(rays.size());
    for (std::size_t a = 0; a < rays.size(); ++a) {
      for (std::size_t b = 0; b < rays.size(); ++b) {
        m(a, b) = value(form_[i][label], before[a], before[b]) -
                  value(form_[j][next], behind[a], behind[b]);
      }
    }
    if (!valid_) return false;
    const bool at_slide =
        rays.size() == 2 && product(f_.data.contact[j].normal, rays[0]).negative() == false;
    if (at_slide) {  // no impulse along n, and next is the label there: equal by meet()
      const int along = certain_sign(product(f_.data.contact[j].tangent, rays[0]));
      if (kind == 0 || along != kind) return false;
      return m(0, 1).at_least_zero() && m(1, 1).positive();
    }
    return strictly_copositive(m);
  }

  const Frame& f_;
  bool valid_ = true;
  std::array<std::array<Form, 3>, 2> form_;
  std::array<std::array<int, 2>, 2> slows_{};
  std::array<bool, 2> sticks_{};
};

// ---------------------------------------------------------------------------------- e > 0

class Elastic {
 public:
  Elastic(const Frame& f, const std::array<double, 24>& numbers) : f_(f) {
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t k = 0; k < 4; ++k) part_[i][k] = Interval(numbers[4 * i + k]);
    }
  }

  bool holds() {
    const ContactData& a = f_.data.contact[0];
    const ContactData& b = f_.data.contact[1];
    for (std::size_t i = 0; i < 2; ++i) {
      const Interval rate = product(f_.data.contact[1 - i].normal, f_.turn[i]);
      gap_[i] = Interval::quotient(-(part_[i][0] * f_.turn2[i] * product(f_.turn[i], f_.data.g)),
                                   rate, valid_);
    }
    const Interval first = product(a.tangent, f_.n), second = product(b.tangent, f_.n);
    settle(0, 2, f_.n, f_.turn[1], first * product(a.normal, f_.turn[1]));
    settle(1, 3, f_.n, f_.n, second * second);
    settle(1, 2, f_.n, f_.turn[0], second * product(b.normal, f_.turn[0]));
    for (std::size_t i = 0; i < 2; ++i) {
      if (!valid_ || !continuous(i) || !bounces(i) || !flights(i)) return false;
    }
    return valid_ && slides_down(f_, form(0, f_.n, f_.n));
  }

 private:
  struct Arrival {
    Triple before, after;
    Interval time;
  };

  [[nodiscard]] Interval form(std::size_t i, const Triple& u, const Triple& w) const {
    const ContactData& k = f_.data.contact[i];
    const Interval un = product(k.normal, u), wn = product(k.normal, w);
    const Interval ut = product(k.tangent, u), wt = product(k.tangent, w);
    return part_[i][0] * product(f_.turn[i], u) * product(f_.turn[i], w) + part_[i][1] * un * wn +
           part_[i][2] * (un * wt + ut * wn) + part_[i][3] * ut * wt;
  }
  void settle(std::size_t i, std::size_t k, const Triple& u, const Triple& w,
              const Interval& factor) {
    part_[i][k] = Interval(0.0);
    part_[i][k] = Interval::quotient(form(1 - i, u, w) - form(i, u, w), factor, valid_);
  }

  bool continuous(std::size_t i) {
    const std::size_t j = 1 - i;
    const Interval below = product(minus(f_.c, scaled(f_.m, f_.data.g)), f_.gap_dual[j]);
    if (!(gap_[i] + below).positive()) return false;
    Matrix m(3);
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t l = 0; l < 3; ++l) {
        Triple u{Interval(0.0), Interval(0.0), Interval(0.0)}, w = u;
        u[k] = w[l] = Interval(1.0);
        m(k, l) = form(i, u, w);
        if (k == l) m(k, l) = m(k, l) + f_.m;
      }
    }
    if (!positive_definite(m)) return false;
    const Triple& dual = f_.tangent_dual[i];
    for (std::size_t way = 0; way < 2; ++way) {
      const Interval along = product(f_.c, dual) +
                             product(f_.data.contact[j].normal, dual) * gap_[i] +
                             form(i, dual, f_.slipping[i][way]);
      if (!(way == 0 ? -along : along).positive()) return false;
    }
    return true;
  }

  Arrival arrival(std::size_t i, double normal, const Interval& tangential, double slip,
                  const Interval& time) {
    const ContactData& k = f_.data.contact[i];
    const Interval pushed = k.nn * Interval(normal) + k.nt * tangential;
    const Interval bounce = Interval::quotient(k.e, Interval(1.0) + k.e, valid_);
    const Triple after = plus(scaled(bounce * pushed, f_.normal_dual[i]),
                              scaled(Interval(slip), f_.tangent_dual[i]));
    return {minus(minus(after, scaled(Interval(normal), k.normal)), scaled(tangential, k.tangent)),
            after, time};
  }
  Interval longest(std::size_t i, const Interval& r) {
    const ContactData& k = f_.data.contact[i];
    return Interval::quotient(Interval(2.0) * (k.nn + r * k.nt), (Interval(1.0) + k.e) * f_.load[i],
                              valid_);
  }

  [[nodiscard]] Interval fall(std::size_t from, std::size_t i, const Arrival& a,
                              const Arrival& b) const {
    const Triple start_a = minus(a.before, scaled(a.time, f_.data.g));
    const Triple start_b = minus(b.before, scaled(b.time, f_.data.g));
    const Triple moved = minus(plus(scaled(b.time, a.before), scaled(a.time, b.before)),
                               scaled(a.time * b.time, f_.data.g));
    const Interval value =
        form(from, start_a, start_b) - form(i, a.after, b.after) - product(f_.c, moved);
    const Interval other = product(f_.data.contact[1 - i].normal, moved) * gap_[i];
    if (from == i) return value - other;
    return value - other - product(f_.data.contact[i].normal, moved) * gap_[1 - i];
  }

  bool copositive(std::size_t from, std::size_t i, const std::vector<Arrival>& rays) const {
    Matrix m(rays.size());
    for (std::size_t a = 0; a < rays.size(); ++a) {
      for (std::size_t b = 0; b < rays.size(); ++b) m(a, b) = fall(from, i, rays[a], rays[b]);
    }
    return strictly_copositive(m);
  }

  bool bounces(std::size_t i) {
    const Interval mu = f_.data.contact[i].mu;
    const Interval zero(0.0);
    if (!copositive(i, i,
                    {arrival(i, 1.0, -mu, 0.0, longest(i, -mu)),
                     arrival(i, 1.0, mu, 0.0, longest(i, mu))})) {
      return false;
    }
    for (const double sign : {1.0, -1.0}) {
      const Interval r = Interval(-sign) * mu;
      const Arrival slips = arrival(i, 0.0, zero, sign, zero);
      const Arrival hits = arrival(i, 1.0, r, 0.0, longest(i, r));
      if (!fall(i, i, slips, hits).at_least_zero() || !fall(i, i, hits, hits).positive()) {
        return false;
      }
    }
    return true;
  }

  bool flights(std::size_t i) {
    const std::size_t j = 1 - i;
    const ContactData& k = f_.data.contact[i];
    const ContactData& other = f_.data.contact[j];
    const Interval rate = product(other.normal, f_.turn[i]), zero(0.0), mu = k.mu;
    const auto on_edge = [&](const Arrival& ray) {
      const Interval opening =
          product(other.normal, ray.before) + Interval(0.5) * f_.load[j] * ray.time;
      const Triple turn = scaled(Interval::quotient(-opening, rate, valid_), f_.turn[i]);
      return Arrival{plus(ray.before, turn), plus(ray.after, turn), ray.time};
    };
    const Triple opening = scaled(Interval::quotient(Interval(1.0), rate, valid_), f_.turn[i]);
    const Arrival opens{opening, opening, zero};
    const Arrival low = on_edge(arrival(i, 1.0, -mu, 0.0, zero));
    const Arrival high = on_edge(arrival(i, 1.0, mu, 0.0, zero));
    const Arrival low_far = on_edge(arrival(i, 1.0, -mu, 0.0, longest(i, -mu)));
    const Arrival high_far = on_edge(arrival(i, 1.0, mu, 0.0, longest(i, mu)));
    if (!valid_) return false;
    if (!copositive(j, i, {low, high, low_far, opens})) return false;
    if (!copositive(j, i, {high, low_far, high_far, opens})) return false;
    const int along = certain_sign(product(k.tangent, f_.n));
    if (along == 0) return false;
    for (const double sign : {1.0, -1.0}) {
      const Triple slide = scaled(Interval(sign * along), f_.n);
      const Arrival slides{slide, slide, zero};
      const Interval r = Interval(-sign) * mu;
      const std::vector<Arrival> rays{on_edge(arrival(i, 1.0, r, 0.0, zero)),
                                      on_edge(arrival(i, 1.0, r, 0.0, longest(i, r))), opens};
      // sliding itself, and with a turn about i, changes no value by what settle() says
      for (std::size_t a = 0; a < 2; ++a) {
        if (!fall(j, i, slides, rays[a]).at_least_zero()) return false;
      }
      if (!copositive(j, i, rays)) return false;
    }
    return valid_;
  }

  const Frame& f_;
  bool valid_ = true;
  std::array<std::array<Interval, 4>, 2> part_;
  std::array<Interval, 2> gap_;
};

}  // namespace

bool labelled_functions_prove(const Stance& stance, const std::array<double, 24>& numbers) {
  if (stance.contacts.size() != 2) return false;
  const Frame f = frame_of(stance);
  if (!f.valid || !held(f.data)) return false;
  bool flights = false;
  for (const ContactData& k : f.data.contact) {
    if (!dissipates(k)) return false;
    flights = flights || k.restitution > 0.0;
  }
  return flights ? Elastic(f, numbers).holds() : Inelastic(f, numbers).holds();
}

}  // namespace carom::exact
