#include <carom/equilibrium_three_contacts.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include <carom/equilibrium_spatial.hpp>
#include <carom/error.hpp>
#include <carom/kernels/orthonormal_frame.hpp>

#include "message.hpp"

namespace carom {

namespace {

using Point = std::array<double, 2>;
/// More edges than a piece of P can have: those of the square, three lines and three sectors.
constexpr int kMaxEdges = 16;
/// Of the region's area: distance of the polygons whose directions are taken.
constexpr double kAreaShare = 3e-7;
constexpr double kNone = -std::numeric_limits<double>::infinity();

double cross(const Point& a, const Point& b) { return a[0] * b[1] - a[1] * b[0]; }
Point minus(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1]}; }

std::vector<Point> clip(const std::vector<Point>& polygon, const Point& normal, double at) {
  std::vector<Point> kept;
  const std::size_t n = polygon.size();
  for (std::size_t i = 0; i < n; ++i) {
    const Point& a = polygon[i];
    const Point& b = polygon[(i + 1) % n];
    const double over_a = normal[0] * a[0] + normal[1] * a[1] - at;
    const double over_b = normal[0] * b[0] + normal[1] * b[1] - at;
    if (over_a <= 0.0) kept.push_back(a);
    if ((over_a < 0.0 && over_b > 0.0) || (over_a > 0.0 && over_b < 0.0)) {
      const double t = over_a / (over_a - over_b);
      kept.push_back({a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])});
    }
  }
  return kept;
}

std::vector<Point> hull(std::vector<Point> points) {
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  std::vector<Point> chain;
  const auto extend = [&](const Point& c, std::size_t floor) {
    while (chain.size() >= floor + 2 && cross(minus(chain.back(), chain[chain.size() - 2]),
                                              minus(c, chain[chain.size() - 2])) <= 0.0) {
      chain.pop_back();
    }
    chain.push_back(c);
  };
  for (const Point& c : points) extend(c, 0);
  const std::size_t lower = chain.empty() ? 0 : chain.size() - 1;
  for (std::size_t i = points.size(); i-- > 0;) {
    if (i + 1 < points.size()) extend(points[i], lower);
  }
  if (chain.size() > 1) chain.pop_back();
  return chain;
}

double area(const std::vector<Point>& polygon) {
  double twice = 0.0;
  for (std::size_t i = 2; i < polygon.size(); ++i) {
    twice += cross(minus(polygon[i - 1], polygon[0]), minus(polygon[i], polygon[0]));
  }
  return 0.5 * twice;
}

std::vector<double> flat(const std::vector<Point>& polygon) {
  std::vector<double> values;
  for (const Point& p : polygon) values.insert(values.end(), p.begin(), p.end());
  return values;
}

/// A contact in (u, v, e), about the contacts' mean.
struct Foot {
  Point at;
  double height;
  double normal[3];
  double friction;
  bool vertical;  ///< its cone contains e
};

/// A convex piece of P with the signs of sigma lambda_i.
struct Piece {
  std::vector<Point> polygon;
  std::array<double, 3> sign;
  double sigma = 1.0;
};

class ThreeContacts {
 public:
  ThreeContacts(const Posture& posture, const ThreeContactSettings& settings)
      : settings_(settings), posture_(posture) {
    set_up(posture);
  }

