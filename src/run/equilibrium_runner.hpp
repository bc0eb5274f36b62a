#pragma once

#include <functional>
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
  Parameters parameters = {};  ///< swept or drawn
};

/// What is asked of a run.
struct PostureRequest {
  PlanarSettings planar;
  SpatialSettings spatial;
  bool directions_given = false;       ///< in `spatial`, whatever the task says
  std::vector<double> centre_of_mass;  ///< [dimension] [m]; empty: none
  std::optional<double> height;  ///< of a cross-section [m]; else the centre's, or the contacts'
  Backend backend = Backend::cpu;
};

/// Computes every posture; those of one shape and one setting are one batch. Once stopped the
/// remaining ones are cancelled. Errors: InvalidInput, BackendUnavailable.
std::vector<EquilibriumRun> run_postures(const std::vector<PostureTask>& tasks,
                                         const PostureRequest& request, const Control& control);

/// Bisects between low and high for the value of `parameter` at which the request's centre of mass
/// begins or ceases to be held, down to neighbouring numbers or 1e-12 of the range; both ends of
/// what is left are proven. with: the posture with that value. Errors: InvalidInput,
/// BackendUnavailable.
Critical critical_value(const std::string& parameter, double low, double high,
                        const std::function<PostureTask(double)>& with,
                        const PostureRequest& request);

}  // namespace carom::run
