#pragma once

#include "stability/kernels/modes.hpp"

/// The paper's class of functions with one scalar: V = V1 + (zeta + kappa) c.q + s (c.v)^2 / 2,
/// V1 = |v|^2 / 2 - g.q (docs/explanation/stability.md, "The paper's class").
namespace carom::kernels::stability {

/// A slack of the class, linear in s: value at the s that was asked for, and its derivative.
struct Slack {
  double value, slope;
};
CAROM_INLINE Slack least_of(Slack a, Slack b) { return b.value < a.value ? b : a; }

/// A function of (r, delta), coefficients of 1, r, r^2, delta, r delta, delta^2 at s and per s.
struct ImpactForm {
  double at[6], per[6];

  CAROM_INLINE Slack operator()(double r, double d) const {
    const double m[6] = {1.0, r, r * r, d, r * d, d * d};
    Slack slack{0.0, 0.0};
    for (int i = 0; i < 6; ++i) {
      slack.value += at[i] * m[i];
      slack.slope += per[i] * m[i];
    }
    return slack;
  }
};

class PaperClass {
 public:
  /// The class has no member unless `usable`.
  CAROM_INLINE explicit PaperClass(const StanceForm& stance) : stance_(stance) {
    const Vec3 n = cyclic_direction(stance);
    const Vec3 r1 = rotation_about(stance.contact[0]);
    const Vec3 r2 = rotation_about(stance.contact[1]);
    c_ = cross(r1, r2);
    const double size = square_root(c_.y * c_.y + c_.z * c_.z);
    const double along = dot(c_, n);
    usable_ = size > 0.0 && magnitude(along) > 1e-9 * square_root(dot(c_, c_));
    if (!usable_) return;
    c_ = ((along < 0.0 ? -1.0 : 1.0) / size) * c_;
    zeta_ = dot(n, stance.g) / dot(n, c_);
    level_ = magnitude(zeta_) <= 1e-3 * small_kappa();
    cg_ = dot(c_, stance.g);
    c2_ = dot(c_, c_);
    flights_ = stance.contact[0].restitution > 0.0 || stance.contact[1].restitution > 0.0;
    for (int i = 0; i < 2; ++i) {
      const ContactForm& k = stance.contact[i];
      load_[i] = -dot(k.normal, stance.g);
      // G > 0 and k > 0: without them a contact leaves by itself or has no consistent mode
      usable_ =
          usable_ && load_[i] > 0.0 && k.slip_stiffness(1.0) > 0.0 && k.slip_stiffness(-1.0) > 0.0;
      const double cn = dot(c_, k.normal), ct = dot(c_, k.tangent);
      const double det = k.nn * k.tt - k.nt * k.nt;
      c_normal_[i] = (cn * k.tt - ct * k.nt) / det;
      c_tangent_[i] = (ct * k.nn - cn * k.nt) / det;
    }
    // Positive in the gaps: -g + zeta c = a1 N1 + a2 N2 with a > 0.
    const Vec3 f = zeta_ * c_ + -1.0 * stance.g;
    const ContactForm& a = stance.contact[0];
    const ContactForm& b = stance.contact[1];
    const double ab = dot(a.normal, b.normal);
    const double fa = dot(f, a.normal), fb = dot(f, b.normal);
    usable_ = usable_ && fa * b.nn - fb * ab > 0.0 && fb * a.nn - fa * ab > 0.0;
    for (int way = 0; way < 2; ++way) {
      const double sign = way == 0 ? 1.0 : -1.0;
      int letter[2];
      for (int i = 0; i < 2; ++i) {
        const double along_tangent = sign * dot(stance.contact[i].tangent, n);
        letter[i] = along_tangent > 0.0 ? kPositive : kNegative;
        usable_ = usable_ && along_tangent != 0.0;
        slip_[way][i] = magnitude(along_tangent);
      }
      sliding_[way] = solve_mode(stance, letter[0], letter[1]);
      usable_ = usable_ && (sliding_[way].solvable || never_presses(stance, letter[0], letter[1]));
      along_[way] = sign * dot(c_, n);
    }
  }

  [[nodiscard]] CAROM_INLINE bool usable() const { return usable_; }
  [[nodiscard]] CAROM_INLINE double least_s() const { return -1.0 / c2_; }
  [[nodiscard]] CAROM_INLINE double scale() const { return 1.0 / c2_; }
  /// A kappa that is negligible compared with zeta and g.
  [[nodiscard]] CAROM_INLINE double small_kappa() const {
    return 0x1p-30 * square_root(dot(stance_.g, stance_.g));
  }