  ThreeContactRegion run() {
    ThreeContactRegion region;
    for (const double sigma : {1.0, -1.0}) {
      for (int cell = 0; cell < 8; ++cell) {
        Piece piece = piece_of(sigma, cell);
        if (piece.polygon.size() < 3) continue;
        (sigma > 0.0 ? region.plus : region.minus).push_back(flat(shifted(piece.polygon)));
        pieces_.push_back(std::move(piece));
      }
    }
    sample();
    std::vector<Point> edge_points;
    for (const Sample& at : samples_) {
      if (at.type != CriticalType::interior) edge_points.push_back(at.image);
    }
    std::vector<Point> conservative = hull(edge_points);
    std::vector<Point> all = conservative;
    for (int j = 0; j < settings_.directions && !samples_.empty(); ++j) {
      const double angle = 2.0 * std::numbers::pi * j / settings_.directions;
      const Sample best = search({std::cos(angle), std::sin(angle)});
      all.push_back(best.image);
      const Point image = shifted({best.image})[0];
      const Point r = shifted({best.r})[0];
      region.boundary.push_back(
          {best.type, {std::cos(angle), std::sin(angle)}, {r[0], r[1]}, {image[0], image[1]}});
    }
    for (const BoundaryPoint& at : seeded()) {
      all.push_back({at.point[0] - home_[0], at.point[1] - home_[1]});
      region.boundary.push_back(at);
    }
    const std::vector<Point> exact = hull(all);
    region.conservative = flat(shifted(conservative));
    region.searched = flat(shifted(exact));
    region.area_conservative = area(conservative);
    region.area_searched = area(exact);
    return region;
  }

 private:
  struct Sample {
    CriticalType type;
    int piece;
    int edge;
    int roots;  ///< bit i: the upper root of zeta_i
    Point r;
    Point image;
    double step;  ///< spacing of the samples around
  };

  void set_up(const Posture& posture) {
    if (posture.dimension != 3 || posture.contacts != 3) {
      throw InvalidInput("contacts is " + std::to_string(posture.contacts) + " in dimension " +
                         std::to_string(posture.dimension) +
                         ": the parametrisation is that of three spatial contacts");
    }
    validate(posture);
    double wrench[6] = {0.0, 0.0, -1.0, 0.0, 0.0, 0.0};
    std::copy(posture.wrench.begin(), posture.wrench.end(), wrench);
    const double force = std::hypot(wrench[0], wrench[1], wrench[2]);
    double axis[3][3];
    for (int j = 0; j < 3; ++j) axis[2][j] = -wrench[j] / force;
    kernels::orthonormal_frame(axis[2], axis[0], axis[1]);
    double torque[3];
    for (int a = 0; a < 3; ++a) torque[a] = kernels::dot3(axis[a], wrench + 3) / force;
    if (!(std::abs(torque[2]) <= 1e-12)) {
      throw InvalidInput("wrench has the torque " + message::number(torque[2]) +
                         " about its force, per unit of it: must be 0");
    }
    double mean[3] = {};
    for (std::size_t i = 0; i < 9; ++i) mean[i % 3] += posture.position[i] / 3.0;
    home_ = {kernels::dot3(axis[0], mean), kernels::dot3(axis[1], mean)};
    offset_ = {-torque[1], torque[0]};
    for (std::size_t i = 0; i < 3; ++i) {
      double arm[3];
      for (std::size_t j = 0; j < 3; ++j) arm[j] = posture.position[3 * i + j] - mean[j];
      const double* n = posture.normal.data() + 3 * i;
      Foot& foot = foot_[i];
      foot.at = {kernels::dot3(axis[0], arm), kernels::dot3(axis[1], arm)};
      foot.height = kernels::dot3(axis[2], arm);
      for (int a = 0; a < 3; ++a) std::copy(axis[a], axis[a] + 3, axis_[a]);
      for (int a = 0; a < 3; ++a) foot.normal[a] = kernels::dot3(axis[a], n);
      foot.friction = posture.friction[i];
      const double side = std::hypot(foot.normal[0], foot.normal[1]);
      foot.vertical = side <= foot.friction * foot.normal[2];
      if (!(foot.normal[2] - foot.friction * side >= 0.0) || !(foot.normal[2] > 0.0)) {
        throw InvalidInput("normal[" + std::to_string(i) + "] with friction " +
                           message::number(foot.friction) +
                           " is not upward pointing: no force of its cone may point along the "
                           "external force");
      }
      extent_ = std::max(extent_, std::hypot(foot.at[0], foot.at[1]));
    }
    const double spread = cross(minus(foot_[1].at, foot_[0].at), minus(foot_[2].at, foot_[0].at));
    if (!(std::abs(spread) > 1e-9 * extent_ * extent_)) {
      throw InvalidInput("position: the three contacts lie in one plane with the external force");
    }
  }

