#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "equilibrium/prepared_support.hpp"

namespace carom {

/// Support function of one posture in directions sorted by angle. The cross-section lies between
/// the polygon of the points and the polygon of the half-planes.
class SpatialContour {
 public:
  /// Memory for at most settings.max_vertices directions; `prepared` must outlive this.
  explicit SpatialContour(PreparedSupport& prepared);

  /// Forgets the posture before and probes `directions`, [n, 2], in order of angle.
  void sweep(std::span<const double> directions);
  /// The same with the answers of a sweep made elsewhere: slots first, ... of `answers`.
  void take(std::span<const double> directions, const SupportResult& answers, std::size_t first);
  /// Probes normals of the edges with the largest gaps, so that the sum of gaps falls below
  /// `area`; false where it is already, or no room is left.
  bool refine(double area);
  /// Probes `directions`, [n, 2], starting from neighbours; as many as there is room for.
  bool probe(std::span<const double> directions);

  /// Slots of the points' convex hull, counter-clockwise; points closer than 1e-10 extents are one.
  [[nodiscard]] std::vector<std::size_t> inner_polygon() const;
  /// Vertices of the intersection of the half-planes, [q, 2], counter-clockwise; empty where it is
  /// unbounded.
  [[nodiscard]] std::vector<double> outer_polygon() const;

  /// Of all directions, regardless of gaps: solved, unbounded, or the first that went wrong.
  [[nodiscard]] Status status() const;
  [[nodiscard]] std::size_t size() const { return order_.size(); }
  /// Slot of the i-th direction by angle.
  [[nodiscard]] std::size_t slot(std::size_t i) const { return order_[i]; }
  [[nodiscard]] const double* direction(std::size_t slot) const {
    return direction_.data() + 2 * slot;
  }
  [[nodiscard]] const double* point(std::size_t slot) const {
    return answers_.point.data() + 2 * slot;
  }
  [[nodiscard]] const SupportResult& answers() const { return answers_; }
  [[nodiscard]] double extent() const { return prepared_->posture(true).length; }
  [[nodiscard]] PreparedSupport& prepared() const { return *prepared_; }

 private:
  [[nodiscard]] bool has_point(std::size_t slot) const;
  [[nodiscard]] bool has_plane(std::size_t slot) const;
  [[nodiscard]] double gap(std::size_t a, std::size_t b) const;
  void copy(const SupportResult& answers, std::size_t from, std::size_t to, std::size_t count);
  void insert(std::size_t first, std::size_t count);

  PreparedSupport* prepared_;
  std::size_t room_;
  std::size_t count_ = 0;
  SupportResult answers_;
  std::vector<double> direction_;  ///< [room, 2]
  std::vector<std::size_t> order_;
  std::vector<double> basis_[2];
  std::vector<int> start_;
  std::vector<double> work_;
};

/// A contour that a thread keeps.
class ContourMemory {
 public:
  SpatialContour& fit(const SupportCode& code, const SupportRules& rules,
                      const SpatialSettings& settings, int contacts) {
    const std::array<int, 3> shape = {contacts, settings.max_vertices, rules.two ? 1 : 0};
    if (pair_ != nullptr && shape == shape_) {
      pair_->prepared.rebind(code, rules, settings);
    } else {
      pair_ = std::make_unique<Pair>(code, rules, settings, contacts);
      shape_ = shape;
    }
    return pair_->contour;
  }
  /// [contacts, 3].
  std::vector<double> position;

 private:
  struct Pair {
    Pair(const SupportCode& code, const SupportRules& rules, const SpatialSettings& settings,
         int contacts)
        : prepared(code, rules, settings, contacts), contour(prepared) {}
    PreparedSupport prepared;
    SpatialContour contour;
  };
  std::unique_ptr<Pair> pair_;
  std::array<int, 3> shape_{};
};

/// Area enclosed by vertices [n, 2] in counter-clockwise order.
double polygon_area(std::span<const double> vertices);

/// The contour's region after refinement to settings.area_tolerance.
SpatialRegion finish_region(SpatialContour& contour);

/// Regions of a host batch from a first sweep made elsewhere, by the kernels of `code`.
std::vector<SpatialRegion> regions_from(const SupportCode& code, const PostureBatch& batch,
                                        std::span<const double> directions,
                                        const SupportResult& first,
                                        const SpatialSettings& settings);
std::vector<Membership> memberships(const SupportCode& code, const PostureBatch& batch,
                                    std::span<const double> centre_of_mass,
                                    const SpatialSettings& settings, WorkspaceState* workspace);

}  // namespace carom
