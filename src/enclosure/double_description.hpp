#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "enclosure/sums.hpp"

/// Polyhedral cones in exact integers: from rows to generators and back by the double description
/// method (Motzkin et al., 1953; Fukuda and Prodon, 1996).
namespace carom::enclosure {

struct Generators {
  std::vector<Vector> lines;  ///< a basis of the largest linear subspace
  std::vector<Vector> rays;   ///< with the lines a minimal set; primitive
};

/// Generators of {y in R^n: e.y = 0 for all equations e, r.y >= 0 for all rows r}. Applied to the
/// lines and rays of a cone as equations and rows it yields the cone's own equations and rows.
Generators generators(std::size_t n, std::span<const Vector> equations,
                      std::span<const Vector> rows);

/// A ray of a cut hull: one of the points that were added to the base's, or another one.
struct CutRay {
  const Measured* point = nullptr;
  Vector vector;  ///< of another one
};

struct Hull {
  std::vector<Vector> equations, rows;  ///< of cone(points): e.y = 0, r.y >= 0; minimal
  std::vector<CutRay> cut;              ///< rays of its part where s.y >= 0 for all sides
};

/// Points that many hulls have in common, and what they say of rows.
class HullBase {
 public:
  /// n: of the points' numbers. They are primitive.
  HullBase(std::size_t n, const std::vector<Vector>& points);

  /// Both descriptions of these and more points at once: what the points say of the rows is not
  /// computed again. Those with small numbers first.
  [[nodiscard]] Hull with(std::span<const Measured* const> points,
                          std::span<const Measured> sides) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace carom::enclosure
