#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include <Eigen/Dense>

#include "core/arrays.hpp"
#include "equilibrium/spatial_backends.hpp"

// The cross-section of a spatial posture by inner and outer approximation: a linear program for
// each direction gives a point of the region and a half-plane around it; the next direction is the
// normal of the edge between neighbouring points that leaves most room.
namespace carom::reference {

namespace {

using Vector2 = Eigen::Vector2d;

struct Probe {
  Vector2 direction;
  double angle;
  double lower;
  double upper;
  Vector2 point;
  std::vector<double> forces;
  std::array<double, 6> dual;
  Status status;
  double residual;
  int pivots;
};

double cross(const Vector2& a, const Vector2& b) { return a.x() * b.y() - a.y() * b.x(); }

double area_of(const std::vector<Vector2>& polygon) {
  double twice = 0.0;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Vector2& origin = polygon.front();
    twice += cross(polygon[i] - origin, polygon[(i + 1) % polygon.size()] - origin);
  }
  return 0.5 * twice;
}

class Region {
 public:
  Region(const PostureBatch& batch, std::int64_t p, const SpatialSettings& settings)
      : posture_(arrays::slice(batch, p, p + 1)), settings_(settings) {
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();
    const int k = batch.contacts;
    const Eigen::Map<const Eigen::Matrix3Xd> position(posture_.position.data(), 3, k);
    centre = position.rowwise().mean();
    extent_ = (position.colwise() - centre).colwise().norm().maxCoeff();
    if (!(extent_ > 0.0)) extent_ = 1.0;
    // Areas of lengths whose digits end with those of the contacts' extent and of their place.
    tolerance_ =
        std::max(settings.area_tolerance, (1e-12 * extent_ + 2e-13 * centre.norm()) * extent_);
  }

  SpatialRegion operator()() {
    std::vector<double> directions;
    for (int j = 0; j < settings_.directions; ++j) {
      const double angle = 2.0 * std::numbers::pi * j / settings_.directions;
      directions.insert(directions.end(), {std::cos(angle), std::sin(angle)});
    }
    probe(directions);
    SpatialRegion region;
    region.area_inner = region.area_outer = std::numeric_limits<double>::quiet_NaN();
    const Probe& first = probes_.front();
    if (first.status == Status::invalid_input) {
      region.status = first.status;
      region.residual = std::numeric_limits<double>::quiet_NaN();
      return region;
    }
    write_frame(region);
    if (first.status == Status::infeasible) {
      region.status = first.status;
      region.residual = std::numeric_limits<double>::quiet_NaN();
      if (std::isfinite(first.dual[0])) region.dual.assign(first.dual.begin(), first.dual.end());
      return region;
    }
    region.status = status();
    while (region.status == Status::solved && refine()) region.status = status();
    list_support(region);
    if (region.status == Status::solved || region.status == Status::inaccurate) close(region);
    return region;
  }

 private:
  void probe(const std::vector<double>& directions) {
    const SupportResult found = reference::support(posture_, directions, settings_);
    const auto k = static_cast<std::size_t>(posture_.contacts);
    for (std::size_t j = 0; j < directions.size() / 2; ++j) {
      Probe probe;
      probe.direction = {directions[2 * j], directions[2 * j + 1]};
      probe.angle = std::atan2(probe.direction.y(), probe.direction.x());
      if (probe.angle < 0.0) probe.angle += 2.0 * std::numbers::pi;
      probe.lower = found.lower.data()[j];
      probe.upper = found.upper.data()[j];
      probe.point = {found.point.data()[2 * j], found.point.data()[2 * j + 1]};
      probe.forces.assign(found.forces.data() + 3 * k * j, found.forces.data() + 3 * k * (j + 1));
      std::copy_n(found.dual.data() + 6 * j, 6, probe.dual.begin());
      probe.status = found.status.data()[j];
      probe.residual = found.residual.data()[j];
      probe.pivots = found.pivots.data()[j];
      probes_.push_back(std::move(probe));
    }
    std::stable_sort(probes_.begin(), probes_.end(),
                     [](const Probe& a, const Probe& b) { return a.angle < b.angle; });
  }

