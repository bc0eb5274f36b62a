#include "stability/exact/proofs.hpp"

#include <cmath>

#include "stability/exact/forms.hpp"

namespace carom::exact {

namespace {

// n, c of the paper's class, along which nothing but their sign is free.
template <class Interval>
struct Directions {
  Triple<Interval> n, c;
  Interval zeta;
  bool level = false;  ///< the wrench may have no part along n
  bool valid = true;
};

template <class Interval>
Directions<Interval> directions_of(const StanceData<Interval>& data) {
  Directions<Interval> d;
  const ContactData<Interval>& a = data.contact[0];
  const ContactData<Interval>& b = data.contact[1];
  d.n = cross(a.normal, b.normal);
  if (product(d.n, data.g).negative()) d.n = {-d.n[0], -d.n[1], -d.n[2]};
  d.level = !product(d.n, data.g).positive();
  d.c = cross(cross(a.normal, a.tangent), cross(b.normal, b.tangent));
  Interval along = product(d.c, d.n);
  if (along.negative()) d.c = {-d.c[0], -d.c[1], -d.c[2]};
  const Interval size = d.c[0] * d.c[0] + d.c[1] * d.c[1];
  d.valid = size.positive() && (along.positive() || along.negative());
  if (!d.valid) return d;
  const Interval scale = Interval::quotient(Interval(1.0), root(size), d.valid);
  d.c = {scale * d.c[0], scale * d.c[1], scale * d.c[2]};
  d.zeta = Interval::quotient(product(d.n, data.g), product(d.n, d.c), d.valid);
  return d;
}

/// One contact of a function with p + Q g = (B + s c.g) c.
template <class Interval>
class ContactProof {
 public:
  ContactProof(const StanceData<Interval>& data, std::size_t i, const Triple<Interval>& c,
               const Interval& s, const Interval& b, bool flights)
      : k_(data.contact[i]), s_(s), b_(b), flights_(flights) {
    load_ = -product(k_.normal, data.g);
    cn_ = product(c, k_.normal);
    ct_ = product(c, k_.tangent);
    cg_ = product(c, data.g);
    const Interval det = k_.nn * k_.tt - k_.nt * k_.nt;
    along_normal_ = Interval::quotient(cn_ * k_.tt - ct_ * k_.nt, det, valid_);
    along_tangent_ = Interval::quotient(ct_ * k_.nn - cn_ * k_.nt, det, valid_);
    bounce_ = Interval::quotient(k_.e, Interval(1.0) + k_.e, valid_);
  }

  bool holds() {
    return valid_ && load_.positive() && slips(1.0) && slips(-1.0) && impacts() && valid_;
  }

 private:
  /// Slip along `sign`, and impacts that end in it: what grows with the slip.
  bool slips(double sign) {
    const Interval way(sign);
    const Interval stiffness = k_.nn - way * k_.mu * k_.nt;
    if (!stiffness.positive()) return false;
    const Interval lambda = Interval::quotient(load_, stiffness, valid_);
    const Interval kt = cn_ - way * k_.mu * ct_;
    const Interval ct = way * along_tangent_;
    if (!(k_.mu * lambda - ct * (b_ + s_ * (cg_ + lambda * kt))).positive()) return false;
    const Interval impact = k_.mu - ct * s_ * kt;
    if (!impact.positive()) return false;
    if (!flights_) return true;
    return (impact - ct * (b_ + s_ * cg_) * longest(way * -k_.mu)).positive();
  }

  /// The longest flight before an impact with LT = r LN, per LN.
  Interval longest(const Interval& r) {
    return Interval::quotient(Interval(2.0) * (k_.nn + r * k_.nt), (Interval(1.0) + k_.e) * load_,
                              valid_);
  }

