#pragma once

#include <span>

#include <carom/impact_models.hpp>

namespace carom::reference {

/// Errors: InvalidInput naming the field and its value.
void check(const ImpactModelSettings& settings, int dimension);

/// Errors: InvalidInput unless friction_directions suits the dimension (any for planar contacts).
void check_directions(int friction_directions, int dimension);

/// Errors: InvalidInput unless every contact 0..contacts-1 stands in `order`, and nothing else.
void check_order(std::span<const int> order, int contacts);

}  // namespace carom::reference
