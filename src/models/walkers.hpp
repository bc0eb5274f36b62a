#pragma once

// Walkers on two feet at the moment when the leading one touches down.

#include <array>

#include "models/definition.hpp"
#include "models/planar_tree.hpp"

namespace carom::models::detail {

inline constexpr int kLeading = 0;
inline constexpr int kTrailing = 1;

/// A point of a foot, fixed in its link.
struct FootPoint {
  int link = 0;
  Eigen::Vector2d point;
};

struct Walker {
  PlanarTree tree;
  Eigen::VectorXd configuration;  ///< q, the floating point at the origin
  Eigen::VectorXd velocity;       ///< v before the impact, the trailing foot at rest
  std::array<FootPoint, 2> feet;  ///< touching points: leading, trailing

  [[nodiscard]] Eigen::Vector2d foot_position(int foot, const Eigen::VectorXd& q) const {
    return tree.position(feet[foot].link, feet[foot].point, q);
  }
};

/// q = (hip x, hip y, leading angle, trailing angle).
Walker compass_gait_walker(const Values& values);

/// q = (x, y, pitch, leading hip, leading knee, trailing hip, trailing knee).
Walker ramone_walker(const Values& values);

/// Chooses the velocity of the floating point so that the trailing foot rests.
void rest_on_trailing_foot(Walker& walker);

/// Contacts A (leading) and B (trailing) with a level floor: normal +y, tangent +x.
ImpactProblem walker_problem(const Walker& walker, double friction);

}  // namespace carom::models::detail
