#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <carom/device/orthonormal_frame.hpp>
#include <carom/equilibrium_spatial.hpp>
#include <carom/equilibrium_three_contacts.hpp>

#include "analysis/three_contact_map.hpp"
#include "core/settings.hpp"
#include "equilibrium/planar_polygon.hpp"

namespace carom::three_contacts {

namespace {

/// More edges than a piece of P can have: those of the square, three lines and three sectors.
constexpr int kMaxEdges = 16;
/// Of the region's area: distance of the polygons whose directions are taken.
constexpr double kAreaShare = 3e-7;
/// Curves are straight between their points up to this share of the contacts' extent.
constexpr double kCurve = 1e-7;
constexpr int kHalvings = 40;
constexpr double kNone = -std::numeric_limits<double>::infinity();

class ThreeContacts {
 public:
  ThreeContacts(const Posture& posture, const ThreeContactSettings& settings)
      : settings_(settings), posture_(posture), map_(posture) {}

  ThreeContactRegion run() {
    ThreeContactRegion region;
    for (const double sigma : {1.0, -1.0}) {
      for (int cell = 0; cell < 8; ++cell) {
        Piece piece = map_.piece_of(sigma, cell, settings_.reach);
        if (piece.polygon.size() < 3) continue;
        (sigma > 0.0 ? region.plus : region.minus).push_back(polygon::flat(shifted(piece.polygon)));
        pieces_.push_back(std::move(piece));
      }
    }
    sample();
    const std::vector<Point> conservative =
        polygon::thinned(polygon::hull(edge_images()), kCurve * map_.extent);
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
      all.push_back({at.point[0] - map_.home[0], at.point[1] - map_.home[1]});
      region.boundary.push_back(at);
    }
    const std::vector<Point> exact = polygon::hull(all);
    region.conservative = polygon::flat(shifted(conservative));
    region.searched = polygon::flat(shifted(exact));
    region.area_conservative = polygon::area(conservative);
    region.area_searched = polygon::area(exact);
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

  /// Only two loaded contacts: opposite horizontal forces along their line, whatever the third
  /// contact's cone is.
  void sample_pairs() {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t i = 0; i < 3; ++i) {
      const Foot& a = map_.foot[i];
      const Foot& b = map_.foot[(i + 1) % 3];
      const Point line = polygon::minus(b.at, a.at);
      const double length = std::hypot(line[0], line[1]);
      for (int choice = 0; choice < 8; ++choice) {
        const double sign = (choice & 4) != 0 ? 1.0 : -1.0;
        const Point h = {sign * line[0] / length, sign * line[1] / length};
        double low[2];
        double high[2];
        if (!roots(a, h, low[0], high[0]) || !roots(b, {-h[0], -h[1]}, low[1], high[1])) {
          continue;
        }
        const double za = (choice & 1) != 0 ? high[0] : low[0];
        const double zb = (choice & 2) != 0 ? high[1] : low[1];
        const double weight = za + zb;
        if (!std::isfinite(weight) || !(weight > 1e-10)) continue;
        Point x;
        for (std::size_t c = 0; c < 2; ++c) {
          x[c] = (a.at[c] * za + b.at[c] * zb - (a.height - b.height) * h[c]) / weight +
                 map_.offset[c];
        }
        samples_.push_back({CriticalType::edge, -1, -1, choice, {nan, nan}, x, 0.0});
      }
    }
  }

