#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <carom/types/models/models.hpp>
#include <carom/types/stability.hpp>

/// The plain structs of carom/models/stances.hpp.
namespace carom::models {

/// A parameter that a chart of the source varies, and its range.
struct ChartAxis {
  std::string parameter;
  double low = 0.0;
  double high = 0.0;
};

struct StanceModel {
  std::string name;
  std::string summary;
  std::string source;  ///< e.g. "Varkonyi, Fig. 2"
  std::vector<Parameter> parameters;
  std::vector<ChartAxis> axes;
};

}  // namespace carom::models
