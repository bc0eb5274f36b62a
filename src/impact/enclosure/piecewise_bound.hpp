#pragma once

#include <string>

#include <carom/impact_enclosure.hpp>

/// Closer bounds of the outcomes of impacts that are not enclosed by polyhedra, by a piecewise
/// quadratic form for each (piecewise_form.hpp).
namespace carom::enclosure {

/// Begins the part of an invariant's text that tells these forms.
inline constexpr const char* kPlanesWord = "carom-planes";

/// Lowers the bounds to those of forms that are found, and appends these to the invariant. In space
/// they hold for four friction directions: nothing is done for other numbers.
void tighten(const ImpactProblem& problem, const EnclosureSettings& settings,
             ImpactEnclosure& enclosure);

/// Lowers the bounds to those of the forms in `text`, from kPlanesWord on. False where it is not such
/// a text or a form does not prove its bound.
bool tighten_by(const ImpactProblem& problem, const std::string& text, ImpactEnclosure& enclosure);

}  // namespace carom::enclosure
