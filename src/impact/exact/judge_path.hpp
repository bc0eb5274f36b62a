#pragma once

#include <string>
#include <vector>

#include <carom/types/impact.hpp>

/// A kept path of an impact with restitution, judged again by intervals that hold the true numbers
/// (docs/explanation/restitution.md). Nothing of what made it takes part.
namespace carom::exact {

/// Rows v_0..v_K of one sample, each with the piece that ended there.
struct KeptPath {
  const ImpactProblem* problem = nullptr;
  ImpactMethod method = ImpactMethod::events;
  bool vary = false;
  int friction_directions = 4;
  double velocity_tolerance = 0.0, residual_tolerance = 0.0;
  std::vector<double> velocity;               ///< [K + 1, nv]
  std::vector<double> impulse;                ///< [K + 1, dimension*m]
  std::vector<double> restitution, friction;  ///< [K + 1, m]
};

/// Why it is no outcome of the problem by the law of Stronge; empty where it is one. Sizes are
/// those of the problem.
std::string refutation(const KeptPath& path);

}  // namespace carom::exact
