#pragma once

#include <span>

#include <carom/types/derivative_margin.hpp>

#include "equilibrium/spatial_backends.hpp"
#include "equilibrium/support_code.hpp"

namespace carom {

/// carom/derivative_margin.hpp, by the kernels of `code`. Shapes and numbers were validated before.
MarginGradient margin_gradients(const SupportCode& code, const PostureBatch& batch,
                                std::span<const double> centre_of_mass,
                                const SpatialSettings& settings,
                                const DerivativeSettings& derivative, const MarginWanted& wanted);

}  // namespace carom