  /// lambda_i(r) of (5).
  [[nodiscard]] double lambda(std::size_t i, const Point& r) const {
    const Point a = minus(r, foot_[(i + 1) % 3].at);
    const Point b = minus(foot_[(i + 2) % 3].at, foot_[(i + 1) % 3].at);
    return cross(b, a);
  }

  [[nodiscard]] Piece piece_of(double sigma, int cell) const {
    const double w = settings_.reach * extent_;
    Piece piece{{{-w, -w}, {w, -w}, {w, w}, {-w, w}}, {}, sigma};
    for (std::size_t i = 0; i < 3; ++i) {
      const double s = (cell >> i & 1) != 0 ? 1.0 : -1.0;  // sign of lambda_i
      piece.sign[i] = sigma * s;
      // s lambda_i(r) >= 0 as -s (gradient . r) <= s lambda_i(0).
      const double zero = lambda(i, {0.0, 0.0});
      const Point gradient = {lambda(i, {1.0, 0.0}) - zero, lambda(i, {0.0, 1.0}) - zero};
      piece.polygon = clip(piece.polygon, {-s * gradient[0], -s * gradient[1]}, s * zero);
      // The cone's projection: everything, or a sector around the normal's.
      const Foot& foot = foot_[i];
      if (foot.vertical) continue;
      const double side = std::hypot(foot.normal[0], foot.normal[1]);
      const double half =
          std::asin(std::min(1.0, foot.friction / std::hypot(1.0, foot.friction) / side));
      const double middle = std::atan2(foot.normal[1], foot.normal[0]);
      for (const double edge : {1.0, -1.0}) {
        const double angle = middle + edge * (half + 0.5 * std::numbers::pi);
        const Point normal = {piece.sign[i] * std::cos(angle), piece.sign[i] * std::sin(angle)};
        piece.polygon =
            clip(piece.polygon, normal, normal[0] * foot.at[0] + normal[1] * foot.at[1]);
      }
    }
    // Samples lie denser towards the first vertex: the one nearest to the contacts.
    const auto nearest = std::min_element(piece.polygon.begin(), piece.polygon.end(),
                                          [](const Point& a, const Point& b) {
                                            return std::hypot(a[0], a[1]) < std::hypot(b[0], b[1]);
                                          });
    std::rotate(piece.polygon.begin(), nearest, piece.polygon.end());
    return piece;
  }

  /// The roots z of (10) for the horizontal direction h; false where no force has it.
  static bool roots(const Foot& foot, const Point& h, double& low, double& high) {
    // mu^2 (n . f)^2 = |f|^2 - (n . f)^2 with f = h + z e.
    const double c = 1.0 + foot.friction * foot.friction;
    const double side = foot.normal[0] * h[0] + foot.normal[1] * h[1];
    const double up = foot.normal[2];
    const double qa = c * up * up - 1.0;
    const double qb = 2.0 * c * up * side;
    const double qc = c * side * side - h[0] * h[0] - h[1] * h[1];
    double discriminant = qb * qb - 4.0 * qa * qc;
    // On the edges of P the roots meet.
    if (discriminant < 0.0 && discriminant > -1e-13 * (qb * qb + std::abs(4.0 * qa * qc))) {
      discriminant = 0.0;
    }
    if (!(discriminant >= 0.0)) return false;
    const double root = std::sqrt(discriminant);
    high = std::numeric_limits<double>::infinity();
    if (foot.vertical) {
      // The cone opens upwards: one root bounds it from below.
      if (!(qa > 1e-14)) return false;
      low = (-qb + root) / (2.0 * qa);
      return true;
    }
    low = (-qb + root) / (2.0 * qa);
    high = (-qb - root) / (2.0 * qa);
    if (low > high) std::swap(low, high);
    return side + high * up >= 0.0;
  }

