#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <carom/types/impact.hpp>

/// The plain structs of carom/models/models.hpp.
namespace carom::models {

/// One parameter of a model; the same word means the same thing in every model.
struct Parameter {
  std::string name;           ///< e.g. "friction"
  std::string unit;           ///< e.g. "m", "-" for a pure number
  double value = 0.0;         ///< default
  double minimum = 0.0;       ///< smallest accepted value
  bool minimum_open = false;  ///< the minimum itself is refused
  double maximum = 0.0;       ///< largest accepted value
  std::string meaning;
};

/// A model and the run settings that its source recommends.
struct Model {
  std::string name;
  std::string summary;
  std::string source;  ///< e.g. "Halm and Posa, Table 4"
  int dimension = 2;
  std::vector<std::string> contact_names;  ///< e.g. {"A", "B"}
  std::vector<Parameter> parameters;
  double step_size = 1.0;  ///< h [N s]
  int max_steps = 10;      ///< N
};

}  // namespace carom::models
