#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/control.hpp"
#include "run/equilibrium_run.hpp"

namespace carom::run {

/// One posture with what its file or model says about it.
struct PostureTask {
  std::string name;
  std::vector<std::string> contact_names;
  Posture posture;
  int directions = 0;  ///< 0: not said
  int cone_sides = 0;
};

/// What is asked of a run.
struct PostureRequest {
  PlanarSettings planar;
  SpatialSettings spatial;
  bool directions_given = false;  ///< in `spatial`, whatever the task says
  bool cone_sides_given = false;
  std::vector<double> centre_of_mass;  ///< [dimension] [m]; empty: none
  std::optional<double> height;  ///< of a cross-section [m]; else the centre's, or the contacts'
  Backend backend = Backend::cpu;
};

/// Computes every posture; those of one shape and one setting are one batch. Once stopped the
/// remaining ones are cancelled. Errors: InvalidInput, BackendUnavailable.
std::vector<EquilibriumRun> run_postures(const std::vector<PostureTask>& tasks,
                                         const PostureRequest& request, const Control& control);

}  // namespace carom::run
