#include "reference/impact/events.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <vector>

#include <carom/certificate.hpp>

#include "reference/impact/event_draws.hpp"
#include "reference/impact/event_sizes.hpp"

namespace carom::reference {

namespace {

using namespace event_sizes;

enum class Push { none, full, held };
struct Part {
  Push push = Push::none;
  int slip = 0;
};
struct Motion {
  Vector impulse, rate;  // for one unit of the stretch
};

// What a contact may do next.
std::vector<Part> options(const ContactSigns& signs) {
  if (signs.normal > 0) return {{}};
  const std::vector<int> slips = signs.slip == 0 ? std::vector<int>{0, 1, -1}  // sticks first
                                                 : std::vector<int>{signs.slip};
  std::vector<Part> parts;
  if (signs.normal == 0) parts.push_back({});
  for (const Push push : {Push::full, Push::held}) {
    if (push == Push::held && signs.normal < 0) break;
    for (const int slip : slips) parts.push_back({push, slip});
  }
  return parts;
}

// End of a cycle of events.
struct Cycle {
  Vector u, impulse;
  double length;
  std::vector<bool> zeros;  // rows that vanished within
  int events;
};

class Walk {
 public:
  Walk(const Mechanism& mechanism, const ImpactSettings& settings, std::uint32_t problem,
       std::int64_t sample, Stores* stores)
      : mechanism_(mechanism),
        settings_(settings),
        stores_(stores),
        m_(mechanism.contacts()),
        u_(mechanism.jacobian * mechanism.velocity),
        size_(u_.cwiseAbs().maxCoeff()),
        draws_(m_, settings.seed, problem, sample) {
    for (int i = 0; i < m_; ++i) {
      const double own = mechanism.delassus(i, i);
      if (own > 0.0) longest_ = std::max(longest_, size_ / own);
    }
    if (longest_ == 0.0) longest_ = 1.0;
    u_ = (u_.array().abs() <= kRounding * size_).select(0.0, u_);
    result_.impulse = Vector::Zero(2 * m_);
    result_.velocity = mechanism.velocity;
  }

