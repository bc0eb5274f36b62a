#include "reference/impact/event_walk.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <carom/certificate.hpp>

#include "reference/impact/event_sizes.hpp"

namespace carom::reference {

using namespace event_sizes;

EventWalk::EventWalk(const Mechanism& mechanism, const ImpactSettings& settings,
                     std::uint32_t problem, std::int64_t sample, Stores* stores)
    : mechanism_(mechanism),
      settings_(settings),
      stores_(stores),
      m_(mechanism.contacts()),
      u_(mechanism.jacobian * mechanism.velocity),
      size_(u_.cwiseAbs().maxCoeff()),
      draws_(m_, settings.seed, problem, sample),
      lengthens_(stores != nullptr) {
  for (int i = 0; i < m_; ++i) {
    const double own = mechanism.delassus(i, i);
    if (own > 0.0) longest_ = std::max(longest_, size_ / own);
  }
  if (longest_ == 0.0) longest_ = 1.0;
  u_ = (u_.array().abs() <= kRounding * size_).select(0.0, u_);
  result_.impulse = Vector::Zero(mechanism.rows());
  result_.velocity = mechanism.velocity;
}

Trajectory EventWalk::operator()(bool keep_path) {
  record(keep_path);
  const int most = stores_ != nullptr ? kMostBounces : kMostPieces;
  while (unfinished() && result_.steps < most) {
    if (!(draws_.left > 0.0)) begin_stretch();
    if (draws_.policy) draws_.apply_policy(pushers(false), states());
    if (!step()) {
      if (++redrawn_ > kMostRedrawn) return finished(TrajectoryStatus::failed);
      draws_.spoil();
    }
    ++result_.steps;
    record(keep_path);
  }
  return finished(unfinished() ? TrajectoryStatus::max_steps : TrajectoryStatus::terminated);
}

bool EventWalk::unfinished() const {
  for (int i = 0; i < m_; ++i) {
    if (u_[i] < 0.0 || filled(i)) return true;
  }
  return false;
}

Vector EventWalk::pushers(bool held) const {
  return stores_ != nullptr ? stores_->pushers(u_, draws_, held, size_) : u_;
}

void EventWalk::record(bool keep_path) {
  if (!keep_path) return;
  result_.velocity = mechanism_.velocity + mechanism_.response * result_.impulse;
  auto& path = result_.path;
  if (static_cast<int>(path.size()) > settings_.max_steps) path.pop_back();
  path.push_back(result_.velocity);
  if (stores_ == nullptr) return;
  result_.pieces.resize(path.size() - 1);
  result_.pieces.push_back(stores_->take_piece());
}

void EventWalk::begin_stretch() {
  if (stores_ != nullptr && result_.steps > 0) stores_->next_stretch();
  const int pieces = lengthens_ ? result_.steps : 0;
  const int longer = std::min(pieces / kPiecesOfLength, kMostDoublings);
  draws_.next_stretch(pushers(false), std::ldexp(longest_, longer),
                      stores_ != nullptr ? kHalvingsOfStores : kHalvings);
  events_ = 0;
  cycles_.clear();
}

void EventWalk::certify_energy(const Vector& impulse, const Vector& next, double length,
                               double wrong) {
  const double work = 0.5 * length * impulse.dot(u_ + next);
  const double energy = mechanism_.kinetic_energy(mechanism_.velocity);
  const double terms = 0.5 * length * impulse.cwiseAbs().dot((u_ + next).cwiseAbs());
  if (work > 1e-12 * terms + 1e-15 * energy) wrong = std::max(wrong, work / energy);
  result_.residual = std::max(result_.residual, wrong);
}

void EventWalk::finish_piece(const Vector& impulse, double length, bool event, int key) {
  result_.impulse += length * impulse;
  draws_.left = event ? draws_.left - length : 0.0;
  cycle_length_ += length;
  ++events_;
  if (stores_ != nullptr) return end_stretch();
  if (event && events_ > (draws_.policy ? kPolicyCycles : kCyclesFrom)) watch(key);
  if (draws_.policy && events_ >= kPolicyEvents) draws_.spoil();
}

// Where nothing with a weight may push any more, or the stretch goes on for long.
void EventWalk::end_stretch() {
  bool able = false;
  for (int i = 0; i < m_; ++i) able = able || (draws_.weight[i] > 0.0 && !leaves(i));
  if (!able && !draws_.policy) draws_.left = 0.0;
  if (events_ >= 2 * kPolicyEvents) draws_.spoil();
}

// Cycles between events of one kind that repeat themselves, smaller by one ratio, end in the
// limit of a geometric series.
void EventWalk::watch(int key) {
  if (cycles_.empty()) {
    key_ = key;
    cycle_events_ = 0;
    cycle_length_ = 0.0;
    vanished_.assign(at(m_), {});
  }
  note_vanished(vanished_);
  ++cycle_events_;
  if (key != key_) {
    if (cycle_events_ > kCyclesFrom) cycles_.clear();
    return;
  }
  cycles_.push_back({u_, result_.impulse, cycle_length_, vanished_, cycle_events_});
  vanished_.assign(at(m_), {});
  cycle_events_ = 0;
  cycle_length_ = 0.0;
  if (cycles_.size() > 3) cycles_.pop_front();
  if (cycles_.size() == 3) take_limit();
}

void EventWalk::take_limit() {
  const Cycle &a = cycles_[0], &b = cycles_[1], &c = cycles_[2];
  const double ratio = c.length / b.length;
  if (c.vanished != b.vanished || c.events != b.events || !(ratio < kSlowest)) return;
  const Vector before = b.u - a.u, after = c.u - b.u;
  const double slack =
      kSameShape * before.cwiseAbs().maxCoeff() + cycle_rounding_ * size_ * (1.0 - ratio);
  if (!((after - ratio * before).cwiseAbs().maxCoeff() <= slack)) return;
  const double more = ratio / (1.0 - ratio);
  if (!(more * c.length < draws_.left) || !settle(c.vanished, u_ + more * after)) return;
  result_.impulse += more * (c.impulse - b.impulse);
  draws_.left -= more * c.length;
  cycles_.clear();
  ++result_.pivots;
}

Trajectory EventWalk::finished(TrajectoryStatus status) {
  result_.status = status;
  result_.velocity = mechanism_.velocity + mechanism_.response * result_.impulse;
  result_.contact_velocity = u_;
  if (size_ > 0.0) {
    const Vector difference = mechanism_.jacobian * result_.velocity - u_;
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
    result_.residual = std::numeric_limits<double>::infinity();
  }
  return std::move(result_);
}

}  // namespace carom::reference
