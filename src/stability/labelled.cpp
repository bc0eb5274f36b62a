#include "stability/labelled.hpp"

#include <Eigen/Dense>

#include <cmath>
#include <optional>

#include "stability/body/events_body.hpp"
#include "stability/label_program.hpp"

namespace carom::stability {

namespace {

namespace body = kernels::stability;
using Eigen::Matrix2d;
using Eigen::Matrix3d;
using Eigen::Vector2d;
using Eigen::Vector3d;

constexpr double kMostSize = 1e4;     ///< of unknowns beside the energy's
constexpr double kDegenerate = 1e-9;  ///< of rates that are divided by

Vector3d vector(const body::Vec3& v) { return {v.y, v.z, v.t}; }

/// A contact and what belongs to it.
struct Side {
  Vector3d normal, tangent, turn;      ///< turn: N x T, the rotation about it
  Vector3d normal_dual, tangent_dual;  ///< within span(N, T)
  double nn, nt, tt, mu, e, load, turn2;
  Vector3d slip_acceleration[2];  ///< A of slip + and -
  bool sticks;                    ///< S is a mode at rest of slip
};

/// Numbers that both kinds of functions start from; c.n = 1, k = 1.
struct Setting {
  Side side[2];
  Vector3d g, n, c;
  Vector3d gap_dual[2];  ///< N_j.gap_dual_j = 1, the other's 0, no part along n
  double m = 0.0;        ///< of V1 that makes V positive: 1 / (g.n)
  bool usable = false;
  body::EventTables tables;
};

Setting setting_of(const body::StanceForm& stance) {
  Setting s;
  s.tables = body::event_tables(stance);
  s.g = vector(stance.g);
  s.n = vector(body::cyclic_direction(stance));
  const double downhill = s.g.dot(s.n);
  if (!(downhill > kDegenerate * s.g.norm())) return s;
  s.m = 1.0 / downhill;
  for (int i = 0; i < 2; ++i) {
    const body::ContactForm& from = stance.contact[i];
    Side& to = s.side[i];
    to.normal = vector(from.normal), to.tangent = vector(from.tangent);
    to.turn = to.normal.cross(to.tangent);
    to.turn2 = to.turn.squaredNorm();
    to.nn = from.nn, to.nt = from.nt, to.tt = from.tt;
    to.mu = from.friction, to.e = from.restitution;
    const double det = to.nn * to.tt - to.nt * to.nt;
    to.normal_dual = (to.tt * to.normal - to.nt * to.tangent) / det;
    to.tangent_dual = (to.nn * to.tangent - to.nt * to.normal) / det;
    to.load = -to.normal.dot(s.g);
    if (!(to.load > 0.0)) return s;
    for (int way = 0; way < 2; ++way) {
      const double sign = way == 0 ? 1.0 : -1.0;
      const double k = from.slip_stiffness(sign);
      if (!(k > 0.0)) return s;
      to.slip_acceleration[way] = s.g + to.load / k * (to.normal - sign * to.mu * to.tangent);
    }
    const unsigned choices = s.tables.choices[3 * i + 2];
    if (choices == 0U || (choices & (choices - 1U)) != 0U) return s;
    to.sticks = choices == 1U << body::kStick;
    if (!(std::fabs(to.tangent.dot(s.n)) > kDegenerate)) return s;
  }
  for (int way = 0; way < 2; ++way) {
    const unsigned choices = s.tables.choices[6 + way];
    if (choices == 0U || (choices & (choices - 1U)) != 0U) return s;
  }
  s.c = s.side[0].turn.cross(s.side[1].turn);
  const double along = s.c.dot(s.n);
  if (!(std::fabs(along) > kDegenerate * s.c.norm())) return s;
  s.c /= along;
  Matrix3d rows;
  rows << s.side[0].normal.transpose(), s.side[1].normal.transpose(), s.n.transpose();
  const Matrix3d dual = rows.inverse();
  s.gap_dual[0] = dual.col(0), s.gap_dual[1] = dual.col(1);
  s.usable = true;
  return s;
}

/// Both slip along way * n without leaving: k + Q12 A.n along the way is not positive. q12: an
/// unknown; of_contact: the functions' forms at n.
void add_sliding(LabelProgram& program, const Setting& s, int way, const Affine& q12,
                 const Affine& at_n) {
  const double sign = way == 0 ? 1.0 : -1.0;
  const double pull = s.tables.acceleration[body::kBothForward + way][2];
  program.at_least_slack(-sign * (Affine(1.0) + pull * q12));
  program.at_least_slack((1.0 / s.m) * q12 + Affine(1.0));
  program.at_least_slack((1.0 / s.m) * (at_n - q12));
}
bool slides(const Setting& s, int way) { return s.tables.choices[6 + way] == body::kBothSlip; }

// ---------------------------------------------------------------------------------- e = 0

/// V = k c.q + a gap_j + (A x^2 + 2 B x sd + C sd^2) / 2 of a label, x = r.v, sd = T.v.
struct Form {
  Affine a, xx, xs, ss;