  /// Phi of (9) with each zeta_i at one of its roots; false where there are no such forces.
  bool image(const Piece& piece, const Point& r, int choice, Point& out) const {
    double weight = 0.0;
    out = {0.0, 0.0};
    // Rounding may put r beyond a line through two contacts: not by more than the forces feel.
    std::array<double, 3> size{};
    double most = 0.0;
    double beyond = 0.0;
    for (std::size_t i = 0; i < 3; ++i) {
      size[i] = piece.sigma * piece.sign[i] * lambda(i, r);
      const double pull = size[i] * std::hypot(r[0] - foot_[i].at[0], r[1] - foot_[i].at[1]);
      most = std::max(most, pull);
      beyond = std::max(beyond, -pull);
      size[i] = std::max(size[i], 0.0);
    }
    if (!(beyond <= 1e-12 * most)) return false;
    for (std::size_t i = 0; i < 3; ++i) {
      const Foot& foot = foot_[i];
      const Point h = {piece.sign[i] * (r[0] - foot.at[0]), piece.sign[i] * (r[1] - foot.at[1])};
      // r = x_i is no point of P: there all horizontal forces vanish.
      if (!(std::hypot(h[0], h[1]) > 1e-7 * extent_)) return false;
      double low = 0.0;
      double high = 0.0;
      if (!roots(foot, h, low, high)) return false;
      const double z = (choice >> i & 1) != 0 ? high : low;
      if (!std::isfinite(z)) return false;
      weight += size[i] * z;
      out[0] += size[i] * (foot.at[0] * z - foot.height * h[0]);
      out[1] += size[i] * (foot.at[1] * z - foot.height * h[1]);
    }
    if (!(weight > 1e-10 * extent_ * extent_ * extent_)) return false;
    for (std::size_t c = 0; c < 2; ++c) out[c] = out[c] / weight + offset_[c];
    return true;
  }

