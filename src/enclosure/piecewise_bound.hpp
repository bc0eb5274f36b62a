#pragma once

#include <cstddef>
#include <string>

#include <carom/impact_enclosure.hpp>

/// Closer bounds of the outcomes of impacts that are not enclosed by polyhedra, by a piecewise
/// quadratic form for each (piecewise_form.hpp).
namespace carom::enclosure {

/// enclosure.law: of contacts with restitution, likewise below.
/// Lowers the bounds to those of forms that are found, and appends these to the invariant. In space
/// they hold for four friction directions: nothing is done for other numbers. The impact has not
/// ended. question: only the bounds that its half-space asks for; null for all.
void tighten(const ImpactProblem& problem, const EnclosureSettings& settings,
             const ImpactEvent* question, ImpactEnclosure& enclosure);

/// Where the part of an invariant's text that tells these forms begins; its end where there is
/// none.
std::size_t planes_at(const std::string& text);

/// Lowers the bounds to those of the forms in such a part, which may be empty. False where it is
/// damaged or a form does not prove its bound.
bool tighten_by(const ImpactProblem& problem, const std::string& text, ImpactEnclosure& enclosure);

}  // namespace carom::enclosure
