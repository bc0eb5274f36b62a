#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <carom/types/models/models.hpp>
#include <carom/types/posture.hpp>

/// The plain structs of carom/models/postures.hpp.
namespace carom::models {

/// What `build_posture` can yield, and the parameters that it takes.
struct PostureModel {
  std::string name;
  std::string summary;
  std::string source;  ///< e.g. "Or and Rimon, Figure 3(a)"
  int dimension = 2;
  std::vector<std::string> contact_names;  ///< e.g. {"x1", "x2"}
  std::vector<Parameter> parameters;
};

}  // namespace carom::models
