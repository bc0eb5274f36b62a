#include "equilibrium/planar_margin_derivative.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <Eigen/Core>

#include "core/parallel.hpp"
#include "equilibrium/margin_report.hpp"

namespace carom {

namespace {

using Vector2 = Eigen::Vector2d;

/// Edges of cones that may bear the forces at an end, before their gaps are known to the last
/// digits, relative to the contacts' extent.
constexpr double kNear = 1e-7;
/// Sine of edges that are parallel.
constexpr double kParallelEdges = 1e-12;
/// Share of the external force below which a force is rounding.
constexpr double kRounding = 1e-14;

double cross(const Vector2& a, const Vector2& b) { return a[0] * b[1] - a[1] * b[0]; }
/// By a quarter turn; t = -turned(n) is the tangent of a contact.
Vector2 turned(const Vector2& a) { return {-a[1], a[0]}; }

/// An edge of the friction cone at a point of a contact.
struct Edge {
  int contact;
  double along;  ///< of a patch, [m] from its start
  double side;   ///< of friction: force n + side mu t
  Vector2 point;
  Vector2 direction;  ///< n + side mu t
};

/// One end of a strip: the forces of two edges hold it, and its proof is the point p where they
/// meet: no force turns outwards about it.
class End {
 public:
  End(const PostureBatch& batch, std::int64_t problem, const double* x)
      : batch_(batch), p_(problem), x_(x[0], x[1]) {
    const double* wrench = batch.wrench.data() + 3 * p_;
    external_ = {wrench[0], wrench[1]};
    torque_ = wrench[2];
    force_ = external_.norm();
    for (int i = 0; i < batch.contacts; ++i) {
      const Vector2 n = normal(i), start(position(i));
      const double mu = friction(i), length = length_of(i);
      for (const double along : {0.0, length}) {
        for (const double side : {-1.0, 1.0}) {
          if (mu == 0.0 && side < 0.0) continue;  // the same edge
          edges_.push_back({i, along, side, start - along * turned(n), n - side * mu * turned(n)});
        }
        if (length == 0.0) break;
      }
    }
  }

  /// outwards: 1 for the upper end, -1 for the lower one; end and height: those of PlanarResult.
  /// False where no two edges hold the end.
  bool find(double outwards, double end, double height) {
    outwards_ = outwards;
    const Vector2 across = turned(external_) / force_, up = -external_ / force_;
    const Vector2 given = (end - torque_ / force_) * across + height * up;
    extent_ = (x_ - given).norm();
    for (const Edge& edge : edges_) extent_ = std::max(extent_, (edge.point - given).norm());
    if (!(extent_ > 0.0)) extent_ = 1.0;
    near_.clear();
    for (std::size_t j = 0; j < edges_.size(); ++j) {
      if (gap(edges_[j], given) <= kNear * extent_) near_.push_back(j);
    }
    double best = -kInfinity;
    for (std::size_t a = 0; a < near_.size(); ++a) {
      for (std::size_t b = a + 1; b < near_.size(); ++b) {
        const Edge &first = edges_[near_[a]], &second = edges_[near_[b]];
        const double sine = cross(first.direction, second.direction) /
                            (first.direction.norm() * second.direction.norm());
        if (!(std::abs(sine) > kParallelEdges)) continue;
        const double area = cross(first.direction, second.direction);
        const double f[2] = {-cross(external_, second.direction) / area,
                             -cross(first.direction, external_) / area};
        const double least = std::min(f[0], f[1]) / force_;
        if (!(least >= -kRounding) || !(least > best)) continue;
        best = least;
        bearing_[0] = near_[a];
        bearing_[1] = near_[b];
        for (int s = 0; s < 2; ++s) size_[s] = std::max(f[s], 0.0);
        const double c[2] = {cross(first.point, first.direction),
                             cross(second.point, second.direction)};
        meet_ = (c[1] * first.direction - c[0] * second.direction) / area;
        const double cosine = std::sqrt(std::max(1.0 - sine * sine, 0.0));
        condition = (1.0 + cosine) / std::abs(sine);
      }
    }
    shift = best >= -kRounding ? (meet_ - given).norm() / extent_ : kInfinity;
    return shift < kInfinity;
  }

