#include <array>
#include <utility>
#include <vector>

#include "stability/exact/label_frame.hpp"

namespace carom::exact {

namespace {

template <class Interval>
class Elastic {
 public:
  Elastic(const Frame<Interval>& f, const std::array<double, 24>& numbers) : f_(f) {
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t k = 0; k < 4; ++k) part_[i][k] = Interval(numbers[4 * i + k]);
    }
  }

  bool holds() {
    const ContactData<Interval>& a = f_.data.contact[0];
    const ContactData<Interval>& b = f_.data.contact[1];
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
    Triple<Interval> before, after;
    Interval time;
  };

  [[nodiscard]] Interval form(std::size_t i, const Triple<Interval>& u,
                              const Triple<Interval>& w) const {
    const ContactData<Interval>& k = f_.data.contact[i];
    const Interval un = product(k.normal, u), wn = product(k.normal, w);
    const Interval ut = product(k.tangent, u), wt = product(k.tangent, w);
    return part_[i][0] * product(f_.turn[i], u) * product(f_.turn[i], w) + part_[i][1] * un * wn +
           part_[i][2] * (un * wt + ut * wn) + part_[i][3] * ut * wt;
  }
  void settle(std::size_t i, std::size_t k, const Triple<Interval>& u, const Triple<Interval>& w,
              const Interval& factor) {
    part_[i][k] = Interval(0.0);
    part_[i][k] = Interval::quotient(form(1 - i, u, w) - form(i, u, w), factor, valid_);
  }

  bool continuous(std::size_t i) {
    const std::size_t j = 1 - i;
    const Interval below = product(minus(f_.c, scaled(f_.m, f_.data.g)), f_.gap_dual[j]);
    if (!(gap_[i] + below).positive()) return false;
    Matrix<Interval> m(3);
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t l = 0; l < 3; ++l) {
        Triple<Interval> u{Interval(0.0), Interval(0.0), Interval(0.0)}, w = u;
        u[k] = w[l] = Interval(1.0);
        m(k, l) = form(i, u, w);
        if (k == l) m(k, l) = m(k, l) + f_.m;
      }
    }
    if (!positive_definite(m)) return false;
    const Triple<Interval>& dual = f_.tangent_dual[i];
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
    const ContactData<Interval>& k = f_.data.contact[i];
    const Interval pushed = k.nn * Interval(normal) + k.nt * tangential;
    const Interval bounce = Interval::quotient(k.e, Interval(1.0) + k.e, valid_);
    const Triple<Interval> after = plus(scaled(bounce * pushed, f_.normal_dual[i]),
                                        scaled(Interval(slip), f_.tangent_dual[i]));
    return {minus(minus(after, scaled(Interval(normal), k.normal)), scaled(tangential, k.tangent)),
            after, time};
  }
  Interval longest(std::size_t i, const Interval& r) {
    const ContactData<Interval>& k = f_.data.contact[i];
    return Interval::quotient(Interval(2.0) * (k.nn + r * k.nt), (Interval(1.0) + k.e) * f_.load[i],
                              valid_);
  }

  [[nodiscard]] Interval fall(std::size_t from, std::size_t i, const Arrival& a,
                              const Arrival& b) const {
    const Triple<Interval> start_a = minus(a.before, scaled(a.time, f_.data.g));
    const Triple<Interval> start_b = minus(b.before, scaled(b.time, f_.data.g));
    const Triple<Interval> moved = minus(plus(scaled(b.time, a.before), scaled(a.time, b.before)),
                                         scaled(a.time * b.time, f_.data.g));
    const Interval value =
        form(from, start_a, start_b) - form(i, a.after, b.after) - product(f_.c, moved);
    const Interval other = product(f_.data.contact[1 - i].normal, moved) * gap_[i];
    if (from == i) return value - other;
    return value - other - product(f_.data.contact[i].normal, moved) * gap_[1 - i];
  }

  bool copositive(std::size_t from, std::size_t i, const std::vector<Arrival>& rays) const {
    Matrix<Interval> m(rays.size());
    for (std::size_t a = 0; a < rays.size(); ++a) {
      for (std::size_t b = a; b < rays.size(); ++b) {
        m(a, b) = m(b, a) = fall(from, i, rays[a], rays[b]);
      }
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
    const ContactData<Interval>& k = f_.data.contact[i];
    const ContactData<Interval>& other = f_.data.contact[j];
    const Interval rate = product(other.normal, f_.turn[i]), zero(0.0), mu = k.mu;
    const auto on_edge = [&](const Arrival& ray) {
      const Interval opening =
          product(other.normal, ray.before) + Interval(0.5) * f_.load[j] * ray.time;
      const Triple<Interval> turn = scaled(Interval::quotient(-opening, rate, valid_), f_.turn[i]);
      return Arrival{plus(ray.before, turn), plus(ray.after, turn), ray.time};
    };
    const Triple<Interval> opening =
        scaled(Interval::quotient(Interval(1.0), rate, valid_), f_.turn[i]);
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
      const Triple<Interval> slide = scaled(Interval(sign * along), f_.n);
      const Arrival slides{slide, slide, zero};
      const Interval r = Interval(-sign) * mu;
      const std::vector<Arrival> rays{on_edge(arrival(i, 1.0, r, 0.0, zero)),
                                      on_edge(arrival(i, 1.0, r, 0.0, longest(i, r))), opens};
      // sliding itself, and with a turn about i, changes no value by what
      // settle() says
      for (std::size_t a = 0; a < 2; ++a) {
        if (!fall(j, i, slides, rays[a]).at_least_zero()) return false;
      }
      if (!copositive(j, i, rays)) return false;
    }
    return valid_;
  }

  const Frame<Interval>& f_;
  bool valid_ = true;
  std::array<std::array<Interval, 4>, 2> part_;
  std::array<Interval, 2> gap_;
};

}  // namespace

template <class Interval>
bool elastic_labels_hold(const Frame<Interval>& f, const std::array<double, 24>& numbers) {
  return Elastic<Interval>(f, numbers).holds();
}

template bool elastic_labels_hold(const Frame<PlainInterval>&, const std::array<double, 24>&);
template bool elastic_labels_hold(const Frame<FineInterval>&, const std::array<double, 24>&);

}  // namespace carom::exact
