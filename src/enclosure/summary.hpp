#pragma once

#include <map>
#include <vector>

#include <carom/impact_enclosure.hpp>

#include "enclosure/reach.hpp"

namespace carom::enclosure {

/// Contact modes of a terminal face.
std::uint64_t modes_of(FaceCode code, int contacts);
/// Contact velocities at a point of a terminal face [2 m]; what is 0 on the face is 0.
std::vector<double> velocities_of(const RoundedImpact& impact, FaceCode code, const Vector& point);
/// Sets to 0 what is 0 on a terminal face.
void make_zeros(FaceCode code, int contacts, std::vector<double>& u);

/// Bounds, modes and impossible modes of what a family's terminal polyhedra hold.
void summarise(const RoundedImpact& impact, const Family& family, ImpactEnclosure& enclosure);

/// Bounds of which nothing is known.
void set_unknown(const ImpactProblem& problem, ImpactEnclosure& enclosure);

/// Whether the first's bounds are not beyond the second's; false where they are of other contacts.
bool is_within(const ImpactEnclosure& inner, const ImpactEnclosure& outer);

}  // namespace carom::enclosure