  /// The least slack of all conditions at (s, kappa). The function proves stability where it is
  /// > 0. Where the wrench has no part along n, a second function, with -kappa, bounds the other
  /// way.
  [[nodiscard]] CAROM_INLINE Slack least_slack(double s, double kappa) const {
    const Slack downhill = slack_of(s, zeta_ + kappa);
    return level_ ? least_of(downhill, slack_of(s, zeta_ - kappa)) : downhill;
  }

 private:
  [[nodiscard]] CAROM_CALL Slack slack_of(double s, double b) const {
    Slack least{1.0 + s * c2_, c2_};
    for (int i = 0; i < 2; ++i) {
      for (int way = 0; way < 2; ++way) {
        least = least_of(least, of_slip(i, way == 0 ? 1.0 : -1.0, s, b));
      }
      least = least_of(least, of_impact(i, s, b));
    }
    for (int way = 0; way < 2; ++way) least = least_of(least, of_sliding(way, s, b));
    return least;
  }

  /// Slip, and the part of a slipping impact that grows with the slip after it.
  [[nodiscard]] CAROM_INLINE Slack of_slip(int i, double sign, double s, double b) const {
    const ContactForm& k = stance_.contact[i];
    const double mu = k.friction, ct = sign * c_tangent_[i];
    const double stiffness = k.slip_stiffness(sign);
    const double lambda = load_[i] / stiffness;
    const double kt = dot(c_, k.slip_force(sign));
    const double ca = cg_ + lambda * kt;
    Slack least{mu * lambda - ct * (b + s * ca), -ct * ca};
    least = least_of(least, {mu - ct * s * kt, -ct * kt});
    if (!flights_) return least;
    const double tau = 2.0 * stiffness / ((1.0 + k.restitution) * load_[i]);
    return least_of(least, {mu - ct * (s * kt + (b + s * cg_) * tau), -ct * (kt + cg_ * tau)});
  }

  /// Both slip along n or -n, where the forces press.
  [[nodiscard]] CAROM_INLINE Slack of_sliding(int way, double s, double b) const {
    const ModeSolution& mode = sliding_[way];
    const bool presses = mode.solvable && mode.normal[0] >= 0.0 && mode.normal[1] >= 0.0;
    if (!presses) return {kInfinity, 0.0};
    const double ca = dot(c_, mode.acceleration);
    const double loss = stance_.contact[0].friction * mode.normal[0] * slip_[way][0] +
                        stance_.contact[1].friction * mode.normal[1] * slip_[way][1];
    return {loss - along_[way] * (b + s * ca), -along_[way] * ca};
  }

  /// Flight and impact with LT = r LN, duration delta LN: the least over all r and delta.
  [[nodiscard]] CAROM_INLINE Slack of_impact(int i, double s, double b) const {
    const ContactForm& k = stance_.contact[i];
    const double share = k.restitution / (1.0 + k.restitution);
    const double cn = dot(c_, k.normal), ct = dot(c_, k.tangent), c0 = c_normal_[i];
    const double b0 = b + s * cg_;
    ImpactForm f{};
    f.per[0] = 0.5 * cn * cn - share * c0 * k.nn * cn;
    f.per[1] = cn * ct - share * c0 * (k.nn * ct + k.nt * cn);
    f.per[2] = 0.5 * ct * ct - share * c0 * k.nt * ct;
    f.at[0] = (0.5 - share) * k.nn + s * f.per[0];
    f.at[1] = (1.0 - share) * k.nt + s * f.per[1];
    f.at[2] = 0.5 * k.tt + s * f.per[2];
    const double d0 = cn - c0 * share * k.nn, d1 = ct - c0 * share * k.nt;
    f.at[3] = b0 * d0, f.per[3] = cg_ * d0;
    f.at[4] = b0 * d1, f.per[4] = cg_ * d1;
    f.at[5] = 0.5 * b0 * cg_, f.per[5] = 0.5 * cg_ * cg_;
    const double mu = k.friction;
    const double t0 = flights_ ? 2.0 * k.nn / ((1.0 + k.restitution) * load_[i]) : 0.0;
    const double t1 = flights_ ? 2.0 * k.nt / ((1.0 + k.restitution) * load_[i]) : 0.0;
    // corners of |r| <= mu, 0 <= delta <= t0 + t1 r; then the edges; then the inside
    Slack least = least_of(f(-mu, 0.0), f(mu, 0.0));
    least = least_of(least, on_edge(f, -mu, 0.0, 2.0 * mu, 0.0));
    if (!flights_) return least;
    const double low = t0 - t1 * mu, high = t0 + t1 * mu;
    least = least_of(least, least_of(f(-mu, low), f(mu, high)));
    least = least_of(least, on_edge(f, -mu, low, 2.0 * mu, high - low));
    least = least_of(least, on_edge(f, -mu, 0.0, 0.0, low));
    least = least_of(least, on_edge(f, mu, 0.0, 0.0, high));
    const double det = 4.0 * f.at[2] * f.at[5] - f.at[4] * f.at[4];
    if (det > 0.0) {
      const double r = (f.at[4] * f.at[3] - 2.0 * f.at[5] * f.at[1]) / det;
      const double d = (f.at[4] * f.at[1] - 2.0 * f.at[2] * f.at[3]) / det;
      if (r > -mu && r < mu && d > 0.0 && d < t0 + t1 * r) least = least_of(least, f(r, d));
    }
    return least;
  }

