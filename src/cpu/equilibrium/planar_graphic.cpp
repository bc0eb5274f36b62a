#include <algorithm>
#include <cmath>
#include <vector>

#include "core/constants.hpp"
#include "cpu/equilibrium/planar_edges.hpp"

// Lemma 2.3: the strip of two contacts from the intersections of their double cones, without any
// forces. The lemma balances forces across the external one only; that they add up against it, not
// along it, it takes from contacts that point upward. Here the forces' common point z is also kept
// on the right side of the chord through the two contacts, which says so for all contacts.
namespace carom::cpu {

namespace {

constexpr double kSlack = 1e-13;

/// An interval of x; empty where lower > upper.
struct Interval {
  double lower = kInfinity;
  double upper = -kInfinity;

  [[nodiscard]] bool empty() const { return lower > upper; }
  [[nodiscard]] double length() const { return upper - lower; }
  void add(double x) {
    lower = std::min(lower, x);
    upper = std::max(upper, x);
  }
  void add(const Interval& other) {
    lower = std::min(lower, other.lower);
    upper = std::max(upper, other.upper);
  }
  [[nodiscard]] Interval clipped(double from, double to) const {
    return {std::max(lower, from), std::min(upper, to)};
  }
};

/// x X + y Y >= bound, (x, y) of unit size.
struct HalfPlane {
  double x, y, bound;

  [[nodiscard]] double excess(double px, double py) const { return x * px + y * py - bound; }
};

/// A friction cone (sign 1) or its reflection about its apex (sign -1).
class Cone {
 public:
  Cone(const PlanarEdge& a, const PlanarEdge& b, double sign) {
    // Counter-clockwise from `first` to `second`.
    const bool ordered = a.u * b.v - a.v * b.u >= 0.0;
    const PlanarEdge& first = ordered ? a : b;
    const PlanarEdge& second = ordered ? b : a;
    add_edge(first, sign);
    add_edge(second, sign);
    add({-first.v * sign, first.u * sign, 0.0}, a);
    add({second.v * sign, -second.u * sign, 0.0}, a);
    // Only a cone without width needs it.
    add({(first.u + second.u) * sign, (first.v + second.v) * sign, 0.0}, a);
  }

  [[nodiscard]] bool has_direction(double u, double v) const {
    const double size = std::hypot(u, v);
    return std::all_of(sides_.begin(), sides_.end(), [&](const HalfPlane& side) {
      return side.x * u + side.y * v >= -kSlack * size;
    });
  }
  [[nodiscard]] const std::vector<HalfPlane>& sides() const { return sides_; }
  [[nodiscard]] const std::vector<PlanarPoint>& edges() const { return edges_; }

 private:
  void add_edge(const PlanarEdge& edge, double sign) {
    edges_.push_back({sign * edge.u, sign * edge.v});
  }
  void add(HalfPlane side, const PlanarEdge& apex) {
    const double size = std::hypot(side.x, side.y);
    side.x /= size;
    side.y /= size;
    side.bound = side.x * apex.x + side.y * apex.y;
    sides_.push_back(side);
  }

  std::vector<HalfPlane> sides_;
  std::vector<PlanarPoint> edges_;  // directions
};

/// One side of the line through two points; everything where they stand above each other, for then
/// the side says nothing.
class Chord {
 public:
  Chord(const PlanarPoint& a, const PlanarPoint& b, bool above) {
    if (std::abs(a.x - b.x) <= 1e-12 * std::abs(a.y - b.y)) return;
    const bool ordered = b.x > a.x;
    const PlanarPoint& left = ordered ? a : b;
    const PlanarPoint& right = ordered ? b : a;
    const double x = right.x - left.x;
    const double y = right.y - left.y;
    const double size = std::hypot(x, y);
    const double sign = above ? 1.0 : -1.0;
    along_ = {x / size, y / size};
    side_ = {-sign * along_.y, sign * along_.x, 0.0};
    side_.bound = side_.x * a.x + side_.y * a.y;
  }

  [[nodiscard]] const HalfPlane& side() const { return side_; }
  [[nodiscard]] const PlanarPoint& along() const { return along_; }