  void sample() {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const Foot& foot : map_.foot) {
      if (!foot.vertical) continue;
      samples_.push_back({CriticalType::contact,
                          -1,
                          -1,
                          0,
                          {nan, nan},
                          {foot.at[0] + map_.offset[0], foot.at[1] + map_.offset[1]},
                          0.0});
    }
    sample_pairs();
    const int n = settings_.grid;
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      const Piece& piece = pieces_[p];
      const auto add = [&](CriticalType type, int edge, const Point& r, double step, int label) {
        for (int choice = 0; choice < 8; ++choice) {
          Point x;
          if (!map_.image(piece, r, choice, x, label)) continue;
          samples_.push_back({type, static_cast<int>(p), edge, choice, r, x, step});
        }
      };
      const int edges = static_cast<int>(piece.polygon.size());
      for (int e = 0; e < edges; ++e) {
        if (piece.labels[static_cast<std::size_t>(e)] == kNoSide) continue;
        for (int j = 0; j <= n; ++j) {
          const double s = place(piece, e, static_cast<double>(j) / n);
          add(CriticalType::edge, e, polygon::on_edge(piece.polygon, e, s), 1.0 / n,
              piece.labels[static_cast<std::size_t>(e)]);
        }
      }
      // Mixtures of three vertices cover the piece, finer towards its first one.
      for (int e = 1; e + 1 < edges; ++e) {
        for (int i = 1; i < n; ++i) {
          for (int j = 1; j < n; ++j) {
            const double s = std::pow(static_cast<double>(i) / n, 3);
            const double t = static_cast<double>(j) / n;
            const Point far = polygon::on_edge(piece.polygon, e, t);
            const Point& apex = piece.polygon[0];
            const Point r = {apex[0] + s * (far[0] - apex[0]), apex[1] + s * (far[1] - apex[1])};
            add(CriticalType::interior, -1, r,
                std::hypot(far[0] - apex[0], far[1] - apex[1]) * (s + 0.1 / n) / n, kNoSide);
          }
        }
      }
    }
  }

  /// Where on an edge its share t lies: denser towards the piece's first vertex.
  static double place(const Piece& piece, int edge, double t) {
    if (edge == 0) return t * t * t;
    return edge + 1 < static_cast<int>(piece.polygon.size()) ? t : 1.0 - t * t * t;
  }

  /// Points of the curves (11), kCurve extents dense, and of the contacts that hold by themselves.
  [[nodiscard]] std::vector<Point> edge_images() const {
    std::vector<Point> points;
    for (const Sample& at : samples_) {
      if (at.type != CriticalType::interior) points.push_back(at.image);
    }
    for (const Piece& piece : pieces_) {
      for (int e = 0; e < static_cast<int>(piece.polygon.size()); ++e) {
        if (piece.labels[static_cast<std::size_t>(e)] == kNoSide) continue;
        for (int choice = 0; choice < 8; ++choice) {
          CurvePoint last = on_curve(piece, e, choice, 0.0);
          for (int j = 1; j <= settings_.grid; ++j) {
            const CurvePoint next =
                on_curve(piece, e, choice, static_cast<double>(j) / settings_.grid);
            refine({piece, e, choice}, last, next, kHalvings, points);
            last = next;
          }
        }
      }
    }
    return points;
  }

  struct Curve {
    const Piece& piece;
    int edge;
    int choice;
  };

  struct CurvePoint {
    double t;
    bool held;
    Point image;
  };

  [[nodiscard]] CurvePoint on_curve(const Piece& piece, int edge, int choice, double t) const {
    const double s = place(piece, edge, t);
    CurvePoint point{t, false, {}};
    point.held = map_.image(piece, polygon::on_edge(piece.polygon, edge, s), choice, point.image,
                            piece.labels[static_cast<std::size_t>(edge)]);
    return point;
  }

  /// Halves the curve until its middle lies on the chord, and to where forces begin to hold.
  void refine(const Curve& curve, const CurvePoint& a, const CurvePoint& b, int halvings,
              std::vector<Point>& points) const {
    if (!a.held && !b.held) return;
    const CurvePoint middle = on_curve(curve.piece, curve.edge, curve.choice, 0.5 * (a.t + b.t));
    if (middle.held) points.push_back(middle.image);
    if (halvings == 0) return;
    if (a.held && b.held && middle.held) {
      const Point chord = polygon::minus(b.image, a.image);
      const Point part = polygon::minus(middle.image, a.image);
      const double square = chord[0] * chord[0] + chord[1] * chord[1];
      const double along = chord[0] * part[0] + chord[1] * part[1];
      const double off = along > 0.0 && along < square
                             ? std::abs(polygon::cross(chord, part)) / std::sqrt(square)
                             : std::hypot(part[0], part[1]);
      if (off <= kCurve * map_.extent) return;
    }
    refine(curve, a, middle, halvings - 1, points);
    refine(curve, middle, b, halvings - 1, points);
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
    for (int turn = 0; turn < turns && step > 1e-10 * map_.extent; ++turn) {
      bool moved = false;
      for (int side = 0; side < 8 && !moved; ++side) {
        const double angle = 0.25 * std::numbers::pi * side + 0.7 * turn;
        const Point r = {at.r[0] + step * std::cos(angle), at.r[1] + step * std::sin(angle)};
        Point x;
        if (!polygon::contains(piece.polygon, r) || !map_.image(piece, r, at.roots, x)) continue;
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
    const Point b = polygon::on_edge(piece.polygon, at.edge, 1.0);
    const Point edge = polygon::minus(b, a);
    const double square = edge[0] * edge[0] + edge[1] * edge[1];
    if (!(square > 0.0)) return;
    double s = ((at.r[0] - a[0]) * edge[0] + (at.r[1] - a[1]) * edge[1]) / square;
    double here = d[0] * at.image[0] + d[1] * at.image[1];
    double step = 0.5 * at.step;
    for (int turn = 0; turn < 200 && step > 1e-12; ++turn) {
      bool moved = false;
      for (const double sign : {1.0, -1.0}) {
        const double next = std::clamp(s + sign * step, 0.0, 1.0);
        const Point r = polygon::on_edge(piece.polygon, at.edge, next);
        Point x;
        if (!map_.image(piece, r, at.roots, x, piece.labels[static_cast<std::size_t>(at.edge)]))
          continue;
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
    settings.area_tolerance = 1e-2 * map_.extent * map_.extent;
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
      // Rounding of the forces may put r off an edge of P, where no force has its direction.
      const Point x = shifted({best.image})[0];
      if (d[0] * x[0] + d[1] * x[1] > answers.upper.data()[j] + 1e-10 * map_.extent) continue;
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
      h[i] = {kernels::dot3(map_.axis[0], forces + 3 * i),
              kernels::dot3(map_.axis[1], forces + 3 * i)};
      size[i] = std::hypot(h[i][0], h[i][1]);
    }
    // The pair of lines that meet at the largest angle.
    std::size_t first = 3;
    double steepest = 1e-9;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t j = (i + 1) % 3;
      const double sine = std::abs(polygon::cross(h[i], h[j])) / (size[i] * size[j]);
      if (sine > steepest) {
        steepest = sine;
        first = i;
      }
    }
    if (first == 3) return false;
    const std::size_t second = (first + 1) % 3;
    const double along =
        polygon::cross(polygon::minus(map_.foot[second].at, map_.foot[first].at), h[second]) /
        polygon::cross(h[first], h[second]);
    const Point r = {map_.foot[first].at[0] + along * h[first][0],
                     map_.foot[first].at[1] + along * h[first][1]};
    // f_i = sigma lambda_i (r - x_i) + ...: the largest of them tells sigma.
    double sigma = 1.0;
    double largest = 0.0;
    for (std::size_t i = 0; i < 3; ++i) {
      const Point arm = polygon::minus(r, map_.foot[i].at);
      const double along_arm = h[i][0] * arm[0] + h[i][1] * arm[1];
      if (std::abs(along_arm) <= largest) continue;
      largest = std::abs(along_arm);
      sigma = along_arm * map_.lambda(i, r) < 0.0 ? -1.0 : 1.0;
    }
    Piece piece{};
    piece.sigma = sigma;
    for (std::size_t i = 0; i < 3; ++i) {
      piece.sign[i] = sigma * map_.lambda(i, r) < 0.0 ? -1.0 : 1.0;
    }
    best = {CriticalType::interior, -1, -1, 0, r, {}, 0.0};
    double most = kNone;
    for (int choice = 0; choice < 8; ++choice) {
      Point x;
      if (!map_.image(piece, r, choice, x) || !(d[0] * x[0] + d[1] * x[1] > most)) continue;
      most = d[0] * x[0] + d[1] * x[1];
      best.image = x;
      best.roots = choice;
    }
    return most > kNone;
  }

  [[nodiscard]] std::vector<Point> shifted(std::vector<Point> points) const {
    for (Point& p : points) p = {p[0] + map_.home[0], p[1] + map_.home[1]};
    return points;
  }

  ThreeContactSettings settings_;
  const Posture& posture_;
  Parametrisation map_;
  std::vector<Piece> pieces_;
  std::vector<Sample> samples_;
};

}  // namespace

}  // namespace carom::three_contacts

namespace carom {

void ThreeContactSettings::validate() const { require::settings(*this); }

ThreeContactRegion three_contact_region(const Posture& posture,
                                        const ThreeContactSettings& settings) {
  settings.validate();
  return three_contacts::ThreeContacts(posture, settings).run();
}

}  // namespace carom
