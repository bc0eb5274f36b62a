#include <algorithm>
#include <cmath>
#include <vector>

#include "stability/label_setting.hpp"

namespace carom::stability {

namespace {

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

  /// Whether the conditions could be written down.
  bool build() {
    for (int i = 0; i < 2; ++i) {
      if (!forms(i)) return false;
    }
    if (!meet_at_n()) return false;
    for (int i = 0; i < 2; ++i) conditions(i);
    for (int way = 0; way < 2; ++way) {
      if (slides(s_, way)) add_sliding(program_, s_, way, both(way), at_n(0, way));
    }
    for (int i = 0; i < 2; ++i) {
      for (int label = 0; label < (s_.side[i].sticks ? 3 : 2); ++label) {
        if (!impacts(i, label)) return false;
      }
    }
    return true;
  }
  [[nodiscard]] PosedLabels posed() {
    PosedLabels result{std::move(program_)};
    std::size_t at = 0;
    for (const auto& of_contact : form_) {
      for (const Form& form : of_contact) {
        for (const Affine* part : {&form.a, &form.xx, &form.xs, &form.ss}) {
          result.numbers[at++] = *part;
        }
      }
    }
    return result;
  }

 private:
  // a, A, C of labels (i, +), (i, -) but C of contact 2; a of (i, S); Q12 of both ways
  static constexpr std::size_t kUnknowns = 14;
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
      const auto at = static_cast<std::size_t>(i == 0 ? 3 * way : 6 + 2 * way);
      Form& form = form_[i][way];
      form.a = Affine::unknown(at);
      form.xx = Affine::unknown(at + 1);
      if (i == 0) form.ss = Affine::unknown(at + 2);
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
  /// about i, which stick inside a part of that cone and slip outside it.
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

}  // namespace

std::optional<PosedLabels> pose_inelastic(const Setting& setting) {
  InelasticProgram program(setting);
  if (!program.build()) return {};
  return program.posed();
}

}  // namespace carom::stability
