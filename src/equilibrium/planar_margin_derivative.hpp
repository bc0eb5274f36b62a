#pragma once

#include <span>

#include <carom/types/derivative_margin.hpp>
#include <carom/types/equilibrium_planar.hpp>

namespace carom {

/// carom/derivative_margin.hpp; strips: of the batch. Shapes and numbers were validated before.
MarginGradient planar_margin_gradients(const PostureBatch& batch, const PlanarResult& strips,
                                       std::span<const double> centre_of_mass,
                                       const DerivativeSettings& derivative,
                                       const MarginWanted& wanted);

}  // namespace carom