  [[nodiscard]] Affine at(const Vector2d& u, const Vector2d& w) const {
    return (u(0) * w(0)) * xx + (u(0) * w(1) + u(1) * w(0)) * xs + (u(1) * w(1)) * ss;
  }
};

class InelasticProgram {
 public:
  explicit InelasticProgram(const Setting& s) : s_(s), program_(kUnknowns) {}

  LabelledCertificate solve() {
    LabelledCertificate certificate;
    for (int i = 0; i < 2; ++i) {
      if (!forms(i)) return certificate;
    }
    if (!meet_at_n()) return certificate;
    for (int i = 0; i < 2; ++i) conditions(i);
    for (int way = 0; way < 2; ++way) {
      if (slides(s_, way)) add_sliding(program_, s_, way, both(way), at_n(0, way));
    }
    for (int i = 0; i < 2; ++i) {
      for (int label = 0; label < (s_.side[i].sticks ? 3 : 2); ++label) {
        if (!impacts(i, label)) return certificate;
      }
    }
    const LabelProgram::Answer answer = program_.solve(kMostSize * s_.m * size());
    if (!answer.found) return certificate;
    certificate.found = true;
    certificate.margin = answer.slack;
    std::size_t at = 0;
    for (const auto& of_contact : form_) {
      for (const Form& form : of_contact) {
        for (const Affine* part : {&form.a, &form.xx, &form.xs, &form.ss}) {
          if (at < certificate.numbers.size()) certificate.numbers[at++] = part->at(answer.x);
        }
      }
    }
    return certificate;
  }

 private:
  // a, A, C of labels (i, +), (i, -) but C of contact 2; a of (i, S); Q12 of both ways
  static constexpr std::size_t kUnknowns = 14;

  [[nodiscard]] double size() const {
    return std::max({1.0, s_.g.norm(), s_.side[0].turn2, s_.side[1].turn2});
  }
  static Affine both(int way) { return Affine::unknown(12 + static_cast<std::size_t>(way)); }

  /// x and sd of a velocity that leaves contact i closed.
  [[nodiscard]] Vector2d parts(int i, const Vector3d& v) const {
    return {s_.side[i].turn.dot(v), s_.side[i].tangent.dot(v)};
  }

