#pragma once

#include <string>
#include <utility>
#include <vector>

namespace carom::run {

/// Values of the parameters that a sweep or a draw gave to one problem, in the order of the
/// options.
using Parameters = std::vector<std::pair<std::string, double>>;

}  // namespace carom::run