  /// Fall of V over a flight of duration d and an impact with LT = r, LN = 1: a
  /// quadratic of (r, d) that must be positive on |r| <= mu, 0 <= d <=
  /// longest(r).
  bool impacts() {
    const Interval half(0.5), two(2.0);
    const Interval b0 = b_ + s_ * cg_;
    const Interval pulled = bounce_ * along_normal_;
    const Interval f0 = (half - bounce_) * k_.nn + s_ * (half * cn_ * cn_ - pulled * k_.nn * cn_);
    const Interval f1 =
        (Interval(1.0) - bounce_) * k_.nt + s_ * (cn_ * ct_ - pulled * (k_.nn * ct_ + k_.nt * cn_));
    const Interval f2 = half * k_.tt + s_ * (half * ct_ * ct_ - pulled * k_.nt * ct_);
    const Interval d0 = b0 * (cn_ - pulled * k_.nn), d1 = b0 * (ct_ - pulled * k_.nt);
    const Interval dd = half * b0 * cg_;
    // from (r, d) on along (dr, de), both ends included
    const auto edge = [&](const Interval& r, const Interval& d, const Interval& dr,
                          const Interval& de) {
      const Interval q0 = f0 + f1 * r + f2 * r * r + (d0 + d1 * r) * d + dd * d * d;
      const Interval q1 = (f1 + two * f2 * r + d1 * d) * dr + (d0 + d1 * r + two * dd * d) * de;
      const Interval q2 = f2 * dr * dr + d1 * dr * de + dd * de * de;
      return positive_on_unit(q0, q1, q2);
    };
    const Interval zero(0.0), low = -k_.mu, across = two * k_.mu;
    if (!edge(low, zero, across, zero)) return false;
    if (!flights_) return true;
    const Interval left = longest(low), right = longest(k_.mu);
    if (!edge(low, left, across, right - left)) return false;
    if (!edge(low, zero, zero, left) || !edge(k_.mu, zero, zero, right)) return false;
    // inside: no minimum, or a positive one, or one that lies elsewhere
    const Interval det = Interval(4.0) * f2 * dd - d1 * d1;
    if (det.at_most_zero() || f2.at_most_zero()) return true;
    if (!det.positive()) return false;
    const Interval r = Interval::quotient(d1 * d0 - two * dd * f1, det, valid_);
    const Interval d = Interval::quotient(d1 * f1 - two * f2 * d0, det, valid_);
    if (d.negative() || (r - k_.mu).positive() || (r + k_.mu).negative()) return true;
    if ((d - longest(r)).positive()) return true;
    return (f0 + half * (f1 * r + d0 * d)).positive();
  }

