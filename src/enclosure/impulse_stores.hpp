#pragma once

#include <vector>

#include <carom/impact.hpp>

#include "enclosure/faces.hpp"
#include "enclosure/rounded_impact.hpp"

/// Stores of impulses (Poisson's law), or of speeds (Newton's), as coordinates in addition to
/// contact velocities: their rates are constant in cones, so that polyhedra follow them as well.
namespace carom::enclosure {

/// Contacts whose stores are coordinates of polyhedra; none where no polyhedra follow the problem's
/// stores: other laws, in space, too many.
std::vector<int> impulse_stores(const ImpactProblem& problem, RestitutionLaw law);

/// Sets gains and rows of RoundedImpact::stores, with its guards; false where a push of theirs
/// moves nothing, or where guards are given that the law has not.
bool complete_stores(const ImpactProblem& problem, RestitutionLaw law, RoundedImpact& impact);

/// Sets guards that hold where no other faces than these are met; false where there are none.
/// impulses: those that also know a contact's impulse, where velocities tell some.
bool find_guards(const std::vector<const Face*>& faces, bool impulses, RoundedImpact& impact);
/// Whether the impact's guards hold as far as motions in this face go.
bool keeps_guards(const RoundedImpact& impact, const Face& face);

}  // namespace carom::enclosure