  static bool contains(const Piece& piece, const Point& r) {
    const std::size_t n = piece.polygon.size();
    for (std::size_t i = 0; i < n; ++i) {
      const Point& a = piece.polygon[i];
      if (cross(minus(piece.polygon[(i + 1) % n], a), minus(r, a)) < 0.0) return false;
    }
    return true;
  }
  [[nodiscard]] Point on_edge(const Piece& piece, int edge, double s) const {
    const Point& a = piece.polygon[static_cast<std::size_t>(edge)];
    const Point& b = piece.polygon[static_cast<std::size_t>(edge + 1) % piece.polygon.size()];
    return {a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])};
  }

  /// Two loaded contacts alone: opposite horizontal forces along their line, whatever the third
  /// contact's cone is.
  void sample_pairs() {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t i = 0; i < 3; ++i) {
      const Foot& a = foot_[i];
      const Foot& b = foot_[(i + 1) % 3];
      const Point line = minus(b.at, a.at);
      const double length = std::hypot(line[0], line[1]);
      for (int choice = 0; choice < 8; ++choice) {
        const double sign = (choice & 4) != 0 ? 1.0 : -1.0;
        const Point h = {sign * line[0] / length, sign * line[1] / length};
        double low[2];
        double high[2];
        if (!roots(a, h, low[0], high[0]) || !roots(b, {-h[0], -h[1]}, low[1], high[1])) continue;
        const double za = (choice & 1) != 0 ? high[0] : low[0];
        const double zb = (choice & 2) != 0 ? high[1] : low[1];
        const double weight = za + zb;
        if (!std::isfinite(weight) || !(weight > 1e-10)) continue;
        Point x;
        for (std::size_t c = 0; c < 2; ++c) {
          x[c] = (a.at[c] * za + b.at[c] * zb - (a.height - b.height) * h[c]) / weight + offset_[c];
        }
        samples_.push_back({CriticalType::edge, -1, -1, choice, {nan, nan}, x, 0.0});
      }
    }
  }

  void sample() {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const Foot& foot : foot_) {
      if (!foot.vertical) continue;
      samples_.push_back({CriticalType::contact,
                          -1,
                          -1,
                          0,
                          {nan, nan},
                          {foot.at[0] + offset_[0], foot.at[1] + offset_[1]},
                          0.0});
    }
    sample_pairs();
    const int n = settings_.grid;
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      const Piece& piece = pieces_[p];
      const auto add = [&](CriticalType type, int edge, const Point& r, double step) {
        for (int choice = 0; choice < 8; ++choice) {
          Point x;
          if (!image(piece, r, choice, x)) continue;
          samples_.push_back({type, static_cast<int>(p), edge, choice, r, x, step});
        }
      };
      const int edges = static_cast<int>(piece.polygon.size());
      for (int e = 0; e < edges; ++e) {
        for (int j = 0; j <= n; ++j) {
          const double s = static_cast<double>(j) / n;
          const bool first = e + 1 < edges;
          const double at = e == 0 ? s * s * s : (first ? s : 1.0 - s * s * s);
          add(CriticalType::edge, e, on_edge(piece, e, at), 1.0 / n);
        }
      }
      // Mixtures of three vertices cover the piece, finer towards its first one.
      for (int e = 1; e + 1 < edges; ++e) {
        for (int i = 1; i < n; ++i) {
          for (int j = 1; j < n; ++j) {
            const double s = std::pow(static_cast<double>(i) / n, 3);
            const double t = static_cast<double>(j) / n;
            const Point far = on_edge(piece, e, t);
            const Point& apex = piece.polygon[0];
            const Point r = {apex[0] + s * (far[0] - apex[0]), apex[1] + s * (far[1] - apex[1])};
            add(CriticalType::interior, -1, r,
                std::hypot(far[0] - apex[0], far[1] - apex[1]) * (s + 0.1 / n) / n);
          }
        }
      }
    }
  }

  /// The largest d . Phi: compass searches from the best interior samples, line searches from the
  /// best ones of the edges, and the contacts themselves.
  [[nodiscard]] Sample search(const Point& d) const {
    // The best sample of every branch: piece of P, roots, and edge or interior.
    std::vector<const Sample*> best(1 + 8 * kMaxEdges * pieces_.size(), nullptr);
    const auto value = [&](const Point& x) { return d[0] * x[0] + d[1] * x[1]; };
    for (const Sample& at : samples_) {
      const auto edge = static_cast<std::size_t>(std::min(at.edge + 1, kMaxEdges - 1));
      const std::size_t branch = at.piece < 0
                                     ? 0
                                     : 1 +
                                           kMaxEdges * (8 * static_cast<std::size_t>(at.piece) +
                                                        static_cast<std::size_t>(at.roots)) +
                                           edge;
      if (best[branch] == nullptr || value(at.image) > value(best[branch]->image)) {
        best[branch] = &at;
      }
    }
    Sample winner{};
    double most = kNone;
    for (const Sample* start : best) {
      if (start == nullptr) continue;
      Sample at = *start;
      if (at.type == CriticalType::interior) climb(d, at, 150);
      if (at.type == CriticalType::edge && at.piece >= 0) slide(d, at);
      if (value(at.image) > most) {
        most = value(at.image);
        winner = at;
      }
    }
    // Near the edges of P the roots of zeta make narrow ridges.
    if (winner.type == CriticalType::interior) climb(d, winner, 4000);
    return winner;
  }

  void climb(const Point& d, Sample& at, int turns) const {
    const Piece& piece = pieces_[static_cast<std::size_t>(at.piece)];
    double step = at.step;
    double here = d[0] * at.image[0] + d[1] * at.image[1];
    for (int turn = 0; turn < turns && step > 1e-10 * extent_; ++turn) {
      bool moved = false;
      for (int side = 0; side < 8 && !moved; ++side) {
        const double angle = 0.25 * std::numbers::pi * side + 0.7 * turn;
        const Point r = {at.r[0] + step * std::cos(angle), at.r[1] + step * std::sin(angle)};
        Point x;
        if (!contains(piece, r) || !image(piece, r, at.roots, x)) continue;
        const double there = d[0] * x[0] + d[1] * x[1];
        if (!(there > here)) continue;
        at.r = r;
        at.image = x;
        here = there;
        moved = true;
      }
      step *= moved ? 1.5 : 0.5;
    }
  }

  void slide(const Point& d, Sample& at) const {
    const Piece& piece = pieces_[static_cast<std::size_t>(at.piece)];
    const Point& a = piece.polygon[static_cast<std::size_t>(at.edge)];
    const Point b = on_edge(piece, at.edge, 1.0);
    const Point edge = minus(b, a);
    const double square = edge[0] * edge[0] + edge[1] * edge[1];
    if (!(square > 0.0)) return;
    double s = ((at.r[0] - a[0]) * edge[0] + (at.r[1] - a[1]) * edge[1]) / square;
    double here = d[0] * at.image[0] + d[1] * at.image[1];
    double step = 0.5 * at.step;
    for (int turn = 0; turn < 200 && step > 1e-12; ++turn) {
      bool moved = false;
      for (const double sign : {1.0, -1.0}) {
        const double next = std::clamp(s + sign * step, 0.0, 1.0);
        const Point r = on_edge(piece, at.edge, next);
        Point x;
        if (!image(piece, r, at.roots, x)) continue;
        const double there = d[0] * x[0] + d[1] * x[1];
        if (!(there > here)) continue;
        s = next;
        at.r = r;
        at.image = x;
        here = there;
        moved = true;
        break;
      }
      if (!moved) step *= 0.5;
    }
  }

  /// Directions in which the certified region's polygons differ by a small part of its area.
  [[nodiscard]] std::vector<double> region_directions(const PostureBatch& batch) const {
    SpatialSettings settings;
    settings.threads = 1;
    settings.max_vertices = kMaxSupportDirections;
    settings.area_tolerance = 1e-2 * extent_ * extent_;
    std::vector<double> directions;
    SpatialRegion region = spatial_equilibrium(batch, settings, Backend::cpu)[0];
    if (region.status != Status::solved || !(region.area_outer > 0.0)) return directions;
    settings.area_tolerance = kAreaShare * region.area_outer;
    region = spatial_equilibrium(batch, settings, Backend::cpu)[0];
    for (const RegionSupport& at : region.support) {
      directions.insert(directions.end(), at.direction, at.direction + 2);
    }
    return directions;
  }

  /// Boundary points from the support function's forces: their horizontal parts meet in r, and Phi
  /// (9) follows in closed form.
  [[nodiscard]] std::vector<BoundaryPoint> seeded() const {
    std::vector<BoundaryPoint> found;
    const PostureBatch batch = make_batch(std::span(&posture_, 1));
    const std::vector<double> directions = region_directions(batch);
    if (directions.empty()) return found;
    SpatialSettings settings;
    settings.threads = 1;
    const SupportResult answers = support(batch, directions, settings, Backend::cpu);
    for (std::size_t j = 0; j < answers.status.size(); ++j) {
      if (answers.status.data()[j] != Status::solved) continue;
      const Point d = {directions[2 * j], directions[2 * j + 1]};
      Sample best{};
      if (!from_forces(d, answers.forces.data() + 9 * j, best)) continue;
      // Rounding of the forces may put r beside an edge of P, where no force has its direction.
      const Point x = shifted({best.image})[0];
      if (d[0] * x[0] + d[1] * x[1] > answers.upper.data()[j] + 1e-10 * extent_) continue;
      const Point image = shifted({best.image})[0];
      const Point r = shifted({best.r})[0];
      found.push_back({best.type, {d[0], d[1]}, {r[0], r[1]}, {image[0], image[1]}});
    }
    return found;
  }

  bool from_forces(const Point& d, const double* forces, Sample& best) const {
    Point h[3];
    double size[3];
    for (std::size_t i = 0; i < 3; ++i) {
      h[i] = {kernels::dot3(axis_[0], forces + 3 * i), kernels::dot3(axis_[1], forces + 3 * i)};
      size[i] = std::hypot(h[i][0], h[i][1]);
    }
    // The pair of lines that meet at the largest angle.
    std::size_t first = 3;
    double steepest = 1e-9;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t j = (i + 1) % 3;
      const double sine = std::abs(cross(h[i], h[j])) / (size[i] * size[j]);
      if (sine > steepest) {
        steepest = sine;
        first = i;
      }
    }
    if (first == 3) return false;
    const std::size_t second = (first + 1) % 3;
    const double along =
        cross(minus(foot_[second].at, foot_[first].at), h[second]) / cross(h[first], h[second]);
    const Point r = {foot_[first].at[0] + along * h[first][0],
                     foot_[first].at[1] + along * h[first][1]};
    // f_i = sigma lambda_i (r - x_i) + ...: the largest of them tells sigma.
    double sigma = 1.0;
    double largest = 0.0;
    for (std::size_t i = 0; i < 3; ++i) {
      const Point arm = minus(r, foot_[i].at);
      const double along_arm = h[i][0] * arm[0] + h[i][1] * arm[1];
      if (std::abs(along_arm) <= largest) continue;
      largest = std::abs(along_arm);
      sigma = along_arm * lambda(i, r) < 0.0 ? -1.0 : 1.0;
    }
    Piece piece{};
    piece.sigma = sigma;
    for (std::size_t i = 0; i < 3; ++i) piece.sign[i] = sigma * lambda(i, r) < 0.0 ? -1.0 : 1.0;
    best = {CriticalType::interior, -1, -1, 0, r, {}, 0.0};
    double most = kNone;
    for (int choice = 0; choice < 8; ++choice) {
      Point x;
      if (!image(piece, r, choice, x) || !(d[0] * x[0] + d[1] * x[1] > most)) continue;
      most = d[0] * x[0] + d[1] * x[1];
      best.image = x;
      best.roots = choice;
    }
    return most > kNone;
  }

  [[nodiscard]] std::vector<Point> shifted(std::vector<Point> points) const {
    for (Point& p : points) p = {p[0] + home_[0], p[1] + home_[1]};
    return points;
  }

  ThreeContactSettings settings_;
  const Posture& posture_;
  double axis_[3][3] = {};
  std::array<Foot, 3> foot_{};
  Point home_{};
  Point offset_{};
  double extent_ = 0.0;
  std::vector<Piece> pieces_;
  std::vector<Sample> samples_;
};

}  // namespace

void ThreeContactSettings::validate() const {
  const auto count = [](const char* field, int value, int low, int high) {
    if (value < low || value > high) {
      throw InvalidInput(std::string(field) + " is " + std::to_string(value) + ": must be in " +
                         std::to_string(low) + ".." + std::to_string(high));
    }
  };
  count("directions", directions, 8, 4096);
  count("grid", grid, 4, 512);
  if (!(reach > 1.0) || !std::isfinite(reach)) {
    throw InvalidInput("reach is " + message::number(reach) + ": must be above 1 and finite");
  }
}

ThreeContactRegion three_contact_region(const Posture& posture,
                                        const ThreeContactSettings& settings) {
  settings.validate();
  return ThreeContacts(posture, settings).run();
}

}  // namespace carom
