#pragma once

#include <carom/device/contact_geometry.hpp>

namespace carom {
/// The polygon of k evenly spaced directions; planar contacts have the two signs whatever k says.
kernels::FrictionPolygon friction_polygon(int dimension, int directions);
}  // namespace carom