  [[nodiscard]] static bool has_point(const Probe& probe) {
    return std::isfinite(probe.lower) && probe.residual <= 1e-8;
  }

  [[nodiscard]] Status status() const {
    Status worst = Status::solved;
    for (const Probe& probe : probes_) {
      if (probe.status == Status::unbounded) return Status::unbounded;
      if (probe.status == Status::solved || worst != Status::solved) continue;
      worst = probe.status;
    }
    return worst;
  }

  /// Room between the edge from probe i to the next and the corner of their lines; of a pair of
  /// cones the lines go through the points.
  [[nodiscard]] double room(std::size_t i) const {
    const Probe& a = probes_[i];
    const Probe& b = probes_[(i + 1) % probes_.size()];
    const double sine = cross(a.direction, b.direction);
    if (!(sine > 1e-8)) return 0.0;
    const Vector2 corner((a.lower * b.direction.y() - b.lower * a.direction.y()) / sine,
                         (a.direction.x() * b.lower - b.direction.x() * a.lower) / sine);
    return std::max(0.0, 0.5 * cross(corner - a.point, b.point - a.point));
  }

  /// One more direction, where there is room for more than half of the tolerance.
  bool refine() {
    if (probes_.size() >= static_cast<std::size_t>(settings_.max_vertices)) return false;
    double sum = 0.0;
    double largest = 0.0;
    std::size_t widest = 0;
    for (std::size_t i = 0; i < probes_.size(); ++i) {
      const double here = room(i);
      sum += here;
      const Vector2 edge = probes_[(i + 1) % probes_.size()].point - probes_[i].point;
      if (here > largest && edge.norm() > 1e-9 * extent_) {
        largest = here;
        widest = i;
      }
    }
    if (!(sum > 0.5 * tolerance_) || largest == 0.0) return false;
    const Vector2 edge =
        (probes_[(widest + 1) % probes_.size()].point - probes_[widest].point).normalized();
    probe({edge.y(), -edge.x()});
    return true;
  }

  void write_frame(SpatialRegion& region) const {
    const Eigen::Map<const Eigen::Vector3d> force(posture_.wrench.data());
    const Eigen::Vector3d e = -force.normalized();
    const bool up = !(e.z() < 0.0);
    const auto turn = Eigen::Quaterniond::FromTwoVectors(Eigen::Vector3d(0, 0, up ? 1 : -1), e);
    const Eigen::Vector3d axis[3] = {turn * Eigen::Vector3d(1, 0, 0),
                                     turn * Eigen::Vector3d(0, up ? 1 : -1, 0), e};
    for (int a = 0; a < 3; ++a) {
      for (int j = 0; j < 3; ++j) region.frame[a][j] = axis[a][j];
    }
  }

  void list_support(SpatialRegion& region) const {
    for (const Probe& p : probes_) {
      region.support.push_back({{p.direction.x(), p.direction.y()},
                                p.lower,
                                p.upper,
                                {p.point.x(), p.point.y()},
                                p.status});
      region.pivots += p.pivots;
      if (!(p.residual <= region.residual)) region.residual = p.residual;
      if (!std::isfinite(p.upper)) continue;
      for (const double value : {p.direction.x(), p.direction.y(), p.upper}) {
        region.half_plane.push_back(value);
      }
      region.dual.insert(region.dual.end(), p.dual.begin(), p.dual.end());
    }
  }

