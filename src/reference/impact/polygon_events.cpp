#include "reference/impact/events.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "reference/impact/event_sizes.hpp"
#include "reference/impact/event_walk.hpp"
#include "reference/impact/polygon_motion.hpp"

namespace carom::reference {

namespace {

using namespace event_sizes;

constexpr double kInfinite = std::numeric_limits<double>::infinity();
// The next event of a contact.
struct Arrival {
  double length = kInfinite;
  Arc slip;
};

class PolygonWalk : public EventWalk {
 public:
  PolygonWalk(const Mechanism& mechanism, const ImpactSettings& settings, std::uint32_t problem,
              std::int64_t sample, Stores* stores)
      : EventWalk(mechanism, settings, problem, sample, stores),
        met_(stores != nullptr ? 0.01 * kMet : kMet),
        polygon_(mechanism.problem.dimension, settings.friction_directions),
        slip_(at(m_), polygon_.all()) {
    lengthens_ = true;
    cycle_rounding_ = kSameRounding;
    for (int i = 0; i < m_; ++i) find_slip(i);
  }

 private:
  bool step() override {
    const auto motion =
        find_motion(mechanism_, polygon_, {pushers(true), slip_}, draws_.weight, draws_.first);
    if (motion) move(*motion);
    return motion.has_value();
  }

  [[nodiscard]] auto slip_of(const Vector& u, int i) const {
    return u.segment(m_ + polygon_.tangents() * i, polygon_.tangents());
  }

  void find_slip(int i) {
    const Vector slip = slip_of(u_, i);
    slip_[at(i)] = polygon_.opposing(slip, met_ * size_);
    u_.segment(m_ + polygon_.tangents() * i, polygon_.tangents()) =
        polygon_.onto(slip_[at(i)], slip);
  }

  [[nodiscard]] std::vector<int> states() const override {
    std::vector<int> states;
    for (int i = 0; i < m_; ++i) {
      int slip = polygon_.number(slip_[at(i)]);
      if (polygon_.tangents() == 1 && slip < 2) slip = 1 - slip;  // -, none, +
      int faces = u_[i] < 0.0 ? 1 : 0;
      if (filled(i)) faces = u_[i] > 0.0 ? 3 : 2;
      states.push_back(leaves(i) ? 0 : 1 + faces * polygon_.arcs() + slip);
    }
    return states;
  }

  static bool nears(double x, double rate) {
    return (x < 0.0 && rate > 0.0) || (x > 0.0 && rate < 0.0);
  }

  // When the slip leaves its arc, and for which.
  [[nodiscard]] Arrival slip_arrival(const Arc& arc, const Vector& slip, const Vector& rate) const {
    if (arc.count == polygon_.directions()) return {};
    if (polygon_.tangents() == 1) {
      return nears(slip[0], rate[0]) ? Arrival{-slip[0] / rate[0], polygon_.all()} : Arrival{};
    }
    const int k = polygon_.directions();
    if (arc.count == 2) {
      const Vector ray = polygon_.ray(arc.first);
      const double change = ray.dot(rate);
      if (!(change < 0.0)) return {};
      return {std::max(0.0, -ray.dot(slip) / change), polygon_.all()};
    }
    Arrival first;
    for (const int j : {arc.first, (arc.first + k - 1) % k}) {
      const Vector inward = j == arc.first ? polygon_.edge(j) : Vector(-polygon_.edge(j));
      const double change = inward.dot(rate);
      if (!(change < 0.0)) continue;
      const double length = std::max(0.0, -inward.dot(slip) / change);
      if (length < first.length) first = {length, {j, 2}};
    }
    return first;
  }

