#include "reference/impact/events.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "reference/impact/event_sizes.hpp"
#include "reference/impact/event_walk.hpp"

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

class PlanarWalk : public EventWalk {
 public:
  using EventWalk::EventWalk;

 private:
  [[nodiscard]] std::vector<int> states() const override {
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

  bool step() override {
    const std::optional<Motion> motion = next_motion();
    if (motion) move(*motion);
    return motion.has_value();
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
      const bool separates = k >= m_ && leaves(k - m_);
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
      // work stored at a speed that counts as zero would be missed in the energy balance
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
    finish_piece(motion.impulse, length, event, static_cast<int>(first - until.begin()));
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
    certify_energy(motion.impulse, next, length, wrong);
  }

  void note_vanished(Vanished& vanished) const override {
    for (int i = 0; i < m_; ++i) {
      if (u_[i] == 0.0) vanished[at(i)].insert(-1);
      if (u_[m_ + i] == 0.0) vanished[at(i)].insert(0);
    }
  }

  bool settle(const Vanished& vanished, const Vector& limit) override {
    Vector next = limit;
    for (int k = 0; k < 2 * m_; ++k) {
      const bool vanishes = vanished[at(k % m_)].count(k < m_ ? -1 : 0) != 0;
      if (vanishes ? !(std::abs(next[k]) <= kSettled * size_) : next[k] * u_[k] < 0.0) return false;
      if (vanishes) next[k] = 0.0;
    }
    u_ = next;
    return true;
  }
};

}  // namespace

Trajectory follow_planar_events(const Mechanism& mechanism, const ImpactSettings& settings,
                                std::uint32_t problem, std::int64_t sample, bool keep_path) {
  return walk_events<PlanarWalk>(mechanism, settings, problem, sample, keep_path);
}

}  // namespace carom::reference
