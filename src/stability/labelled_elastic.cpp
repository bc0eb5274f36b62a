#include <algorithm>
#include <cmath>
#include <vector>

#include "stability/label_setting.hpp"

namespace carom::stability {

namespace {

/// V = k c.q + a gap_j + v'Q v / 2, Q = q r r' + [N T] S [N T]'.
class ElasticProgram {
 public:
  explicit ElasticProgram(const Setting& s) : s_(s), program_(kUnknowns) {}

  /// Whether the conditions could be written down.
  bool build() {
    for (int i = 0; i < 2; ++i) {
      const Side& side = s_.side[i];
      const double rate = s_.side[1 - i].normal.dot(side.turn);
      if (!(std::fabs(rate) > kDegenerate)) return false;
      for (int k = 0; k < 4; ++k)
        part_[i][k] =
            Affine::unknown(4 * static_cast<std::size_t>(i) + static_cast<std::size_t>(k));
      gap_[i] = (-side.turn2 * side.turn.dot(s_.g) / rate) * part_[i][0];
    }
    if (!meet()) return false;
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
    return true;
  }
  [[nodiscard]] PosedLabels posed() {
    PosedLabels result{std::move(program_)};
    std::size_t at = 0;
    for (const auto& of_contact : part_) {
      for (const Affine& number : of_contact) result.numbers[at++] = number;
    }
    for (std::size_t way = 0; way < 2; ++way) result.numbers[at++] = Affine::unknown(8 + way);
    return result;
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
    // S_nt of contact 1 by itself: the other side of (n, r_2) has q of only contact 2
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
      // slip without an impact changes nothing
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
    const auto on_edge = [&](const Arrival& ray) {
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

std::optional<PosedLabels> pose_elastic(const Setting& setting) {
  ElasticProgram program(setting);
  if (!program.build()) return {};
  return program.posed();
}

}  // namespace carom::stability