 private:
  HalfPlane side_{0.0, 0.0, -1.0};
  PlanarPoint along_{0.0, 0.0};
};

/// Strip that the intersection of two cones spans on one side of a chord.
Interval spanned(const Cone& a, const Cone& b, const Chord& chord, double size) {
  std::vector<HalfPlane> sides = a.sides();
  sides.insert(sides.end(), b.sides().begin(), b.sides().end());
  sides.push_back(chord.side());
  Interval range;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    for (std::size_t j = i + 1; j < sides.size(); ++j) {
      const double cross = sides[i].x * sides[j].y - sides[i].y * sides[j].x;
      if (std::abs(cross) <= kSlack) continue;
      const double x = (sides[i].bound * sides[j].y - sides[i].y * sides[j].bound) / cross;
      const double y = (sides[i].x * sides[j].bound - sides[i].bound * sides[j].x) / cross;
      // A flat crossing is known no better than its own size allows.
      const double slack = 8.0 * kSlack * (size + (std::abs(x) + std::abs(y)));
      const bool inside = std::all_of(sides.begin(), sides.end(), [&](const HalfPlane& side) {
        return side.excess(x, y) >= -slack;
      });
      if (inside) range.add(x);
    }
  }
  if (range.empty()) return range;
  const auto recede = [&](const PlanarPoint& direction) {
    const double along = chord.side().x * direction.x + chord.side().y * direction.y;
    if (!a.has_direction(direction.x, direction.y) || !b.has_direction(direction.x, direction.y) ||
        along < -kSlack * std::hypot(direction.x, direction.y)) {
      return;
    }
    if (direction.x > 0.0) range.upper = kInfinity;
    if (direction.x < 0.0) range.lower = -kInfinity;
  };
  for (const PlanarPoint& direction : a.edges()) recede(direction);
  for (const PlanarPoint& direction : b.edges()) recede(direction);
  recede(chord.along());
  recede({-chord.along().x, -chord.along().y});
  return range;
}

/// Part of `range` between two lines; nothing where they only touch.
void add_part(Interval& region, const Interval& range, double from, double to, double slack) {
  if (range.empty()) return;
  const Interval part = range.clipped(from, to);
  if (part.empty()) return;
  const bool whole =
      range.length() <= slack && range.lower > from + slack && range.upper < to - slack;
  if (part.length() > slack || whole) region.add(part);
}

}  // namespace

GraphicRange graphic_range(const PlanarScene& scene) {
  Interval region;
  const std::size_t count = scene.points.size();
  std::vector<Cone> cones, reflected;
  std::vector<bool> upright;
  for (std::size_t i = 0; i < count; ++i) {
    const PlanarEdge& a = scene.edges[2 * i];
    const PlanarEdge& b = scene.edges[2 * i + 1];
    cones.emplace_back(a, b, 1.0);
    reflected.emplace_back(a, b, -1.0);
    upright.push_back(cones.back().has_direction(0.0, 1.0));
    // A contact whose cone holds the force's direction bears it without others.
    if (upright.back()) region.add(scene.points[i].x);
  }
  const double slack = 1e-12 * scene.size;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i + 1; j < count; ++j) {
      const PlanarPoint& pi = scene.points[i];
      const PlanarPoint& pj = scene.points[j];
      if (std::hypot(pi.x - pj.x, pi.y - pj.y) <= slack) {
        // One point with the cone that both span.
        PlanarBasis basis;
        for (std::size_t a = 2 * i; a < 2 * i + 2; ++a) {
          for (std::size_t b = 2 * j; b < 2 * j + 2; ++b) {
            if (make_basis(scene.edges[a], scene.edges[b], basis)) region.add(pi.x);
          }
        }
        continue;
      }
      const double low = std::min(pi.x, pj.x);
      const double high = std::max(pi.x, pj.x);
      const Chord above(pi, pj, true);
      const Chord below(pi, pj, false);
      const double size = scene.size;
      // S1++ and S1-- inside S2.
      add_part(region, spanned(cones[i], cones[j], above, size), low, high, slack);
      add_part(region, spanned(reflected[i], reflected[j], below, size), low, high, slack);
      // S1+- and S1-+ outside: z lies above the chord where the pushing contact is the nearer one.
      const bool i_left = pi.x < pj.x;
      const Chord& near_left = i_left ? above : below;
      const Chord& near_right = i_left ? below : above;
      const bool stacked = high - low <= 1e-12 * std::abs(pi.y - pj.y);
      if (!stacked || pi.y < pj.y) {
        add_part(region, spanned(cones[i], reflected[j], near_left, size), -kInfinity, low, slack);
        add_part(region, spanned(cones[i], reflected[j], near_right, size), high, kInfinity, slack);
      }
      if (!stacked || pi.y > pj.y) {
        add_part(region, spanned(reflected[i], cones[j], near_right, size), -kInfinity, low, slack);
        add_part(region, spanned(reflected[i], cones[j], near_left, size), high, kInfinity, slack);
      }
    }
  }
  return {region.lower, region.upper};
}

}  // namespace carom::cpu
