#include "reference/impact/polygon_motion.hpp"

#include <cmath>
#include <cstdint>

#include "reference/impact/event_sizes.hpp"

namespace carom::reference {

namespace {

using namespace event_sizes;

constexpr int kModes = 96;     // that are tried, ...
constexpr int kFromOne = 24;   // from one guess, ...
constexpr int kAllAtOnce = 6;  // the first of them mending every contact at once

enum class PolygonPush { none, full, held };

// One contact's part: its push, and the directions its friction mixes.
struct PolygonPart {
  PolygonPush push = PolygonPush::none;
  Arc friction;
  friend bool operator==(const PolygonPart&, const PolygonPart&) = default;
};

unsigned scatter(unsigned first, unsigned salt) {
  std::uint32_t x = (first ^ (salt * 0x9E3779B9U)) * 0x85EBCA6BU;
  x = (x ^ (x >> 13)) * 0xC2B2AE35U;
  return x ^ (x >> 16);
}

class PolygonSearch {
 public:
  PolygonSearch(const Mechanism& mechanism, const FrictionPolygon& polygon,
                const PolygonState& state, const Vector& weight, unsigned first)
      : mechanism_(mechanism),
        polygon_(polygon),
        state_(state),
        weight_(weight),
        first_(first),
        m_(mechanism.contacts()),
        parts_(static_cast<std::size_t>(m_), PolygonPart{PolygonPush::none, polygon.all()}) {
    for (int i = 0; i < m_; ++i) {
      if (idle(i)) continue;
      able_ = true;
      if (state_.u[i] == 0.0 || slip(i).count != 1) choosing_.push_back(i);
    }
  }

  std::optional<PolygonMotion> operator()() {
    if (!able_) return std::nullopt;
    for (unsigned tried = 0; tried < kModes; ++tried) {
      const bool first = tried % kFromOne == 0;
      if (first) guess_all(tried * spread_);
      const unsigned number = scatter(first_, 0x10000U + tried);
      if (!solve()) {
        if (choosing_.empty()) return std::nullopt;
        guess(choosing_[number % choosing_.size()], scatter(first_, 0x20000U + tried));
        continue;
      }
      const std::vector<PolygonPart> mended = mend(number);
      std::vector<int> broken;
      for (int i = 0; i < m_; ++i) {
        if (!(mended[at(i)] == parts_[at(i)])) broken.push_back(i);
      }
      if (broken.empty()) {
        if ((motion_.impulse.head(m_).array() > 0.0).any()) return motion_;
        if (choosing_.empty()) return std::nullopt;
        guess_all(0x30000U + tried * spread_);
      } else if (tried % kFromOne < kAllAtOnce) {
        parts_ = mended;
      } else {
        const int one = broken[number / 2 % broken.size()];
        parts_[at(one)] = mended[at(one)];
      }
    }
    return std::nullopt;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] bool idle(int i) const { return state_.u[i] > 0.0 || !(weight_[i] > 0.0); }
  [[nodiscard]] const Arc& slip(int i) const { return state_.slip[at(i)]; }
  [[nodiscard]] int tangent(int i) const { return m_ + polygon_.tangents() * i; }
  [[nodiscard]] bool sticks(const Arc& arc) const { return arc.count == polygon_.directions(); }

  // The push of contact i with friction d.
  [[nodiscard]] Vector push(int i, const Vector& d) const {
    Vector p = Vector::Unit(mechanism_.rows(), i);
    p.segment(tangent(i), polygon_.tangents()) = mechanism_.friction[i] * d;
    return p;
  }
  [[nodiscard]] Vector along(int i, const Vector& t) const {
    Vector p = Vector::Zero(mechanism_.rows());
    p.segment(tangent(i), polygon_.tangents()) = t;
    return p;
  }

  void guess_all(unsigned salt) {
    for (int i = 0; i < m_; ++i) guess(i, scatter(first_, salt + static_cast<unsigned>(i)));
  }