  bool forms(int i) {
    const Side& side = s_.side[i];
    const double rate = s_.side[1 - i].normal.dot(side.turn) / side.turn2;  // of gap j per x
    const double turning = side.turn.dot(s_.g);
    for (int way = 0; way < 2; ++way) {
      const auto at = static_cast<std::size_t>(5 * i + (i == 0 ? 3 : 2) * way);
      Form& form = form_[i][way];
      form.a = Affine::unknown(at);
      form.xx = Affine::unknown(at + 1);
      if (i == 0) form.ss = Affine::unknown(at + 2);
      if (i == 1) form.a = Affine::unknown(6 + static_cast<std::size_t>(2 * way));
      if (i == 1) form.xx = Affine::unknown(7 + static_cast<std::size_t>(2 * way));
      const double change = side.tangent.dot(side.slip_acceleration[way]);
      if (!(std::fabs(change) > kDegenerate * s_.g.norm())) return false;
      form.xs = (-1.0 / change) * (rate * form.a + turning * form.xx);
    }
    if (!side.sticks) return true;
    if (!(std::fabs(turning) > kDegenerate * s_.g.norm())) return false;
    Form& form = form_[i][2];
    form.a = Affine::unknown(10 + static_cast<std::size_t>(i));
    form.xx = (-rate / turning) * form.a;
    return true;
  }

  /// The label of contact i that slides along way * n.
  [[nodiscard]] int label_at_n(int i, int way) const {
    const double along = s_.side[i].tangent.dot(s_.n) * (way == 0 ? 1.0 : -1.0);
    return along > 0.0 ? 0 : 1;
  }
  [[nodiscard]] Affine at_n(int i, int way) const {
    const Vector2d u = parts(i, s_.n);
    return form_[i][label_at_n(i, way)].at(u, u);
  }
  /// Both contacts may be the last one touched where both slide: C of contact 2 from the equality.
  bool meet_at_n() {
    const Vector2d u = parts(1, s_.n);
    for (int way = 0; way < 2; ++way) {
      Form& form = form_[1][label_at_n(1, way)];
      form.ss = Affine(0.0);
      form.ss = (1.0 / (u(1) * u(1))) * (at_n(0, way) - form.at(u, u));
    }
    return std::fabs(u(1)) > kDegenerate;
  }

  void conditions(int i) {
    const Side& side = s_.side[i];
    const int j = 1 - i;
    const Vector3d& dual = side.tangent_dual;
    const double tau = s_.side[j].normal.dot(dual);
    const double turning = side.turn.dot(s_.g);
    const double from_below = (s_.c - s_.m * s_.g).dot(s_.gap_dual[j]);
    for (int label = 0; label < (side.sticks ? 3 : 2); ++label) {
      const Form& form = form_[i][label];
      program_.at_least_slack((1.0 / s_.m) * (form.a + Affine(from_below)));
      if (label == 2) {
        program_.at_least_slack((side.turn2 / s_.m) * form.xx + Affine(1.0));
        continue;
      }
      AffineMatrix positive(2);
      const double x = std::sqrt(side.turn2), sd = 1.0 / dual.norm();
      positive(0, 0) = (x * x / s_.m) * form.xx + Affine(1.0);
      positive(0, 1) = positive(1, 0) = (x * sd / s_.m) * form.xs;
      positive(1, 1) = (sd * sd / s_.m) * form.ss + Affine(1.0);
      program_.semidefinite(positive);
      const double sign = label == 0 ? 1.0 : -1.0;
      const double change = side.tangent.dot(side.slip_acceleration[label]);
      program_.at_least_slack(
          -sign * (Affine(s_.c.dot(dual)) + tau * form.a + turning * form.xs + change * form.ss));
      // slip that comes to zero goes on in S, or turns
      const bool ends = sign * change < 0.0;
      if (!ends) continue;
      const Form& next = form_[i][side.sticks ? 2 : 1 - label];
      program_.at_least_slack((1.0 / s_.m) * (form.a - next.a));
      program_.at_least_slack((side.turn2 / s_.m) * (form.xx - next.xx));
    }
  }