  void move(PolygonMotion motion) {
    std::vector<double> touching(at(m_), kInfinite);
    std::vector<Arrival> arrivals(at(m_));
    std::vector<double> empty;  // until stores are
    double length = draws_.left;
    for (int i = 0; i < m_; ++i) {
      if (nears(u_[i], motion.rate[i])) touching[at(i)] = -u_[i] / motion.rate[i];
      length = std::min(length, touching[at(i)]);
      if (stores_ != nullptr) {
        empty.push_back(stores_->until(i, u_[i], motion.rate[i], motion.impulse[i]));
        length = std::min(length, empty.back());
      }
      if (leaves(i)) continue;
      const int t = m_ + polygon_.tangents() * i;
      motion.rate.segment(t, polygon_.tangents()) =
          polygon_.onto(motion.slip[at(i)], slip_of(motion.rate, i));
      arrivals[at(i)] = slip_arrival(motion.slip[at(i)], slip_of(u_, i), slip_of(motion.rate, i));
      length = std::min(length, arrivals[at(i)].length);
    }
    if (stores_ != nullptr && stores_->leaves_out(u_, motion.impulse, motion.rate, length)) {
      return draws_.spoil();
    }
    const bool event = length < draws_.left;
    const double together = event ? length * (1.0 + kTogether) : 0.0;
    PolygonState next{u_ + length * motion.rate, slip_};
    for (int i = 0; i < m_; ++i) {
      double& normal = next.u[i];
      const bool touched =
          touching[at(i)] < kInfinite && (touching[at(i)] <= together || nears(u_[i], normal));
      if (touched || std::abs(normal) <= met_ * size_) normal = 0.0;
      if (leaves(i)) continue;
      const Vector slip = slip_of(next.u, i);
      next.slip[at(i)] = arrivals[at(i)].length < kInfinite
                             ? reached(i, motion.slip[at(i)], arrivals[at(i)], together, slip)
                             : motion.slip[at(i)];
      next.slip[at(i)] = polygon_.closest(next.slip[at(i)], slip, met_ * size_);
      next.u.segment(m_ + polygon_.tangents() * i, polygon_.tangents()) =
          polygon_.onto(next.slip[at(i)], slip);
    }
    int key = -1;  // the first of the boundaries that are met, normals before slips
    for (int i = 0; event && i < m_ && key < 0; ++i) {
      if (next.u[i] == 0.0 && u_[i] != 0.0) key = i;
    }
    for (int i = 0; event && i < m_ && key < 0; ++i) {
      if (leaves(i) || next.slip[at(i)] == motion.slip[at(i)]) continue;
      key = m_ * (1 + polygon_.number(next.slip[at(i)])) + i;
    }
    std::vector<bool> left(at(m_)), emptied(empty.size());
    for (int i = 0; i < m_; ++i) left[at(i)] = leaves(i);
    if (stores_ != nullptr) {
      for (std::size_t i = 0; i < empty.size(); ++i) emptied[i] = empty[i] <= together;
      stores_->follow(u_, next.u, length * motion.impulse, emptied);
    } else {
      certify(motion, next.u, length);
    }
    u_ = next.u;
    slip_ = next.slip;
    for (int i = 0; i < m_; ++i) {
      if (left[at(i)] && !leaves(i)) find_slip(i);
    }
    if (stores_ != nullptr) round();
    finish_piece(motion.impulse, length, event, key);
  }

  void round() {
    u_ = stores_->rounded(u_);
    for (int i = 0; i < m_; ++i) {
      if (leaves(i)) continue;
      u_.segment(m_ + polygon_.tangents() * i, polygon_.tangents()) =
          polygon_.onto(slip_[at(i)], slip_of(u_, i));
    }
  }

  // The arc of contact i's slip after a piece: where it went, if it got there or by rounding
  // beyond.
  [[nodiscard]] Arc reached(int i, const Arc& moving, const Arrival& arrival, double together,
                            const Vector& slip) const {
    const Vector before = slip_of(u_, i);
    bool there = arrival.length <= together;
    if (!there && polygon_.tangents() == 1) there = nears(before[0], slip[0]);
    if (!there && polygon_.tangents() > 1) {
      if (moving.count == 2) {
        there = polygon_.ray(moving.first).dot(slip) <= 0.0;
      } else {
        const double side = polygon_.edge(arrival.slip.first).dot(slip);
        there = (arrival.slip.first == moving.first ? side : -side) <= 0.0;
      }
    }
    if (!there) return moving;
    if (arrival.slip.count != 2 || polygon_.tangents() == 1) return polygon_.all();
    return polygon_.ray(arrival.slip.first).dot(slip) > 0.0 ? arrival.slip : polygon_.all();
  }