  /// Where f turns upward between the ends of an edge; an end elsewhere.
  CAROM_INLINE static Slack on_edge(const ImpactForm& f, double r, double d, double dr, double dd) {
    const double curve = f.at[2] * dr * dr + f.at[4] * dr * dd + f.at[5] * dd * dd;
    const double slope = f.at[1] * dr + 2.0 * f.at[2] * r * dr + f.at[3] * dd +
                         f.at[4] * (r * dd + d * dr) + 2.0 * f.at[5] * d * dd;
    const double x = -slope / (2.0 * curve);
    const bool inside = curve > 0.0 && x > 0.0 && x < 1.0;
    return f(r + (inside ? x * dr : 0.0), d + (inside ? x * dd : 0.0));
  }

  const StanceForm& stance_;
  Vec3 c_{};
  double zeta_ = 0.0, cg_ = 0.0, c2_ = 0.0;
  double load_[2] = {}, c_normal_[2] = {}, c_tangent_[2] = {};
  double slip_[2][2] = {}, along_[2] = {};
  ModeSolution sliding_[2] = {};
  bool flights_ = false;
  bool level_ = false;
  bool usable_ = false;
};

struct PaperCertificate {
  bool found;
  double s, kappa, margin;
};

inline constexpr int kPaperSteps = 64;
inline constexpr double kLargestStride = 1e3;  ///< of s |c|^2 beyond which a slack may just rise
inline constexpr double kFarthest = 1e6;       ///< beyond which what is left of slacks is rounding

/// The s of the largest least slack, a concave function of s: where the steepest known cuts from
/// both sides meet, until no s can have a slack > 0, or the best is known to a hundredth.
CAROM_CALL inline PaperCertificate find_paper_certificate(const PaperClass& paper) {
  PaperCertificate best{false, 0.0, 0.0, -kInfinity};
  if (!paper.usable()) return best;
  const double kappa = paper.small_kappa();
  bool rises = false, falls = false;
  double up_s = 0.0, down_s = 0.0;
  Slack up{}, down{};
  double s = 0.0, stride = paper.scale();
  for (int step = 0; step < kPaperSteps; ++step) {
    const Slack slack = paper.least_slack(s, kappa);
    if (!(slack.value < kInfinity)) break;
    if (slack.value > best.margin) best.margin = slack.value, best.s = s;
    if (slack.slope == 0.0) break;
    if (slack.slope > 0.0) {
      rises = true, up = slack, up_s = s;
    } else {
      falls = true, down = slack, down_s = s;
    }
    if (rises && falls) {
      const double across =
          (down.value - up.value + up.slope * up_s - down.slope * down_s) / (up.slope - down.slope);
      const double bound = up.value + up.slope * (across - up_s);
      if (!(bound > 0.0) || bound - best.margin <= 0.01 * bound) break;
      if (!(across > up_s && across < down_s)) break;
      s = across;
    } else {
      if (best.margin > 0.0 && stride > kLargestStride * paper.scale()) break;  // no end to it
      if (stride > kFarthest * paper.scale()) break;
      s += rises ? stride : -stride;
      stride *= 4.0;
      if (s <= paper.least_s()) s = 0.5 * (paper.least_s() + (falls ? down_s : 0.0));
    }
  }
  best.kappa = kappa;
  best.found = best.margin > 1e-13;
  return best;
}

/// Whether no impact of the contact creates kinetic energy: (1 - e) W_NN + 2 r W_NT + (1 + e) r^2
/// W_TT >= 0 for all |r| <= mu with W_NN + r W_NT >= 0.
CAROM_INLINE bool dissipates(const ContactForm& c) {
  const double e = c.restitution;
  const auto loss = [&](double r) {
    return (1.0 - e) * c.nn + 2.0 * r * c.nt + (1.0 + e) * r * r * c.tt;
  };
  const double least = -c.nt / ((1.0 + e) * c.tt);  // where the loss is least
  const double r = smaller(larger(least, -c.friction), c.friction);
  if (c.nn + r * c.nt >= 0.0) return loss(r) >= 0.0;
  return loss(-c.nn / c.nt) >= 0.0;  // the convex loss is least at the end of what is possible
}

}  // namespace carom::kernels::stability