  struct Blow {
    Vector3d after;
    double spare[2];  ///< mu LN - LT, mu LN + LT of the sticking impulse
  };
  /// Impact of contact j that ends in slip `sign`, or sticks (0).
  [[nodiscard]] Blow blow(int j, int sign, const Vector3d& v) const {
    const Side& side = s_.side[j];
    const double gap = side.normal.dot(v), slip = side.tangent.dot(v);
    const double det = side.nn * side.tt - side.nt * side.nt;
    const double stick_n = (-side.tt * gap + side.nt * slip) / det;
    const double stick_t = (side.nt * gap - side.nn * slip) / det;
    Blow result{v + stick_n * side.normal + stick_t * side.tangent,
                {side.mu * stick_n - stick_t, side.mu * stick_n + stick_t}};
    if (sign != 0) {
      const double pressed = -gap / (side.nn - sign * side.mu * side.nt);
      result.after = v + pressed * (side.normal - sign * side.mu * side.tangent);
    }
    return result;
  }

  /// Impacts of contact j from label (i, label): velocities between sliding along n and turning
  /// about i, which stick within a part of that cone, and slip beside it.
  bool impacts(int i, int label) {
    const int j = 1 - i;
    const Side& side = s_.side[i];
    const Vector3d turn =
        (s_.side[j].normal.dot(side.turn) < 0.0 ? 1.0 : -1.0) / std::sqrt(side.turn2) * side.turn;
    if (label == 2) {  // no slip before: one velocity
      compare(i, label, j, blow_kind(j, turn), {turn});
      return true;
    }
    const double along = side.tangent.dot(s_.n) * (label == 0 ? 1.0 : -1.0);
    const Vector3d slide = (along > 0.0 ? 1.0 : -1.0) * s_.n;
    // where the sticking impulse leaves the friction cone, as shares of `turn`
    std::array<double, 2> cut{};
    int cuts = 0;
    const Blow at_slide = blow(j, 0, slide), at_turn = blow(j, 0, turn);
    for (int k = 0; k < 2; ++k) {
      const double a = at_slide.spare[k], b = at_turn.spare[k];
      if (a * b < 0.0) cut[static_cast<std::size_t>(cuts++)] = a / (a - b);
    }
    if (cuts == 2 && cut[1] < cut[0]) std::swap(cut[0], cut[1]);
    double from = 0.0;
    for (int part = 0; part <= cuts; ++part) {
      const double to = part < cuts ? cut[static_cast<std::size_t>(part)] : 1.0;
      const double middle = 0.5 * (from + to);
      const int kind = blow_kind(j, (1.0 - middle) * slide + middle * turn);
      const Vector3d first = (1.0 - from) * slide + from * turn;
      const Vector3d second = (1.0 - to) * slide + to * turn;
      compare(i, label, j, kind, {first, second});
      from = to;
    }
    return true;
  }
  [[nodiscard]] int blow_kind(int j, const Vector3d& v) const {
    const Side& side = s_.side[j];
    const body::Impulses p =
        body::impact_of(side.nn, side.nt, side.tt, side.mu, 0.0, std::min(side.normal.dot(v), 0.0),
                        side.tangent.dot(v));
    return p.letter == body::kStick ? 0 : (p.letter == body::kPositive ? 1 : -1);
  }

  /// V of (i, label) before an impact is at least V of contact j's label after it, on a cone.
  void compare(int i, int label, int j, int kind, const std::vector<Vector3d>& rays) {
    int next = kind > 0 ? 0 : 1;
    if (kind == 0) next = 2;
    if (kind == 0 && !s_.side[j].sticks) {
      const double change = s_.side[j].tangent.dot(s_.side[j].slip_acceleration[0]);
      next = change > 0.0 ? 0 : 1;
    }
    const Form& before = form_[i][label];
    const Form& after = form_[j][next];
    const int count = static_cast<int>(rays.size());
    std::vector<Vector2d> pre, post;
    for (const Vector3d& ray : rays) {
      const Vector3d v = ray.normalized();
      pre.push_back(parts(i, v));
      post.push_back(parts(j, blow(j, kind, v).after));
      if (kind == 0) post.back()(1) = 0.0;
    }
    AffineMatrix fall(count);
    for (int k = 0; k < count; ++k) {
      for (int l = 0; l < count; ++l) {
        const auto a = static_cast<std::size_t>(k), b = static_cast<std::size_t>(l);
        fall(k, l) = (1.0 / s_.m) * (before.at(pre[a], pre[b]) - after.at(post[a], post[b]));
      }
    }
    const bool begins_at_n = count == 2 && std::fabs(s_.side[j].normal.dot(rays[0])) <
                                               1e-12 * s_.side[j].normal.norm() * rays[0].norm();
    if (begins_at_n) {  // along n nothing happens, and both functions are equal
      program_.at_least_slack(fall(0, 1));
      program_.at_least_slack(fall(1, 1));
    } else if (count == 1) {
      program_.at_least_slack(fall(0, 0));
    } else {
      program_.copositive(fall);
    }
  }

