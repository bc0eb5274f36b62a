#pragma once

#include <string>

#include <carom/impact_enclosure.hpp>

namespace carom::io {

/// Outline of every mode's polyhedra projected on contact velocities (x, y), normals first, then
/// tangents: closed lines for gnuplot, an empty line between two.
std::string outline_of(const ImpactEnclosure& set, int x, int y);

}  // namespace carom::io
