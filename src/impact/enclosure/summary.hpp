#pragma once

#include <map>
#include <vector>

#include <carom/impact_enclosure.hpp>

#include "impact/enclosure/reach.hpp"

namespace carom::enclosure {

using Family = std::map<FaceCode, std::vector<Piece>>;

/// Contact modes of a terminal face.
std::uint64_t modes_of(FaceCode code, int contacts);
/// Contact velocities at a point of a terminal face [2 m]; what is 0 on the face is 0.
std::vector<double> velocities_of(const RoundedImpact& impact, FaceCode code, const Vector& point);

/// Bounds, modes and impossible modes of what a family's terminal polyhedra hold.
void summarise(const RoundedImpact& impact, const Family& family, ImpactEnclosure& enclosure);

}  // namespace carom::enclosure