  const Setting& s_;
  LabelProgram program_;
  Form form_[2][3];
};

// ---------------------------------------------------------------------------------- e > 0

/// V = k c.q + a gap_j + v'Q v / 2, Q = q r r' + [N T] S [N T]'.
class ElasticProgram {
 public:
  explicit ElasticProgram(const Setting& s) : s_(s), program_(kUnknowns) {}

  LabelledCertificate solve() {
    LabelledCertificate certificate;
    for (int i = 0; i < 2; ++i) {
      const Side& side = s_.side[i];
      const double rate = s_.side[1 - i].normal.dot(side.turn);
      if (!(std::fabs(rate) > kDegenerate)) return certificate;
      for (int k = 0; k < 4; ++k)
        part_[i][k] = Affine::unknown(static_cast<std::size_t>(4 * i + k));
      gap_[i] = (-side.turn2 * side.turn.dot(s_.g) / rate) * part_[i][0];
    }
    if (!meet()) return certificate;
    for (int i = 0; i < 2; ++i) {
      conditions(i);
      bounces(i);
      flights(i);
    }
    for (int way = 0; way < 2; ++way) {
      if (!slides(s_, way)) continue;
      add_sliding(program_, s_, way, Affine::unknown(8 + static_cast<std::size_t>(way)),
                  form(0, s_.n, s_.n));
    }
    const double size = std::max({1.0, s_.g.norm(), s_.side[0].turn2, s_.side[1].turn2});
    const LabelProgram::Answer answer = program_.solve(kMostSize * s_.m * size);
    if (!answer.found) return certificate;
    certificate.found = true;
    certificate.margin = answer.slack;
    std::size_t at = 0;
    for (const auto& of_contact : part_) {
      for (const Affine& number : of_contact) certificate.numbers[at++] = number.at(answer.x);
    }
    for (std::size_t way = 0; way < 2; ++way) certificate.numbers[at++] = answer.x[8 + way];
    return certificate;
  }

 private:
  // q, S_nn, S_nt, S_tt of both contacts, three of them given by the others; Q12 of both ways
  static constexpr std::size_t kUnknowns = 10;

  /// Where a contact that is closed is touched without any impulse, both ways along n: the labels'
  /// forms are equal at (n, n), (n, r_1), (n, r_2). S_nt and S_tt of contact 2 and S_nt of contact
  /// 1 follow.
  bool meet() {
    const Side& a = s_.side[0];
    const Side& b = s_.side[1];
    const auto settle = [&](int i, int k, const Vector3d& u, const Vector3d& w, double factor) {
      part_[i][k] = Affine(0.0);
      part_[i][k] = (1.0 / factor) * (form(1 - i, u, w) - form(i, u, w));
      return std::fabs(factor) > kDegenerate;
    };
    const double first = a.tangent.dot(s_.n), second = b.tangent.dot(s_.n);
    // S_nt of contact 1 by itself: the other side of (n, r_2) has q of contact 2 alone
    if (!settle(0, 2, s_.n, b.turn, first * a.normal.dot(b.turn))) return false;
    if (!settle(1, 3, s_.n, s_.n, second * second)) return false;
    return settle(1, 2, s_.n, a.turn, second * b.normal.dot(a.turn));
  }

