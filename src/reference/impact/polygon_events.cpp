#include "reference/impact/polygon_events.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include <carom/certificate.hpp>

#include "reference/impact/event_draws.hpp"
#include "reference/impact/event_sizes.hpp"
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

// End of a cycle of events.
struct PolygonCycle {
  Vector u, impulse;
  double length;
  std::vector<std::set<int>> vanished;  // by contact: -1 u_n, else the slip's numbers
  int events;
};

class PolygonWalk {
 public:
  PolygonWalk(const Mechanism& mechanism, const ImpactSettings& settings, std::uint32_t problem,
              std::int64_t sample, Stores* stores)
      : mechanism_(mechanism),
        settings_(settings),
        stores_(stores),
        met_(stores != nullptr ? 0.01 * kMet : kMet),
        polygon_(mechanism.problem.dimension, settings.friction_directions),
        m_(mechanism.contacts()),
        state_{mechanism.jacobian * mechanism.velocity,
               std::vector<Arc>(static_cast<std::size_t>(m_), polygon_.all())},
        size_(state_.u.cwiseAbs().maxCoeff()),
        draws_(m_, settings.seed, problem, sample) {
    for (int i = 0; i < m_; ++i) {
      const double own = mechanism.delassus(i, i);
      if (own > 0.0) longest_ = std::max(longest_, size_ / own);
    }
    if (longest_ == 0.0) longest_ = 1.0;
    state_.u = (state_.u.array().abs() <= kRounding * size_).select(0.0, state_.u);
    for (int i = 0; i < m_; ++i) find_slip(i);
    result_.impulse = Vector::Zero(mechanism.rows());
    result_.velocity = mechanism.velocity;
  }

  Trajectory operator()(bool keep_path) {
    record(keep_path);
    const int most = stores_ != nullptr ? kMostBounces : kMostPieces;
    while (unfinished() && result_.steps < most) {
      if (!(draws_.left > 0.0)) begin_stretch();
      if (draws_.policy) draws_.apply_policy(pushers(false), numbers());
      const auto motion = find_motion(mechanism_, polygon_, {pushers(true), state_.slip},
                                      draws_.weight, draws_.first);
      if (motion) {
        move(*motion);
      } else if (++redrawn_ > kMostRedrawn) {
        return finished(TrajectoryStatus::failed);
      } else {
        draws_.spoil();
      }
      ++result_.steps;
      record(keep_path);
    }
    return finished(unfinished() ? TrajectoryStatus::max_steps : TrajectoryStatus::terminated);
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] bool filled(int i) const { return stores_ != nullptr && stores_->filled(i); }
  [[nodiscard]] bool leaves(int i) const { return state_.u[i] > 0.0 && !filled(i); }
  [[nodiscard]] bool unfinished() const {
    for (int i = 0; i < m_; ++i) {
      if (state_.u[i] < 0.0 || filled(i)) return true;
    }
    return false;
  }
  [[nodiscard]] Vector pushers(bool held) const {
    return stores_ != nullptr ? stores_->pushers(state_.u, draws_, held, size_) : state_.u;
  }
  [[nodiscard]] auto slip_of(const Vector& u, int i) const {
    return u.segment(m_ + polygon_.tangents() * i, polygon_.tangents());
  }

  void find_slip(int i) {
    const Vector slip = slip_of(state_.u, i);
    state_.slip[at(i)] = polygon_.opposing(slip, met_ * size_);
    state_.u.segment(m_ + polygon_.tangents() * i, polygon_.tangents()) =
        polygon_.onto(state_.slip[at(i)], slip);
  }

  // What the policy knows the contacts' states by.
  [[nodiscard]] std::vector<int> numbers() const {
    std::vector<int> states;
    for (int i = 0; i < m_; ++i) {
      int slip = polygon_.number(state_.slip[at(i)]);
      if (polygon_.tangents() == 1 && slip < 2) slip = 1 - slip;  // -, none, +
      int faces = state_.u[i] < 0.0 ? 1 : 0;
      if (filled(i)) faces = state_.u[i] > 0.0 ? 3 : 2;
      states.push_back(leaves(i) ? 0 : 1 + faces * polygon_.arcs() + slip);
    }
    return states;
  }