  // (39), (40) at both ends of a piece, and that it gains no energy.
  void certify(const PolygonMotion& motion, const Vector& next, double length) {
    double wrong = 0.0;
    for (int i = 0; i < m_; ++i) {
      const double normal = motion.impulse[i];
      const Vector friction = slip_of(motion.impulse, i);
      const double limit = mechanism_.friction[i] * normal;
      if (normal < 0.0 || polygon_.beyond(friction, limit) > 1e-12 * limit) wrong = kInfinite;
      if (!(normal > 0.0)) continue;
      for (const Vector* u : {&std::as_const(u_), &next}) {
        wrong = std::max(wrong, (*u)[i] / size_);
        const Vector slip = slip_of(*u, i);
        const double lacking = limit * polygon_.most_taken(slip) + friction.dot(slip);
        if (lacking > 1e-12 * limit * slip.lpNorm<1>()) {
          wrong = std::max(wrong, lacking / limit / size_);
        }
      }
    }
    certify_energy(motion.impulse, next, length, wrong);
  }

  void note_vanished(Vanished& vanished) const override {
    for (int i = 0; i < m_; ++i) {
      if (u_[i] > 0.0) continue;
      if (u_[i] == 0.0) vanished[at(i)].insert(-1);
      if (slip_[at(i)].count != 1) vanished[at(i)].insert(polygon_.number(slip_[at(i)]));
    }
  }

  bool settle(const Vanished& vanished, const Vector& limit) override {
    PolygonState next{limit, slip_};
    for (int i = 0; i < m_; ++i) {
      if (!settles(i, vanished[at(i)], next)) return false;
    }
    u_ = next.u;
    slip_ = next.slip;
    return true;
  }

  // Whether contact i's limit is 0 where something vanished in every cycle and otherwise in the
  // closure of what it is now.
  [[nodiscard]] bool settles(int i, std::set<int> vanished, PolygonState& limit) const {
    const double nothing = kSettled * size_;
    const bool touched = vanished.erase(-1) > 0;
    if (std::abs(limit.u[i]) <= nothing) {
      limit.u[i] = 0.0;
    } else if (touched || limit.u[i] * u_[i] < 0.0) {
      return false;
    }
    if (limit.u[i] > 0.0) return true;
    const Vector slip = slip_of(limit.u, i);
    const Arc now = polygon_.opposing(slip, nothing);
    Arc& arc = limit.slip[at(i)];
    if (vanished.size() == 1) arc = polygon_.arc(*vanished.begin());
    if (vanished.size() > 1) arc = polygon_.all();
    if (vanished.empty() && u_[i] > 0.0) arc = now;
    for (int j = 0; j < arc.count; ++j) {  // less slip is opposed by more directions
      if (!polygon_.contains(now, (arc.first + j) % polygon_.directions())) return false;
    }
    arc = now;
    limit.u.segment(m_ + polygon_.tangents() * i, polygon_.tangents()) = polygon_.onto(arc, slip);
    return true;
  }

  double met_;  ///< speeds that are none, of the largest
  FrictionPolygon polygon_;
  std::vector<Arc> slip_;  ///< directions that oppose it, of contacts that do not separate
};

}  // namespace

Trajectory follow_polygon_events(const Mechanism& mechanism, const ImpactSettings& settings,
                                 std::uint32_t problem, std::int64_t sample, bool keep_path) {
  return walk_events<PolygonWalk>(mechanism, settings, problem, sample, keep_path);
}

}  // namespace carom::reference