  [[nodiscard]] Affine form(int i, const Vector3d& u, const Vector3d& w) const {
    const Side& side = s_.side[i];
    const double ur = side.turn.dot(u), wr = side.turn.dot(w);
    const double un = side.normal.dot(u), wn = side.normal.dot(w);
    const double ut = side.tangent.dot(u), wt = side.tangent.dot(w);
    return (ur * wr) * part_[i][0] + (un * wn) * part_[i][1] + (un * wt + ut * wn) * part_[i][2] +
           (ut * wt) * part_[i][3];
  }

  void conditions(int i) {
    const Side& side = s_.side[i];
    const int j = 1 - i;
    const double from_below = (s_.c - s_.m * s_.g).dot(s_.gap_dual[j]);
    program_.at_least_slack((1.0 / s_.m) * (gap_[i] + Affine(from_below)));
    AffineMatrix positive(3);
    for (int k = 0; k < 3; ++k) {
      for (int l = 0; l < 3; ++l) {
        positive(k, l) = (1.0 / s_.m) * form(i, Vector3d::Unit(k), Vector3d::Unit(l)) +
                         Affine(k == l ? 1.0 : 0.0);
      }
    }
    program_.semidefinite(positive);
    for (int way = 0; way < 2; ++way) {
      const double sign = way == 0 ? 1.0 : -1.0;
      const Vector3d& dual = side.tangent_dual;
      program_.at_least_slack(-sign *
                              (Affine(s_.c.dot(dual)) + s_.side[j].normal.dot(dual) * gap_[i] +
                               form(i, dual, side.slip_acceleration[way])));
    }
  }

  /// A flight of a duration and the impact of contact i at its end.
  struct Arrival {
    Vector3d before, after;  ///< the impact
    double time;
  };
  [[nodiscard]] Arrival arrival(int i, double normal, double tangential, double slip,
                                double time) const {
    const Side& side = s_.side[i];
    const double pushed = side.nn * normal + side.nt * tangential;
    const Vector3d after =
        side.e / (1.0 + side.e) * pushed * side.normal_dual + slip * side.tangent_dual;
    return {after - normal * side.normal - tangential * side.tangent, after, time};
  }
  static Arrival sum(const Arrival& a, const Arrival& b) {
    return {a.before + b.before, a.after + b.after, a.time + b.time};
  }

  /// Bilinear: V of `from` at the flight's start less V of i after the impact.
  [[nodiscard]] Affine fall(int from, int i, const Arrival& a, const Arrival& b) const {
    const Vector3d start_a = a.before - a.time * s_.g, start_b = b.before - b.time * s_.g;
    // twice q(end) - q(start), as a symmetric product
    const Vector3d moved = b.time * a.before + a.time * b.before - a.time * b.time * s_.g;
    Affine value =
        form(from, start_a, start_b) - form(i, a.after, b.after) - Affine(s_.c.dot(moved));
    const int j = 1 - i;
    if (from == i) {  // gap i is zero at both ends
      return value - s_.side[j].normal.dot(moved) * gap_[i];
    }
    // from: gap_i at the start, none of its own; i: gap_j at the end, from zero
    return value - s_.side[i].normal.dot(moved) * gap_[j] - s_.side[j].normal.dot(moved) * gap_[i];
  }

