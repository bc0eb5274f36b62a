#include "cpu/reference/impact/model_settings.hpp"

#include <string>
#include <vector>

#include <carom/error.hpp>

#include "core/require.hpp"

namespace carom::reference {
namespace {

void require_nonnegative(const char* field, double value) {
  if (!(value >= 0.0)) {
    throw InvalidInput(std::string(field) + " is " + std::to_string(value) + ": must be >= 0");
  }
}

}  // namespace

void check_directions(int friction_directions, int dimension) {
  if (dimension == 2 ||
      (friction_directions >= 4 && friction_directions <= kMaxFrictionDirections)) {
    return;
  }
  throw InvalidInput("friction_directions is " + std::to_string(friction_directions) +
                     ": must be in 4.." + std::to_string(kMaxFrictionDirections));
}

void check(const ImpactModelSettings& settings, int dimension) {
  check_directions(settings.friction_directions, dimension);
  require::tolerance("residual_tolerance", settings.residual_tolerance);
  require_nonnegative("velocity_tolerance", settings.velocity_tolerance);
  require_nonnegative("mode_tolerance", settings.mode_tolerance);
  require_nonnegative("distinct_tolerance", settings.distinct_tolerance);
  if (settings.max_combinations < 1) {
    throw InvalidInput("max_combinations is " + std::to_string(settings.max_combinations) +
                       ": must be >= 1");
  }
  if (settings.max_impacts < 1) {
    throw InvalidInput("max_impacts is " + std::to_string(settings.max_impacts) + ": must be >= 1");
  }
}

void check_order(std::span<const int> order, int contacts) {
  std::vector<bool> seen(contacts, false);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] < 0 || order[i] >= contacts) {
      throw InvalidInput("order[" + std::to_string(i) + "] is " + std::to_string(order[i]) +
                         ": must be in 0.." + std::to_string(contacts - 1));
    }
    seen[order[i]] = true;
  }
  for (int i = 0; i < contacts; ++i) {
    if (!seen[i]) {
      throw InvalidInput("order lacks contact " + std::to_string(i) + ": must name every contact");
    }
  }
}

}  // namespace carom::reference