  [[nodiscard]] double value() const {
    return outwards_ * (torque_ + cross(x_ - meet_, external_)) / force_;
  }
  [[nodiscard]] double extent() const { return extent_; }

  /// Balance, cones and proof, relative to the force and to the extent.
  [[nodiscard]] double residual() const {
    Vector2 rest = external_;
    double worst = 0.0;
    for (int s = 0; s < 2; ++s) {
      const Edge& edge = edges_[bearing_[s]];
      rest += size_[s] * edge.direction;
      worst = std::max(worst, std::abs(gap(edge, meet_)) / extent_);
    }
    for (const Edge& edge : edges_) worst = std::max(worst, -gap(edge, meet_) / extent_);
    return std::max(worst, rest.norm() / force_);
  }

  /// The least gap of strict complementarity. Numbers of doubtful rows: those by which the forces
  /// are not unique, and those by which the proof is not.
  double gaps(double tolerance, int& forces, int& proofs) const {
    double least = kInfinity;
    const auto count = [&](double margin, int& doubtful) {
      least = std::min(least, margin);
      if (!(margin > tolerance)) ++doubtful;
    };
    for (std::size_t j = 0; j < edges_.size(); ++j) {
      if (j != bearing_[0] && j != bearing_[1]) count(gap(edges_[j], meet_) / extent_, forces);
    }
    for (const double f : size_) count(f / force_, proofs);
    return least;
  }

  /// Whether a contact without friction would help if it had some.
  [[nodiscard]] bool friction_would_help() const {
    for (int s = 0; s < 2; ++s) {
      const Edge& edge = edges_[bearing_[s]];
      if (friction(edge.contact) == 0.0 && by_friction(s) != 0.0) return true;
    }
    return false;
  }

  void write(MarginGradient& to) const {
    const int k = batch_.contacts;
    const auto row = [&](Buffer<double>& array, int width) {
      double* begin = array.size() > 0 ? array.data() + p_ * width : nullptr;
      if (begin != nullptr) std::fill_n(begin, width, 0.0);
      return begin;
    };
    double* position = row(to.position, 2 * k);
    double* normals = row(to.normal, 2 * k);
    double* frictions = row(to.friction, k);
    double* lengths = row(to.length, k);
    const double unit = outwards_ / force_;
    for (int s = 0; s < 2; ++s) {
      const Edge& edge = edges_[bearing_[s]];
      const int i = edge.contact;
      const Vector2 moved = -unit * size_[s] * turned(edge.direction);
      const Vector2 leaned = unit * size_[s] * turned(edge.point - meet_);
      if (position != nullptr) Eigen::Map<Vector2>(position + 2 * i) += moved;
      if (lengths != nullptr && edge.along > 0.0) lengths[i] -= moved.dot(turned(normal(i)));
      if (frictions != nullptr) frictions[i] += by_friction(s);
      if (normals != nullptr) {
        Eigen::Map<Vector2>(normals + 2 * i) +=
            leaned + edge.side * friction(i) * turned(leaned) + edge.along * turned(moved);
      }
    }
    for (int i = 0; normals != nullptr && i < k; ++i) {  // they stay unit vectors
      Eigen::Map<Vector2> gradient(normals + 2 * i);
      gradient -= gradient.dot(normal(i)) / normal(i).squaredNorm() * normal(i);
    }
    if (double* wrench = row(to.wrench, 3)) {
      const Vector2 force = unit * turned(x_ - meet_) - value() / (force_ * force_) * external_;
      wrench[0] = force[0];
      wrench[1] = force[1];
      wrench[2] = unit;
    }
    if (double* centre = row(to.centre_of_mass, 2)) {
      Eigen::Map<Vector2>(centre).noalias() = -unit * turned(external_);
    }
  }

  double condition = kNan;  ///< of the balance of the two forces
  double shift = kNan;      ///< of p, relative to the extent

