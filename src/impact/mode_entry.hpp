#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "impact/body/impact_body.hpp"

namespace carom {

/// Contact modes of one solution of a step, one code a contact: 0 separating; otherwise
/// 1 + place, or 1 + places + place where the contact is fully activated. Places of the tangential
/// impulse: corner j of the polygon is j; the inside of edge j (spatial) k + j; sticking the last.
using ModeCodes = std::array<std::uint8_t, kMaxContacts>;

/// Number of places: 3 planar, 2 k + 1 spatial.
int mode_places(int dimension, const kernels::FrictionPolygon& polygon);

/// One combination of modes as functions of z = [u; lambda_max].
struct ModeEntry {
  std::vector<double> map;         ///< impulse, [rows, rows + m]
  std::vector<double> conditions;  ///< not negative where the combination holds, [n, rows + m]
};

/// Empty where the combination's system is singular.
std::optional<ModeEntry> mode_entry(int dimension, const kernels::ImpactProblemView& problem,
                                    const kernels::ImpactRun& run, const ModeCodes& codes);

}  // namespace carom