  void guess(int i, unsigned number) {
    if (idle(i)) return;
    const unsigned push = number % 3, kind = number / 3 % 2, which = number / 6;
    PolygonPart& part = parts_[at(i)];
    part.push = state_.u[i] < 0.0 || push == 1
                    ? PolygonPush::full
                    : (push == 0 ? PolygonPush::none : PolygonPush::held);
    part.friction = slip(i);
    if (kind == 0 || slip(i).count == 1) return;
    part.friction =
        sticks(slip(i))
            ? polygon_.arc(1 + static_cast<int>(which % static_cast<unsigned>(polygon_.arcs() - 1)))
            : Arc{(slip(i).first + static_cast<int>(which % 2)) % polygon_.directions(), 1};
  }

  // Given impulses, and combinations of `free` ones that make `resting` components of the rate 0.
  bool solve() {
    const int rows = mechanism_.rows();
    Vector given = Vector::Zero(rows);
    std::vector<Vector> free, resting;
    for (int i = 0; i < m_; ++i) {
      const auto& [push_kind, friction] = parts_[at(i)];
      if (push_kind == PolygonPush::none) continue;
      const bool stuck = sticks(friction);
      const Vector own = push(i, stuck ? Vector(Vector::Zero(polygon_.tangents()))
                                       : polygon_.direction(friction.first));
      if (push_kind == PolygonPush::full) given += weight_[i] * own;
      if (push_kind == PolygonPush::held)
        free.push_back(own), resting.push_back(Vector::Unit(rows, i));
      std::vector<Vector> tangents;
      for (int c = 0; stuck && c < polygon_.tangents(); ++c) {
        tangents.emplace_back(Vector::Unit(polygon_.tangents(), c));
      }
      if (!stuck && friction.count == 2) tangents.push_back(polygon_.edge(friction.first));
      for (const Vector& t : tangents) {
        free.push_back(along(i, t));
        resting.push_back(along(i, t));
      }
    }
    const auto count = static_cast<int>(free.size());
    Eigen::MatrixXd rest(count, rows), moved(rows, count);
    for (int a = 0; a < count; ++a) {
      rest.row(a) = resting[at(a)].transpose();
      moved.col(a) = mechanism_.delassus * free[at(a)];
    }
    const Eigen::MatrixXd system = rest * moved;
    // A column that those before it span moves nothing of its own.
    Eigen::MatrixXd kept(count, 0);
    std::vector<int> columns;
    for (int column = 0; column < count; ++column) {
      Eigen::VectorXd left = system.col(column);
      if (kept.cols() > 0) left -= kept * kept.colPivHouseholderQr().solve(left);
      if (!(left.norm() > kVanishing * system.col(column).norm())) continue;
      kept.conservativeResize(Eigen::NoChange, kept.cols() + 1);
      kept.rightCols(1) = system.col(column);
      columns.push_back(column);
    }
    motion_.impulse = given;
    if (!columns.empty()) {
      const Eigen::VectorXd shares =
          kept.colPivHouseholderQr().solve(-rest * (mechanism_.delassus * given));
      for (std::size_t c = 0; c < columns.size(); ++c) {
        motion_.impulse += shares[static_cast<int>(c)] * free[at(columns[c])];
      }
    }
    motion_.rate = mechanism_.delassus * motion_.impulse;
    // |A_ab| is at most this product, of whose size rounding is where A_ab should be 0.
    const Vector root = mechanism_.delassus.diagonal().cwiseMax(0.0).cwiseSqrt();
    terms_ = root * root.dot(motion_.impulse.cwiseAbs());
    motion_.rate =
        (motion_.rate.array().abs() <= kRounding * terms_.array()).select(0.0, motion_.rate);
    for (int a = 0; a < count; ++a) {
      const Vector& row = resting[at(a)];
      const double size =
          terms_.dot((row.array() != 0.0).select(Vector::Ones(rows), Vector::Zero(rows)));
      const double left = row.dot(motion_.rate);
      if (!(std::abs(left) <= kVanishing * size)) return false;
      motion_.rate -= left * row;
    }
    return true;
  }