  Trajectory operator()(bool keep_path) {
    record(keep_path);
    const int most = stores_ != nullptr ? kMostBounces : kMostPieces;
    while (unfinished() && result_.steps < most) {
      if (!(draws_.left > 0.0)) begin_stretch();
      if (draws_.policy) draws_.apply_policy(pushers(false), states());
      const std::optional<Motion> motion = next_motion();
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
  [[nodiscard]] bool filled(int i) const { return stores_ != nullptr && stores_->filled(i); }
  [[nodiscard]] bool may_push(int i) const { return u_[i] <= 0.0 || filled(i); }
  [[nodiscard]] bool unfinished() const {
    for (int i = 0; i < m_; ++i) {
      if (u_[i] < 0.0 || filled(i)) return true;
    }
    return false;
  }
  [[nodiscard]] Vector pushers(bool held) const {
    return stores_ != nullptr ? stores_->pushers(u_, draws_, held, size_) : u_;
  }

  // What a policy knows the contacts' states by.
  [[nodiscard]] std::vector<int> states() const {
    std::vector<int> states;
    for (int i = 0; i < m_; ++i) {
      const ContactSigns signs = signs_of(u_, m_, i);
      const int slip = u_[m_ + i] > 0.0 ? 1 : (u_[m_ + i] < 0.0 ? -1 : 0);
      if (filled(i)) {
        states.push_back((signs.normal > 0 ? 11 : 8) + slip);
      } else {
        states.push_back(signs.normal > 0 ? 0 : (signs.normal < 0 ? 5 : 2) + slip);
      }
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
    const int pieces = stores_ != nullptr ? result_.steps : 0;
    const int longer = std::min(pieces / kPiecesOfLength, kMostDoublings);
    draws_.next_stretch(pushers(false), std::ldexp(longest_, longer),
                        stores_ != nullptr ? kHalvingsOfStores : kHalvings);
    events_ = 0;
    cycles_.clear();
  }

  [[nodiscard]] std::optional<Motion> next_motion() const {
    const Vector able = pushers(true);
    std::vector<std::vector<Part>> choices;
    unsigned count = 1;
    for (int i = 0; i < m_; ++i) {
      choices.push_back(options(signs_of(able, m_, i)));
      count *= static_cast<unsigned>(choices.back().size());
    }
    for (unsigned tried = 0; tried < count; ++tried) {
      unsigned number = (draws_.first + tried) % count;
      std::vector<Part> parts;
      for (const std::vector<Part>& own : choices) {
        parts.push_back(own[number % own.size()]);
        number /= static_cast<unsigned>(own.size());
      }
      std::optional<Motion> motion = solved(parts);
      if (motion && holds(parts, able, *motion)) return motion;
    }
    return std::nullopt;
  }

  // Impulses of a mode: given ones, and combinations of `free` columns that make `rows` of u rest.
  [[nodiscard]] std::optional<Motion> solved(const std::vector<Part>& parts) const {
    const int rows = 2 * m_;
    Vector given = Vector::Zero(rows);
    std::vector<Vector> free;
    std::vector<int> resting;
    for (int i = 0; i < m_; ++i) {
      const Part& part = parts[static_cast<std::size_t>(i)];
      if (part.push == Push::none) continue;
      const Vector push =
          Vector::Unit(rows, i) - part.slip * mechanism_.friction[i] * Vector::Unit(rows, m_ + i);
      if (part.push == Push::full) given += draws_.weight[i] * push;
      if (part.push == Push::held) free.push_back(push), resting.push_back(i);
      if (part.slip == 0) free.push_back(Vector::Unit(rows, m_ + i)), resting.push_back(m_ + i);
    }
    const auto count = static_cast<int>(free.size());
    Eigen::MatrixXd system(count, count);
    for (int column = 0; column < count; ++column) {
      const Vector response = mechanism_.delassus * free[static_cast<std::size_t>(column)];
      for (int row = 0; row < count; ++row) {
        system(row, column) = response[resting[static_cast<std::size_t>(row)]];
      }
    }
    // A column that those before it span moves nothing of its own.
    Eigen::MatrixXd kept(count, 0);
    std::vector<int> columns;
    for (int column = 0; column < count; ++column) {
      Eigen::VectorXd rest = system.col(column);
      if (kept.cols() > 0) rest -= kept * kept.colPivHouseholderQr().solve(rest);
      if (!(rest.norm() > kVanishing * system.col(column).norm())) continue;
      kept.conservativeResize(Eigen::NoChange, kept.cols() + 1);
      kept.rightCols(1) = system.col(column);
      columns.push_back(column);
    }
    Motion motion{given, {}};
    if (!columns.empty()) {
      const Vector moved = mechanism_.delassus * given;
      Eigen::VectorXd right(count);
      for (int row = 0; row < count; ++row)
        right[row] = -moved[resting[static_cast<std::size_t>(row)]];
      const Eigen::VectorXd shares = kept.colPivHouseholderQr().solve(right);
      for (std::size_t c = 0; c < columns.size(); ++c) {
        motion.impulse += shares[static_cast<int>(c)] * free[static_cast<std::size_t>(columns[c])];
      }
    }
    motion.rate = mechanism_.delassus * motion.impulse;
    const Vector terms = mechanism_.delassus.cwiseAbs() * motion.impulse.cwiseAbs();
    for (const int row : resting) {
      if (!(std::abs(motion.rate[row]) <= kVanishing * terms[row])) return std::nullopt;
      motion.rate[row] = 0.0;
    }
    motion.rate = (motion.rate.array().abs() <= kRounding * terms.array()).select(0.0, motion.rate);
    return motion;
  }

  // Whether the signs of a mode's solution are the mode's.
  [[nodiscard]] bool holds(const std::vector<Part>& parts, const Vector& able,
                           Motion& motion) const {
    bool pushed = false;
    for (int i = 0; i < m_; ++i) {
      const Part& part = parts[static_cast<std::size_t>(i)];
      const ContactSigns signs = signs_of(able, m_, i);
      double& normal = motion.impulse[i];
      double& tangent = motion.impulse[m_ + i];
      const double weight = draws_.weight[i];
      if (part.push == Push::none) {
        if (signs.normal == 0 && motion.rate[i] < 0.0) return false;
        continue;
      }
      if (part.push == Push::full && signs.normal == 0 && motion.rate[i] > 0.0) return false;
      if (part.push == Push::held) {
        if (!(normal >= -kRounding * weight && normal <= weight * (1.0 + kRounding))) return false;
        if (normal < 0.0) normal = tangent = 0.0;
      }
      pushed = pushed || normal > 0.0;
      if (signs.slip != 0) continue;
      const double limit = mechanism_.friction[i] * normal;
      if (part.slip == 0) {
        if (!(std::abs(tangent) <= limit * (1.0 + kRounding))) return false;
        tangent = std::clamp(tangent, -limit, limit);
      } else if (part.slip * motion.rate[m_ + i] < 0.0) {
        return false;
      }
    }
    return pushed;
  }

  // To the first zero of a contact velocity that counts, to the first store that is empty, or to
  // the stretch's end.
  void move(const Motion& motion) {
    std::vector<double> until(2 * static_cast<std::size_t>(m_),
                              std::numeric_limits<double>::infinity());
    for (int k = 0; k < 2 * m_; ++k) {
      const bool separates = k >= m_ && !may_push(k - m_);
      if (!separates && u_[k] * motion.rate[k] < 0.0) {
        until[static_cast<std::size_t>(k)] = -u_[k] / motion.rate[k];
      }
    }
    const auto first = std::min_element(until.begin(), until.end());
    std::vector<double> empty;
    double soonest = *first;
    for (int i = 0; stores_ != nullptr && i < m_; ++i) {
      empty.push_back(stores_->until(i, u_[i], motion.rate[i], motion.impulse[i]));
      soonest = std::min(soonest, empty.back());
    }
    const bool event = soonest < draws_.left;
    const double length = event ? soonest : draws_.left;
    if (stores_ != nullptr && stores_->leaves_out(u_, motion.impulse, motion.rate, length)) {
      return draws_.spoil();
    }
    Vector next = u_ + length * motion.rate;
    for (int k = 0; k < 2 * m_; ++k) {
      const double own = until[static_cast<std::size_t>(k)];
      if (!std::isfinite(own)) continue;
      const bool reached = event && (own <= length * (1.0 + kTogether) ||
                                     std::abs(next[k]) <= kRounding * std::abs(u_[k]));
      if (reached || next[k] * u_[k] < 0.0) next[k] = 0.0;
    }
    if (stores_ != nullptr) {
      // work put by at a speed that is none would be missed in the books
      next = (next.array().abs() <= 0.01 * kMet * size_).select(0.0, next);
      std::vector<bool> emptied(empty.size());
      for (std::size_t i = 0; i < empty.size(); ++i) {
        emptied[i] = event && empty[i] <= length * (1.0 + kTogether);
      }
      stores_->follow(u_, next, length * motion.impulse, emptied);
    } else {
      certify(motion, next, length);
    }
    u_ = stores_ != nullptr ? stores_->rounded(next) : next;
    result_.impulse += length * motion.impulse;
    draws_.left = event ? draws_.left - length : 0.0;
    cycle_length_ += length;
    ++events_;
    if (stores_ != nullptr) return end_stretch();
    if (event && events_ > (draws_.policy ? kPolicyCycles : kCyclesFrom)) {
      watch(static_cast<int>(first - until.begin()));
    }
    if (draws_.policy && events_ >= kPolicyEvents) draws_.spoil();
  }

  // Where nothing with a weight may push any more, or the stretch goes on for long.
  void end_stretch() {
    bool able = false;
    for (int i = 0; i < m_; ++i) able = able || (draws_.weight[i] > 0.0 && may_push(i));
    if (!able && !draws_.policy) draws_.left = 0.0;
    if (events_ >= 2 * kPolicyEvents) draws_.spoil();
  }

  // (39), (40) at both ends of a piece, and that it gains no energy.
  void certify(const Motion& motion, const Vector& next, double length) {
    double wrong = 0.0;
    for (int i = 0; i < m_; ++i) {
      const double normal = motion.impulse[i], tangent = motion.impulse[m_ + i];
      const double limit = mechanism_.friction[i] * normal;
      if (normal < 0.0 || std::abs(tangent) > limit * (1.0 + 1e-12)) {
        wrong = std::numeric_limits<double>::infinity();
      }
      if (!(normal > 0.0)) continue;
      for (const Vector& u : {u_, next}) {
        wrong = std::max(wrong, u[i] / size_);
        const double slip = u[m_ + i];
        if (slip * tangent > -std::abs(slip) * limit * (1.0 - 1e-12)) {
          wrong = std::max(wrong, std::abs(slip) / size_);
        }
      }
    }
    const double work = 0.5 * length * motion.impulse.dot(u_ + next);
    const double energy = mechanism_.kinetic_energy(mechanism_.velocity);
    if (work >
        1e-12 * length * motion.impulse.cwiseAbs().dot((u_ + next).cwiseAbs()) + 1e-15 * energy) {
      wrong = std::max(wrong, work / energy);
    }
    result_.residual = std::max(result_.residual, wrong);
  }

  // Cycles of events between zeros of one row that repeat themselves, smaller by one ratio, end in
  // the limit of a geometric series.
  void watch(int row) {
    if (cycles_.empty()) {
      row_ = row;
      cycle_events_ = 0;
      cycle_length_ = 0.0;
      zeros_.assign(2 * static_cast<std::size_t>(m_), false);
    }
    for (int k = 0; k < 2 * m_; ++k) {
      if (u_[k] == 0.0) zeros_[static_cast<std::size_t>(k)] = true;
    }
    ++cycle_events_;
    if (row != row_) {
      if (cycle_events_ > kCyclesFrom) cycles_.clear();
      return;
    }
    cycles_.push_back({u_, result_.impulse, cycle_length_, zeros_, cycle_events_});
    zeros_.assign(2 * static_cast<std::size_t>(m_), false);
    cycle_events_ = 0;
    cycle_length_ = 0.0;
    if (cycles_.size() > 3) cycles_.pop_front();
    if (cycles_.size() == 3) take_limit();
  }

  void take_limit() {
    const Cycle &a = cycles_[0], &b = cycles_[1], &c = cycles_[2];
    const double ratio = c.length / b.length;
    if (c.zeros != b.zeros || c.events != b.events || !(ratio < kSlowest)) return;
    const Vector before = b.u - a.u, after = c.u - b.u;
    if (!((after - ratio * before).cwiseAbs().maxCoeff() <=
          kSameShape * before.cwiseAbs().maxCoeff())) {
      return;
    }
    const double more = ratio / (1.0 - ratio);
    if (!(more * c.length < draws_.left)) return;
    Vector limit = u_ + more * after;
    for (int k = 0; k < 2 * m_; ++k) {
      const bool vanishes = c.zeros[static_cast<std::size_t>(k)];
      if (vanishes ? !(std::abs(limit[k]) <= kSettled * size_) : limit[k] * u_[k] < 0.0) return;
      if (vanishes) limit[k] = 0.0;
    }
    u_ = limit;
    result_.impulse += more * (c.impulse - b.impulse);
    draws_.left -= more * c.length;
    cycles_.clear();
    ++result_.pivots;
  }

  Trajectory finished(TrajectoryStatus status) {
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

  const Mechanism& mechanism_;
  const ImpactSettings& settings_;
  Stores* stores_;
  int m_;
  Vector u_;
  double size_;
  double longest_ = 0.0;
  EventDraws draws_;
  Trajectory result_;
  int redrawn_ = 0, events_ = 0;
  std::deque<Cycle> cycles_;
  int row_ = -1, cycle_events_ = 0;
  double cycle_length_ = 0.0;
  std::vector<bool> zeros_;
};

}  // namespace

EventSimulator::EventSimulator(const Mechanism& mechanism, const ImpactSettings& settings,
                               std::uint32_t problem)
    : mechanism_(mechanism), settings_(settings), problem_(problem) {}

Trajectory EventSimulator::run(std::int64_t sample, bool keep_path) const {
  if (mechanism_.contacts() == 0) {
    Trajectory still;
    still.status = TrajectoryStatus::terminated;
    still.velocity = mechanism_.velocity;
    if (keep_path) still.path.push_back(still.velocity);
    return still;
  }
  if (!has_stores(mechanism_.problem)) {
    return Walk(mechanism_, settings_, problem_, sample, nullptr)(keep_path);
  }
  Mechanism own = mechanism_;
  Stores stores(own, settings_, problem_, sample);
  return Walk(own, settings_, problem_, sample, &stores)(keep_path);
}

}  // namespace carom::reference
