#pragma once

#include <array>
#include <cstdint>

#include <carom/device/contact_geometry.hpp>
#include <carom/types/impact.hpp>

namespace carom {

/// Contact modes of one solution of a step, one code a contact: 0 separating; otherwise
/// 1 + place, or 1 + places + place where the contact is fully activated. Places of the tangential
/// impulse: corner j of the polygon is j; the inside of edge j (spatial) k + j; sticking the last.
inline constexpr int kMaxTabledContacts = 6;
using ModeCodes = std::array<std::uint8_t, kMaxTabledContacts>;

/// Number of places: 3 planar, 2 k + 1 spatial.
CAROM_HOST_DEVICE constexpr int mode_places(int dimension,
                                            const kernels::FrictionPolygon& polygon) {
  return dimension == 2 ? 3 : 2 * polygon.count + 1;
}

/// Conditions of a combination at most.
constexpr int most_conditions(int dimension, int contacts,
                              const kernels::FrictionPolygon& polygon) {
  return contacts * (dimension == 2 ? 3 : polygon.count < 4 ? 5 : polygon.count + 1);
}

}  // namespace carom