  // Parts under which the broken laws of the solved mode would hold by themselves.
  std::vector<PolygonPart> mend(unsigned number) {
    std::vector<PolygonPart> next = parts_;
    motion_.slip.assign(static_cast<std::size_t>(m_), polygon_.all());
    for (int i = 0; i < m_; ++i) {
      if (state_.u[i] > 0.0) continue;
      const int t = tangent(i), size = polygon_.tangents();
      const Arc moving = polygon_.after(slip(i), motion_.rate.segment(t, size),
                                        kRounding * terms_.segment(t, size).sum());
      motion_.slip[at(i)] = moving;
      if (idle(i)) continue;
      PolygonPart& part = next[at(i)];
      const bool touches = state_.u[i] == 0.0;
      double& normal = motion_.impulse[i];
      if (part.push == PolygonPush::none) {
        if (touches && motion_.rate[i] < 0.0) {
          part = {PolygonPush::held, sticks(slip(i)) && number % 2 == 0 ? moving : slip(i)};
        }
        continue;
      }
      if (part.push == PolygonPush::full && touches && motion_.rate[i] > 0.0)
        part.push = PolygonPush::held;
      if (part.push == PolygonPush::held && parts_[at(i)].push == PolygonPush::held) {
        if (!(normal >= -kRounding * weight_[i])) {
          part.push = PolygonPush::none;
        } else if (!(normal <= weight_[i] * (1.0 + kRounding))) {
          part.push = PolygonPush::full;
        } else if (normal <= kRounding * weight_[i]) {  // no push: no friction either
          const double slight = kRounding * (1.0 + mechanism_.friction[i]) * weight_[i];
          if (motion_.impulse.segment(t, size).cwiseAbs().maxCoeff() > slight) {
            part.push = PolygonPush::none;
          } else {
            motion_.impulse.segment(t, size).setZero();
            normal = 0.0;
          }
        }
      }
      if (part.push == parts_[at(i)].push && slip(i).count != 1) {
        part.friction = mended_friction(i, moving);
      }
    }
    return next;
  }

  [[nodiscard]] Arc mended_friction(int i, const Arc& moving) const {
    const Arc now = parts_[at(i)].friction;
    const Vector friction = motion_.impulse.segment(tangent(i), polygon_.tangents());
    const double limit = mechanism_.friction[i] * motion_.impulse[i];
    if (sticks(now)) return polygon_.nearest(friction, limit, kRounding);
    const int k = polygon_.directions();
    const int last = (now.first + now.count - 1) % k;
    if (now.count == 2) {
      const double whole =
          limit * (polygon_.direction(last) - polygon_.direction(now.first)).norm();
      const double share =
          polygon_.edge(now.first).dot(friction - limit * polygon_.direction(now.first));
      if (!(share >= -kRounding * whole)) return {now.first, 1};
      if (!(share <= whole * (1.0 + kRounding))) return {last, 1};
    }
    // Friction is a mixture of directions that oppose the motion.
    if (polygon_.contains(moving, now.first) && polygon_.contains(moving, last)) return now;
    if (sticks(slip(i)) && now.count == 1 && moving.count == 1 && polygon_.tangents() > 1) {
      if ((now.first + 1) % k == moving.first) return {now.first, 2};
      if ((moving.first + 1) % k == now.first) return {moving.first, 2};
    }
    return slip(i);
  }

  const Mechanism& mechanism_;
  const FrictionPolygon& polygon_;
  const PolygonState& state_;
  const Vector& weight_;
  unsigned first_;
  int m_;
  unsigned spread_ = m_ > 8 ? 16U : 8U;  ///< numbers of one guess
  bool able_ = false;
  std::vector<int> choosing_;
  std::vector<PolygonPart> parts_;
  PolygonMotion motion_;
  Vector terms_;
};

}  // namespace

std::optional<PolygonMotion> find_motion(const Mechanism& mechanism, const FrictionPolygon& polygon,
                                         const PolygonState& state, const Vector& weight,
                                         unsigned first) {
  return PolygonSearch(mechanism, polygon, state, weight, first)();
}

}  // namespace carom::reference
