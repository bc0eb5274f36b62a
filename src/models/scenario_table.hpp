#pragma once

#include <span>

#include <carom/types/models/scenarios.hpp>

namespace carom::models::detail {

std::span<const Scenario> scenario_table();

}  // namespace carom::models::detail
