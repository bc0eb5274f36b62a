#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <carom/impact.hpp>
#include <carom/settings.hpp>
#include <carom/types/impact_enclosure.hpp>

/// All outcomes of an impact, enclosed from outside: a proof of what cannot happen. Planar impacts
/// with few contacts are enclosed by polyhedra in exact arithmetic (with restitution up to two, by
/// Poisson's and Newton's laws, where such a search ends); of all others every contact
/// velocity is bounded, less closely, by functions that no solution lets grow. What is enclosed is
/// the set of velocities in which solutions of the differential inclusion (39), (40) of Halm and
/// Posa end, with friction and contacts as in impact.hpp; docs/explanation/enclosure.md derives it.
/// Samples of Algorithm 1 follow the inclusion as h goes to 0 and may lie outside by what a finite
/// step errs.
namespace carom {

/// Encloses every problem of a batch. A problem whose numbers are refused gets
/// EnclosureStatus::invalid_input and harms no other. batch: on the host.
/// Errors: InvalidInput (settings, shapes).
std::vector<ImpactEnclosure> enclose_impacts(const ImpactBatch& batch,
                                             const EnclosureSettings& settings = {});
/// The same of one. Errors: likewise, and a problem that is refused.
ImpactEnclosure enclose_impact(const ImpactProblem& problem,
                               const EnclosureSettings& settings = {});

/// Checks an enclosure anew from the problem and `invariant` only, in exact arithmetic: that the
/// rounded data are the problem's, that the velocity before the impact is among the polyhedra, that
/// no motion leaves any of them but into another, and that bounds and modes hold what ends there;
/// of mere bounds that no push lets their functions grow.
/// False as well for what is no enclosure. Errors: InvalidInput where the problem is refused.
bool proves_enclosure(const ImpactProblem& problem, const ImpactEnclosure& enclosure);

/// What `enclosure.invariant` proves of the problem in the same way: status as given, bounds, modes
/// and faces anew. Status `budget` where it proves nothing. Errors: likewise.
ImpactEnclosure proven_enclosure(const ImpactProblem& problem, const ImpactEnclosure& enclosure);

/// "A separating", "A sliding-, B sticking", "B normal > 0.1", "A tangent < -0.2": events joined by
/// commas are one that needs all. Contacts by their names. At most one comparison. In space
/// contacts are "sliding" and have "tangent1", "tangent2". Errors: InvalidInput naming what is not
/// understood.
ImpactEvent impact_event(std::string_view text, std::span<const std::string> contact_names,
                         int dimension = 2);

/// Whether the enclosure proves that the event never happens.
bool never_happens(const ImpactEnclosure& enclosure, const ImpactEvent& event);
/// First row of a problem's samples in which it does at `mode_tolerance`, terminated ones only;
/// -1 for none. Errors: InvalidInput for an event of other contacts.
std::int64_t first_happening(const ImpactProblem& problem, const ImpactSamples& samples,
                             std::int64_t index, const ImpactEvent& event, double mode_tolerance);

/// Decides for every problem of a batch whether the event never happens, and stops as soon
/// as that is known: at the first polyhedron of reached velocities that holds it, or at an
/// enclosure, however coarse, without it. Modes at tolerance 0. A problem whose numbers are refused
/// gets ImpactAnswer::invalid_input; one with mere bounds is never, or open. batch: on the host.
/// Errors: InvalidInput (settings, shapes, an event of other contacts).
std::vector<ImpactDecision> decide_impacts(const ImpactBatch& batch, const ImpactEvent& event,
                                           const EnclosureSettings& settings = {});
/// The same of one. Errors: likewise, and a problem that is refused.
ImpactDecision decide_impact(const ImpactProblem& problem, const ImpactEvent& event,
                             const EnclosureSettings& settings = {});

/// Counts the samples of a problem that lie outside of its enclosure, of bounds and of the outcomes
/// of possible modes. Those of Algorithm 1 do with its step.
OutsideSamples compare_samples(const ImpactProblem& problem, const ImpactSamples& samples,
                               std::int64_t index, const ImpactEnclosure& enclosure);
/// The same, with samples of ImpactMethod::events, which nothing puts outside: where one is, the
/// enclosure's status becomes `contradiction` and its statements are taken back. enclose_impact and
/// decide_impact do so with 1,024 samples where the data could not be rounded (data_rounding 0),
/// and with 16,384 where normal rows are all but parallel.
OutsideSamples check_by_samples(const ImpactProblem& problem, const ImpactSamples& samples,
                                std::int64_t index, ImpactEnclosure& enclosure);

/// Compares outcomes of samples, as ImpactSummary::mode_counts has them, with those of the
/// enclosure, which are at tolerance 0.
ComparedModes compare_modes(const ImpactProblem& problem, std::span<const std::uint64_t> modes,
                            double mode_tolerance, const ImpactEnclosure& enclosure);
/// The same of samples of ImpactMethod::events; see check_by_samples.
ComparedModes check_by_modes(const ImpactProblem& problem, std::span<const std::uint64_t> modes,
                             double mode_tolerance, ImpactEnclosure& enclosure);
/// Whether the event never happens, but outcomes `within_tolerance` (ComparedModes) may count as
/// it.
bool is_in_doubt(const ImpactEnclosure& enclosure, const ImpactEvent& event,
                 std::span<const std::uint64_t> within_tolerance);

/// Smallest share, over contact velocities, of the enclosed range that [low, high] fills; what is
/// missing counts relative to the range or, where that is more, to `kNarrowRange` of the largest
/// speed among all bounds. Ranges below 1e-9 of that speed do not count; 1 where none does. low,
/// high: [d m], normals first.
double filled_share(const ImpactEnclosure& enclosure, std::span<const double> low,
                    std::span<const double> high);

}  // namespace carom