  void record(bool keep_path) {
    if (!keep_path) return;
    result_.velocity = mechanism_.velocity + mechanism_.response * result_.impulse;
    auto& path = result_.path;
    if (static_cast<int>(path.size()) > settings_.max_steps) path.pop_back();
    path.push_back(result_.velocity);
    if (stores_ == nullptr) return;
    result_.pieces.resize(path.size() - 1);
    result_.pieces.push_back(stores_->take_piece());
  }

  void begin_stretch() {
    if (stores_ != nullptr && result_.steps > 0) stores_->next_stretch();
    const int longer = std::min(result_.steps / kPiecesOfLength, kMostDoublings);
    draws_.next_stretch(pushers(false), std::ldexp(longest_, longer),
                        stores_ != nullptr ? kHalvingsOfStores : kHalvings);
    events_ = 0;
    cycles_.clear();
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
      if (nears(state_.u[i], motion.rate[i])) touching[at(i)] = -state_.u[i] / motion.rate[i];
      length = std::min(length, touching[at(i)]);
      if (stores_ != nullptr) {
        empty.push_back(stores_->until(i, state_.u[i], motion.rate[i], motion.impulse[i]));
        length = std::min(length, empty.back());
      }
      if (leaves(i)) continue;
      const int t = m_ + polygon_.tangents() * i;
      motion.rate.segment(t, polygon_.tangents()) =
          polygon_.onto(motion.slip[at(i)], slip_of(motion.rate, i));
      arrivals[at(i)] =
          slip_arrival(motion.slip[at(i)], slip_of(state_.u, i), slip_of(motion.rate, i));
      length = std::min(length, arrivals[at(i)].length);
    }
    if (stores_ != nullptr && stores_->leaves_out(state_.u, motion.impulse, motion.rate, length)) {
      return draws_.spoil();
    }
    const bool event = length < draws_.left;
    const double together = event ? length * (1.0 + kTogether) : 0.0;
    PolygonState next{state_.u + length * motion.rate, state_.slip};
    for (int i = 0; i < m_; ++i) {
      double& normal = next.u[i];
      const bool touched = touching[at(i)] < kInfinite &&
                           (touching[at(i)] <= together || nears(state_.u[i], normal));
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
      if (next.u[i] == 0.0 && state_.u[i] != 0.0) key = i;
    }
    for (int i = 0; event && i < m_ && key < 0; ++i) {
      if (leaves(i) || next.slip[at(i)] == motion.slip[at(i)]) continue;
      key = m_ * (1 + polygon_.number(next.slip[at(i)])) + i;
    }
    std::vector<bool> left(at(m_)), emptied(empty.size());
    for (int i = 0; i < m_; ++i) left[at(i)] = leaves(i);
    if (stores_ != nullptr) {
      for (std::size_t i = 0; i < empty.size(); ++i) emptied[i] = empty[i] <= together;
      stores_->follow(state_.u, next.u, length * motion.impulse, emptied);
    } else {
      certify(motion, next.u, length);
    }
    state_ = next;
    for (int i = 0; i < m_; ++i) {
      if (left[at(i)] && !leaves(i)) find_slip(i);
    }
    if (stores_ != nullptr) round();
    result_.impulse += length * motion.impulse;
    draws_.left = event ? draws_.left - length : 0.0;
    cycle_length_ += length;
    ++events_;
    if (stores_ != nullptr) return end_stretch();
    if (event && events_ > (draws_.policy ? kPolicyCycles : kCyclesFrom)) watch(key);
    if (draws_.policy && events_ >= kPolicyEvents) draws_.spoil();
  }

  void round() {
    state_.u = stores_->rounded(state_.u);
    for (int i = 0; i < m_; ++i) {
      if (leaves(i)) continue;
      state_.u.segment(m_ + polygon_.tangents() * i, polygon_.tangents()) =
          polygon_.onto(state_.slip[at(i)], slip_of(state_.u, i));
    }
  }

  // Where nothing with a weight may push any more, or the stretch goes on for long.
  void end_stretch() {
    bool able = false;
    for (int i = 0; i < m_; ++i) able = able || (draws_.weight[i] > 0.0 && !leaves(i));
    if (!able && !draws_.policy) draws_.left = 0.0;
    if (events_ >= 2 * kPolicyEvents) draws_.spoil();
  }

  // The arc of contact i's slip after a piece: where it went, if it got there or by rounding
  // beyond.
  [[nodiscard]] Arc reached(int i, const Arc& moving, const Arrival& arrival, double together,
                            const Vector& slip) const {
    const Vector before = slip_of(state_.u, i);
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
      for (const Vector* u : {&std::as_const(state_.u), &next}) {
        wrong = std::max(wrong, (*u)[i] / size_);
        const Vector slip = slip_of(*u, i);
        const double lacking = limit * polygon_.most_taken(slip) + friction.dot(slip);
        if (lacking > 1e-12 * limit * slip.lpNorm<1>()) {
          wrong = std::max(wrong, lacking / limit / size_);
        }
      }
    }
    const double work = 0.5 * length * motion.impulse.dot(state_.u + next);
    const double energy = mechanism_.kinetic_energy(mechanism_.velocity);
    const double terms = 0.5 * length * motion.impulse.cwiseAbs().dot((state_.u + next).cwiseAbs());
    if (work > 1e-12 * terms + 1e-15 * energy) wrong = std::max(wrong, work / energy);
    result_.residual = std::max(result_.residual, wrong);
  }

  // Cycles between events of one kind that repeat themselves, smaller by one ratio, end in the
  // limit of a geometric series.
  void watch(int key) {
    if (cycles_.empty()) {
      key_ = key;
      cycle_events_ = 0;
      cycle_length_ = 0.0;
      vanished_.assign(at(m_), {});
    }
    for (int i = 0; i < m_; ++i) {
      if (state_.u[i] > 0.0) continue;
      if (state_.u[i] == 0.0) vanished_[at(i)].insert(-1);
      if (state_.slip[at(i)].count != 1) {
        vanished_[at(i)].insert(polygon_.number(state_.slip[at(i)]));
      }
    }
    ++cycle_events_;
    if (key != key_) {
      if (cycle_events_ > kCyclesFrom) cycles_.clear();
      return;
    }
    cycles_.push_back({state_.u, result_.impulse, cycle_length_, vanished_, cycle_events_});
    vanished_.assign(at(m_), {});
    cycle_events_ = 0;
    cycle_length_ = 0.0;
    if (cycles_.size() > 3) cycles_.pop_front();
    if (cycles_.size() == 3) take_limit();
  }

  void take_limit() {
    const PolygonCycle &a = cycles_[0], &b = cycles_[1], &c = cycles_[2];
    const double ratio = c.length / b.length;
    if (c.vanished != b.vanished || c.events != b.events || !(ratio < kSlowest)) return;
    const Vector before = b.u - a.u, after = c.u - b.u;
    const double slack = kSameShape * before.cwiseAbs().maxCoeff() +
                         kSameRounding * size_ * (1.0 - ratio);  // a limit sums many cycles
    if (!((after - ratio * before).cwiseAbs().maxCoeff() <= slack)) return;
    const double more = ratio / (1.0 - ratio);
    if (!(more * c.length < draws_.left)) return;
    PolygonState limit{state_.u + more * after, state_.slip};
    for (int i = 0; i < m_; ++i) {
      if (!settles(i, c.vanished[at(i)], limit)) return;
    }
    state_ = limit;
    result_.impulse += more * (c.impulse - b.impulse);
    draws_.left -= more * c.length;
    cycles_.clear();
    ++result_.pivots;
  }

  // Whether contact i's limit is 0 where something vanished in every cycle and otherwise in the
  // closure of what it is now.
  [[nodiscard]] bool settles(int i, std::set<int> vanished, PolygonState& limit) const {
    const double nothing = kSettled * size_;
    const bool touched = vanished.erase(-1) > 0;
    if (std::abs(limit.u[i]) <= nothing) {
      limit.u[i] = 0.0;
    } else if (touched || limit.u[i] * state_.u[i] < 0.0) {
      return false;
    }
    if (limit.u[i] > 0.0) return true;
    const Vector slip = slip_of(limit.u, i);
    const Arc now = polygon_.opposing(slip, nothing);
    Arc& arc = limit.slip[at(i)];
    if (vanished.size() == 1) arc = polygon_.arc(*vanished.begin());
    if (vanished.size() > 1) arc = polygon_.all();
    if (vanished.empty() && state_.u[i] > 0.0) arc = now;
    for (int j = 0; j < arc.count; ++j) {  // less slip is opposed by more directions
      if (!polygon_.contains(now, (arc.first + j) % polygon_.directions())) return false;
    }
    arc = now;
    limit.u.segment(m_ + polygon_.tangents() * i, polygon_.tangents()) = polygon_.onto(arc, slip);
    return true;
  }

  Trajectory finished(TrajectoryStatus status) {
    result_.status = status;
    result_.velocity = mechanism_.velocity + mechanism_.response * result_.impulse;
    result_.contact_velocity = state_.u;
    if (size_ > 0.0) {
      const Vector difference = mechanism_.jacobian * result_.velocity - state_.u;
      result_.residual = std::max(result_.residual, difference.cwiseAbs().maxCoeff() / size_);
    }
    if (stores_ != nullptr) {
      if (status == TrajectoryStatus::terminated) {
        result_.residual = std::max(result_.residual, stores_->missed(result_.velocity));
      }
      result_.bounces = stores_->bounces();
    }
    if (status == TrajectoryStatus::failed ||
        !certificate::within(result_.residual, settings_.residual_tolerance)) {
      result_.status = TrajectoryStatus::failed;
      result_.residual = kInfinite;
    }
    return std::move(result_);
  }

  const Mechanism& mechanism_;
  const ImpactSettings& settings_;
  Stores* stores_;
  double met_;  ///< speeds that are none, of the largest
  FrictionPolygon polygon_;
  int m_;
  PolygonState state_;
  double size_;
  double longest_ = 0.0;
  EventDraws draws_;
  Trajectory result_;
  int redrawn_ = 0, events_ = 0;
  std::deque<PolygonCycle> cycles_;
  int key_ = -1, cycle_events_ = 0;
  double cycle_length_ = 0.0;
  std::vector<std::set<int>> vanished_;
};

}  // namespace

PolygonEventSimulator::PolygonEventSimulator(const Mechanism& mechanism,
                                             const ImpactSettings& settings, std::uint32_t problem)
    : mechanism_(mechanism), settings_(settings), problem_(problem) {}

Trajectory PolygonEventSimulator::run(std::int64_t sample, bool keep_path) const {
  if (mechanism_.contacts() == 0) {
    Trajectory still;
    still.status = TrajectoryStatus::terminated;
    still.velocity = mechanism_.velocity;
    if (keep_path) still.path.push_back(still.velocity);
    return still;
  }
  if (!has_stores(mechanism_.problem)) {
    return PolygonWalk(mechanism_, settings_, problem_, sample, nullptr)(keep_path);
  }
  Mechanism own = mechanism_;
  Stores stores(own, settings_, problem_, sample);
  return PolygonWalk(own, settings_, problem_, sample, &stores)(keep_path);
}

}  // namespace carom::reference