  /// Convex hull by Andrew's monotone chain, counter-clockwise; corners that stand out by less than
  /// rounding are left out.
  [[nodiscard]] std::vector<const Probe*> hull() const {
    std::vector<const Probe*> sorted;
    for (const Probe& probe : probes_) {
      if (has_point(probe)) sorted.push_back(&probe);
    }
    std::sort(sorted.begin(), sorted.end(), [](const Probe* a, const Probe* b) {
      return a->point.x() != b->point.x() ? a->point.x() < b->point.x()
                                          : a->point.y() < b->point.y();
    });
    const double merge = 1e-8 * extent_;
    std::vector<const Probe*> apart;
    for (const Probe* probe : sorted) {
      const bool known = std::any_of(apart.begin(), apart.end(), [&](const Probe* other) {
        return (other->point - probe->point).norm() <= merge;
      });
      if (!known) apart.push_back(probe);
    }
    if (apart.size() < 3) return apart;
    const auto chain = [&](auto begin, auto end) {
      std::vector<const Probe*> half;
      for (auto at = begin; at != end; ++at) {
        while (half.size() >= 2) {
          const Vector2 base = (*at)->point - half[half.size() - 2]->point;
          const Vector2 leg = half.back()->point - half[half.size() - 2]->point;
          if (cross(leg, base) > 1e-3 * merge * base.norm()) break;
          half.pop_back();
        }
        half.push_back(*at);
      }
      half.pop_back();
      return half;
    };
    std::vector<const Probe*> around = chain(apart.begin(), apart.end());
    const std::vector<const Probe*> back = chain(apart.rbegin(), apart.rend());
    around.insert(around.end(), back.begin(), back.end());
    return around;
  }

  /// The half-planes' intersection: a square around everything, cut by each of them.
  [[nodiscard]] std::vector<Vector2> cut() const {
    double size = extent_;
    for (const Probe& probe : probes_) {
      if (std::isfinite(probe.upper)) size = std::max(size, std::fabs(probe.upper));
    }
    const double far = 1e3 * size;
    std::vector<Vector2> polygon = {{-far, -far}, {far, -far}, {far, far}, {-far, far}};
    for (const Probe& probe : probes_) {
      if (!std::isfinite(probe.upper)) continue;
      std::vector<Vector2> left;
      for (std::size_t i = 0; i < polygon.size(); ++i) {
        const Vector2& a = polygon[i];
        const Vector2& b = polygon[(i + 1) % polygon.size()];
        const double at_a = probe.direction.dot(a) - probe.upper;
        const double at_b = probe.direction.dot(b) - probe.upper;
        if (at_a <= 0.0) left.push_back(a);
        if ((at_a < 0.0) != (at_b < 0.0) && at_a != at_b) {
          left.push_back(a + (b - a) * (at_a / (at_a - at_b)));
        }
      }
      polygon = std::move(left);
    }
    const bool open = std::any_of(polygon.begin(), polygon.end(), [far](const Vector2& corner) {
      return corner.cwiseAbs().maxCoeff() >= 0.5 * far;
    });
    if (open) polygon.clear();
    return polygon;
  }

  void close(SpatialRegion& region) const {
    std::vector<Vector2> inner;
    for (const Probe* probe : hull()) {
      inner.push_back(probe->point);
      region.inner.insert(region.inner.end(), {probe->point.x(), probe->point.y()});
      region.forces.insert(region.forces.end(), probe->forces.begin(), probe->forces.end());
    }
    const std::vector<Vector2> outer = cut();
    for (const Vector2& corner : outer) {
      region.outer.insert(region.outer.end(), {corner.x(), corner.y()});
    }
    region.dimension = inner.size() < 3 ? static_cast<int>(inner.size()) - 1 : 2;
    region.area_inner = area_of(inner);
    region.area_outer = outer.empty() && region.dimension == 2
                            ? std::numeric_limits<double>::quiet_NaN()
                            : area_of(outer);
    if (region.status == Status::solved && !support_rules(settings_).two &&
        !(region.area_outer - region.area_inner <= tolerance_)) {
      region.status = Status::inaccurate;
    }
  }

  PostureBatch posture_;
  const SpatialSettings& settings_;
  double extent_;
  double tolerance_;
  std::vector<Probe> probes_;
};

}  // namespace

std::vector<SpatialRegion> spatial_equilibrium(const PostureBatch& batch,
                                               const SpatialSettings& settings,
                                               WorkspaceState* /*workspace*/) {
  std::vector<SpatialRegion> regions;
  for (std::int64_t p = 0; p < batch.problems; ++p) {
    regions.push_back(Region(batch, p, settings)());
  }
  return regions;
}

template <>
const SpatialEntries& entries() {
  static constexpr SpatialEntries kEntries{support, spatial_equilibrium};
  return kEntries;
}

}  // namespace carom::reference
