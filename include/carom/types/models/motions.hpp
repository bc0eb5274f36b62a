#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <carom/types/models/models.hpp>
#include <carom/types/motion.hpp>

/// The plain structs of carom/models/motions.hpp.
namespace carom::models {

struct MotionModel : Model {
  std::vector<std::string> positions;   ///< names of q
  std::vector<std::string> velocities;  ///< names of v
  double duration = 1.0;                ///< recommended [s]
  double coefficient = 0.0;             ///< of restitution, recommended
};

}  // namespace carom::models
