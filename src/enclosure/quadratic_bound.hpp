#pragma once

#include <optional>
#include <string>

#include <carom/impact_enclosure.hpp>

/// Bounds of the outcomes of impacts that are not enclosed by polyhedra: more contacts, or in
/// space. A function that no solution of the inclusion lets grow, the kinetic energy plus a
/// quadratic form of the normal velocities' positive and negative parts, is found by linear
/// programs and proven in integers (docs/explanation/enclosure.md, "Any number of contacts").
namespace carom::enclosure {

/// Largest number of contacts whose form is more than the energy.
inline constexpr int kMostFormContacts = 6;

/// Status `outer`: bounds, no modes, the proof in `invariant`. A problem whose numbers are good, of
/// any dimension and number of contacts. settings: `closeness` and what belongs to it, on all
/// threads that they allow. question: what is asked of it, if nothing else.
ImpactEnclosure bound_by_forms(const ImpactProblem& problem, const EnclosureSettings& settings,
                               const ImpactEvent* question = nullptr);

/// The bounds that `text`, an invariant of bound_by_forms, proves under a law of restitution; none
/// where it proves nothing.
std::optional<ImpactEnclosure> proven_bound(const ImpactProblem& problem, RestitutionLaw law,
                                            const std::string& text);
/// See proves_enclosure: of what bound_by_forms gave.
bool proves_bound(const ImpactProblem& problem, const ImpactEnclosure& enclosure);

}  // namespace carom::enclosure