  void add_matrix(int from, int i, std::vector<Arrival> rays, bool first_is_zero) {
    for (Arrival& ray : rays) {  // to a size of one
      const double size = std::sqrt(ray.before.squaredNorm() + ray.after.squaredNorm() +
                                    ray.time * ray.time * s_.g.squaredNorm());
      ray.before /= size, ray.after /= size, ray.time /= size;
    }
    const int skip = first_is_zero ? 1 : 0;
    const int count = static_cast<int>(rays.size()) - skip;
    AffineMatrix matrix(count);
    const auto at = [&rays](int k) -> const Arrival& { return rays[static_cast<std::size_t>(k)]; };
    for (int k = 0; k < count; ++k) {
      for (int l = 0; l < count; ++l) {
        matrix(k, l) = (1.0 / s_.m) * fall(from, i, at(k + skip), at(l + skip));
      }
    }
    if (first_is_zero) {
      for (int k = 0; k < count; ++k) {  // ... with the last of a flight's rays, too, by meet()
        if (from != i && k + 1 == count) break;
        program_.at_least_slack((1.0 / s_.m) * fall(from, i, at(0), at(k + 1)));
      }
    }
    if (count == 1) {
      program_.at_least_slack(matrix(0, 0));
    } else {
      program_.copositive(matrix);
    }
  }

  [[nodiscard]] double longest(int i, double r) const {
    const Side& side = s_.side[i];
    return 2.0 * (side.nn + r * side.nt) / ((1.0 + side.e) * side.load);
  }

  /// From an impact of i to the next one of i.
  void bounces(int i) {
    const double mu = s_.side[i].mu;
    add_matrix(
        i, i,
        {arrival(i, 1.0, -mu, 0.0, longest(i, -mu)), arrival(i, 1.0, mu, 0.0, longest(i, mu))},
        false);
    for (const double sign : {1.0, -1.0}) {
      const double r = -sign * mu;
      // slip alone, without an impact, changes nothing
      add_matrix(i, i, {arrival(i, 0.0, 0.0, sign, 0.0), arrival(i, 1.0, r, 0.0, longest(i, r))},
                 true);
    }
  }

  /// From label j, gap j being zero, to an impact of i.
  void flights(int i) {
    const int j = 1 - i;
    const Side& side = s_.side[i];
    const double mu = side.mu;
    const double rate = s_.side[j].normal.dot(side.turn);
    // Turned about contact i until gap j is zero at the end, too: N_j.v- + G_j time / 2 = 0.
    const auto on_edge = [&](Arrival ray) {
      const double opening = s_.side[j].normal.dot(ray.before) + 0.5 * s_.side[j].load * ray.time;
      const Vector3d turn = -opening / rate * side.turn;
      return Arrival{ray.before + turn, ray.after + turn, ray.time};
    };
    const Vector3d opening = side.turn / rate;
    const Arrival opens{opening, opening, 0.0};
    const Arrival low = on_edge(arrival(i, 1.0, -mu, 0.0, 0.0));
    const Arrival high = on_edge(arrival(i, 1.0, mu, 0.0, 0.0));
    const Arrival low_far = on_edge(arrival(i, 1.0, -mu, 0.0, longest(i, -mu)));
    const Arrival high_far = on_edge(arrival(i, 1.0, mu, 0.0, longest(i, mu)));
    add_matrix(j, i, {low, high, low_far, opens}, false);
    add_matrix(j, i, {high, low_far, high_far, opens}, false);
    for (const double sign : {1.0, -1.0}) {
      const double along = side.tangent.dot(s_.n) * sign;
      const Vector3d slide = (along > 0.0 ? 1.0 : -1.0) * s_.n;
      const double r = -sign * mu;
      add_matrix(j, i,
                 {Arrival{slide, slide, 0.0}, on_edge(arrival(i, 1.0, r, 0.0, 0.0)),
                  on_edge(arrival(i, 1.0, r, 0.0, longest(i, r))), opens},
                 true);
    }
  }

  const Setting& s_;
  LabelProgram program_;
  Affine part_[2][4], gap_[2];
};

}  // namespace

LabelledCertificate find_labelled(const body::StanceForm& stance) {
  const Setting s = setting_of(stance);
  if (!s.usable) return {};
  const bool elastic = s.side[0].e > 0.0 || s.side[1].e > 0.0;
  return elastic ? ElasticProgram(s).solve() : InelasticProgram(s).solve();
}

}  // namespace carom::stability