 private:
  [[nodiscard]] Vector2 normal(int i) const {
    return Eigen::Map<const Vector2>(batch_.normal.data() + 2 * (p_ * batch_.contacts + i));
  }
  [[nodiscard]] Vector2 position(int i) const {
    return Eigen::Map<const Vector2>(batch_.position.data() + 2 * (p_ * batch_.contacts + i));
  }
  [[nodiscard]] double friction(int i) const {
    return batch_.friction.data()[p_ * batch_.contacts + i];
  }
  [[nodiscard]] double length_of(int i) const {
    return batch_.length.size() > 0 ? batch_.length.data()[p_ * batch_.contacts + i] : 0.0;
  }
  /// How far the point lies on the side about which the edge turns inwards [m].
  [[nodiscard]] double gap(const Edge& edge, const Vector2& point) const {
    return -outwards_ * cross(edge.point - point, edge.direction) / edge.direction.norm();
  }
  /// Of the contact's coefficient; without friction that of the edge that helps.
  [[nodiscard]] double by_friction(int s) const {
    const Edge& edge = edges_[bearing_[s]];
    const double along = outwards_ / force_ * size_[s] *
                         turned(edge.point - meet_).dot(-turned(normal(edge.contact)));
    return friction(edge.contact) == 0.0 ? std::abs(along) : edge.side * along;
  }

  const PostureBatch& batch_;
  std::int64_t p_;
  Vector2 x_, external_, meet_ = Vector2::Zero();
  double torque_, force_, outwards_ = 1.0, extent_ = 1.0;
  std::vector<Edge> edges_;
  std::vector<std::size_t> near_;
  std::size_t bearing_[2] = {};
  double size_[2] = {};
};

}  // namespace

MarginGradient planar_margin_gradients(const PostureBatch& batch, const PlanarResult& strips,
                                       std::span<const double> centre_of_mass,
                                       const DerivativeSettings& derivative,
                                       const MarginWanted& wanted) {
  MarginGradient result = empty_margin_gradient(batch, wanted);
  parallel_for(batch.problems, 16, derivative.threads, [&](std::int64_t begin, std::int64_t stop) {
    for (std::int64_t p = begin; p < stop; ++p) {
      Smoothness& status = result.status.data()[p];
      status = Smoothness::not_solved;
      result.doubtful.data()[p] = 0;
      const Status strip = strips.status.data()[p];
      if (strip != Status::solved && strip != Status::unbounded) continue;
      status = Smoothness::undefined;
      const double* n = strips.normal.data() + 2 * p;
      const double* x = centre_of_mass.data() + 2 * p;
      const double at = x[0] * n[0] + x[1] * n[1];
      const double ends[2] = {strips.lower.data()[p], strips.upper.data()[p]};
      const double room[2] = {at - ends[0], ends[1] - at};
      const int nearer = room[1] < room[0] ? 1 : 0;
      if (!(room[nearer] < kInfinity)) continue;
      End end(batch, p, x);
      if (!end.find(nearer == 1 ? 1.0 : -1.0, ends[nearer], strips.height.data()[2 * p + nearer])) {
        continue;
      }
      const double tolerance = std::max(derivative.margin_tolerance, 10.0 * end.shift);
      int forces = 0, proofs = 0;
      const double tie = (room[1 - nearer] - room[nearer]) / end.extent();
      const double margin = std::min(end.gaps(tolerance, forces, proofs), tie);
      const double residual = end.residual();
      result.value.data()[p] = end.value();
      result.residual.data()[p] = residual;
      result.margin.data()[p] = margin;
      result.condition.data()[p] = end.condition;
      result.shift.data()[p] = end.shift;
      result.doubtful.data()[p] = forces + proofs + (tie > tolerance ? 0 : 1);
      if (!(residual <= kCertifiedMargin) ||
          !(residual * end.condition <= derivative.error_tolerance)) {
        continue;
      }
      const bool by_contacts =
          wanted.position || wanted.normal || wanted.friction || result.length.size() > 0;
      const bool by_proof = wanted.wrench || wanted.normal || wanted.friction;
      const bool smooth = tie > tolerance && (forces == 0 || !by_contacts) &&
                          (proofs == 0 || !by_proof) &&
                          !(wanted.friction && end.friction_would_help());
      status = smooth ? Smoothness::smooth : Smoothness::kink;
      if (smooth || derivative.at_kink != AtKink::nan) end.write(result);
    }
  });
  return result;
}

}  // namespace carom