  const ContactData<Interval>& k_;
  const Interval& s_;
  const Interval& b_;
  bool flights_;
  bool valid_ = true;
  Interval load_, cn_, ct_, cg_, along_normal_, along_tangent_, bounce_;
};

template <class Interval>
bool slides_down(const StanceData<Interval>& data, const Directions<Interval>& d, const Interval& s,
                 const Interval& b) {
  for (const double way : {1.0, -1.0}) {
    std::string word;
    Interval slips[2];
    for (std::size_t i = 0; i < 2; ++i) {
      const Interval along = Interval(way) * product(data.contact[i].tangent, d.n);
      if (!along.positive() && !along.negative()) return false;
      word += along.positive() ? 'P' : 'N';
      slips[i] = along.positive() ? along : -along;
    }
    ModeData<Interval> mode;
    if (never_presses(data, word)) continue;
    if (!solve(data, word, mode)) return false;
    if (mode.normal[0].negative() || mode.normal[1].negative()) continue;
    const Interval loss = data.contact[0].mu * mode.normal[0] * slips[0] +
                          data.contact[1].mu * mode.normal[1] * slips[1];
    const Interval gain =
        Interval(way) * product(d.c, d.n) * (b + s * product(d.c, mode.acceleration));
    if (!(loss - gain).positive()) return false;
  }
  return true;
}

template <class Interval>
bool paper_function_holds(const Stance& stance, double s, double kappa) {
  const StanceData<Interval> data = data_of<Interval>(stance);
  const Directions<Interval> d = directions_of(data);
  if (!d.valid) return false;
  const bool flights = data.contact[0].restitution > 0.0 || data.contact[1].restitution > 0.0;
  for (const ContactData<Interval>& contact : data.contact) {
    if (!dissipates(contact)) return false;
  }
  const Interval quadratic(s), rise(kappa);
  if (!(Interval(1.0) + quadratic * product(d.c, d.c)).positive()) return false;
  // V + m V1 grows with both gaps: zeta c - g = a1 N1 + a2 N2 with a > 0.
  const Triple<Interval> f = sum({-data.g[0], -data.g[1], -data.g[2]}, d.zeta, d.c);
  const ContactData<Interval>& a = data.contact[0];
  const ContactData<Interval>& b = data.contact[1];
  const Interval ab = product(a.normal, b.normal);
  const Interval fa = product(f, a.normal), fb = product(f, b.normal);
  if (!(fa * b.nn - fb * ab).positive() || !(fb * a.nn - fa * ab).positive()) return false;
  if (!held(data)) return false;
  for (const double side : {1.0, -1.0}) {
    if (side < 0.0 && !d.level) continue;
    // On level ground two functions bound both ways; kappa must outweigh what
    // is not level.
    const Interval along = d.zeta + Interval(side) * rise;
    if (d.level && !(Interval(side) * along - d.zeta).positive()) return false;
    for (std::size_t i = 0; i < 2; ++i) {
      if (!ContactProof<Interval>(data, i, d.c, quadratic, along, flights).holds()) return false;
    }
    if (!slides_down(data, d, quadratic, along)) return false;
  }
  return true;
}

template <class Interval>
bool moves_by(const Stance& stance, const std::string& word) {
  const StanceData<Interval> data = data_of<Interval>(stance);
  if (!held(data)) return false;
  ModeData<Interval> mode;
  if (word.find('F') == std::string::npos) {  // both slip, along n or against it
    if (word.find('S') != std::string::npos) return false;
    const Triple<Interval> n = cross(data.contact[0].normal, data.contact[1].normal);
    const Interval turn = Interval(sign_of(word[0]) * sign_of(word[1])) *
                          product(data.contact[0].tangent, n) * product(data.contact[1].tangent, n);
    if (!turn.positive()) return false;
  }
  if (!solve(data, word, mode)) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    const ContactData<Interval>& c = data.contact[i];
    if (word[i] == 'F') {
      if (!product(c.normal, mode.acceleration).positive()) return false;
      continue;
    }
    if (!mode.normal[i].positive()) return false;
    if (word[i] == 'S') {
      const Interval& t = mode.tangential[i];
      if (!(c.mu * mode.normal[i] - t).positive() || !(c.mu * mode.normal[i] + t).positive()) {
        return false;
      }
    } else if (!(Interval(sign_of(word[i])) * product(c.tangent, mode.acceleration)).positive()) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool paper_function_proves(const Stance& stance, double s, double kappa) {
  if (stance.contacts.size() != 2 || !is_judged(stance)) return false;
  if (!(kappa > 0.0 && kappa <= kLargestJudged && std::fabs(s) <= kLargestJudged)) return false;
  return paper_function_holds<PlainInterval>(stance, s, kappa) ||
         paper_function_holds<FineInterval>(stance, s, kappa);
}

bool is_ambiguous_by(const Stance& stance, const std::string& word) {
  if (stance.contacts.size() != 2 || word.size() != 2 || word == "SS") return false;
  if (!is_judged(stance)) return false;
  if (word.find_first_not_of("FSPN") != std::string::npos) return false;
  return moves_by<PlainInterval>(stance, word) || moves_by<FineInterval>(stance, word);
}

bool is_held(const Stance& stance) {
  if (stance.contacts.size() != 2 || !is_judged(stance)) return false;
  return held(data_of<PlainInterval>(stance)) || held(data_of<FineInterval>(stance));
}

bool is_never_held(const Stance& stance) {
  if (stance.contacts.size() != 2 || !is_judged(stance)) return false;
  return never_held(data_of<PlainInterval>(stance)) || never_held(data_of<FineInterval>(stance));
}

}  // namespace carom::exact
