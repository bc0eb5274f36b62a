#pragma once

#include <span>

#include "equilibrium/prepared_support.hpp"

namespace carom::cpu {

/// Directions of every posture of a batch, by any code.
SupportResult drive_support(const SupportCode& code, const PostureBatch& batch,
                            std::span<const double> directions, const SpatialSettings& settings,
                            WorkspaceState* workspace = nullptr);

}  // namespace carom::cpu
