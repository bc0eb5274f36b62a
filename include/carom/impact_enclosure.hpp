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

/// All outcomes of an impact, enclosed from outside: a proof of what cannot happen. Planar impacts
/// with few contacts are enclosed by polyhedra in exact arithmetic; of all others every contact
/// velocity is bounded, less closely, by functions that no solution lets grow. What is enclosed is
/// the set of velocities in which solutions of the differential inclusion (39), (40) of Halm and
/// Posa end, with friction and contacts as in impact.hpp; docs/explanation/enclosure.md derives it.
/// Samples of Algorithm 1 follow the inclusion as h goes to 0 and may lie outside by what a finite
/// step errs.
namespace carom {

/// Largest number of planar contacts that polyhedra enclose.
inline constexpr int kMaxEnclosedContacts = 4;

enum class EnclosureStatus : std::uint8_t {
  enclosed,  ///< a checked fixed point, exact or moved outward by a little `rounding`
  outer,     ///< a checked fixed point that had to be made coarse, or bounds alone: perhaps wide
  budget,    ///< not finished: no statement at all
  invalid_input,
  contradiction,  ///< samples that were followed from event to event end outside of what was proven
                  ///< (rows that are parallel but for rounding): no statement at all
};

std::string_view to_string(EnclosureStatus status);

struct EnclosureSettings {
  double tolerance = 1e-9;         ///< of the largest contact speed before the impact
  std::int64_t budget = 20'000;    ///< polyhedra made at most
  double largest_rounding = 1e-6;  ///< of the set's largest extent: outward moves beyond it make
                                   ///< the enclosure `outer`
  int polyhedra = 4;  ///< of one pattern of contact signs; more are hulled, which holds more than
                      ///< what is reached; twice as many where that does not come to an end
  /// Of bounds alone. 0: by functions of the normal velocities, in milliseconds, for every friction
  /// polygon and the cone. 1: by functions of slip as well, in seconds, for `friction_directions`
  /// of 4 in space. 2: by more of them, in up to a minute. Where these are too many, or not found,
  /// what is coarser is kept.
  int closeness = 1;
  int friction_directions = 4;  ///< k of spatial contacts, which bounds of closeness 0 do not need
  /// Polyhedra of the problem as its doubles say, in longer numbers, at three to four times the
  /// cost. Without it well-conditioned data are rounded (`data_rounding`); all others are taken as
  /// they are in any case.
  bool exact_data = false;
  int threads = 0;  ///< 0 = all hardware threads

  /// See settings.hpp.
  template <class Visit, class... Tables>
  static void each_setting(Visit&& visit, Tables&&... tables) {
    using Range = SettingRange;
    visit({"tolerance",
           "Growth of the enclosure below which it is moved outward instead of being followed, "
           "relative to the largest contact speed",
           Range::tolerance()},
          tables.tolerance...);
    visit({"budget", "Polyhedra made for one problem at most", Range::between(1, 1 << 30)},
          tables.budget...);
    visit({"largest_rounding",
           "Outward moves up to which a set counts as enclosed, relative to its largest extent",
           Range::finite_from(0)},
          tables.largest_rounding...);
    visit({"polyhedra", "Polyhedra kept for one pattern of contact signs", Range::between(1, 64)},
          tables.polyhedra...);
    visit({"closeness",
           "How close bounds of contact velocities are where there are no polyhedra: 0 in "
           "milliseconds, 1 in seconds, 2 in up to a minute",
           Range::between(0, 2)},
          tables.closeness...);
    visit({"friction_directions", "Friction directions of a spatial contact",
           Range::between(4, kMaxFrictionDirections)},
          tables.friction_directions...);
    visit({"exact_data", "Enclose the problem as its doubles say, in longer numbers"},
          tables.exact_data...);
    visit({"threads", "CPU threads", Range::at_least(0), "", "all"}, tables.threads...);
  }

  /// Errors: InvalidInput naming the field and its value.
  void validate() const;
};

/// The outcomes of one mode: within the convex hull of `vertices`, some of which lie inside of it
/// where the set was kept in several polyhedra.
struct EnclosedMode {
  std::uint64_t modes = 0;          ///< as ImpactSamples::modes, at tolerance 0
  std::vector<double> vertices;     ///< contact velocities u = J v+ [m/s], [n, 2 m]
  std::vector<double> constraints;  ///< a.u <= b as (a, b), [c, 2 m + 1]; of the hull
};

struct ImpactEnclosure {
  EnclosureStatus status = EnclosureStatus::budget;
  bool exact = false;     ///< no polyhedron was moved outward
  double rounding = 0.0;  ///< farthest such move of a face [m/s]; bounds may grow by more
  /// What is enclosed is the problem with its data changed by at most this much of their largest;
  /// 0: as its doubles say. Of polyhedra.
  double data_rounding = 0.0;
  std::int64_t made = 0;   ///< polyhedra made
  std::int64_t faces = 0;  ///< patterns of contact signs met
  double seconds = 0.0;
  std::vector<double> normal_velocity_min, normal_velocity_max;    ///< [m/s], [m]; NaN for `budget`
  std::vector<double> tangent_velocity_min, tangent_velocity_max;  ///< likewise, [(d - 1) m]
  /// Possible ones, by modes; empty for `budget`, and where there are bounds alone (spatial, or
  /// more than kMaxEnclosedContacts), which count no outcome as impossible.
  std::vector<EnclosedMode> modes;
  std::vector<std::uint64_t> impossible_modes;  ///< all others, likewise
  /// The rounded problem and the polyhedra of all faces, or the functions, in integers, in text;
  /// `proves_enclosure` and docs/explanation/enclosure.md read it. Empty unless enclosed or outer.
  std::string invariant;
};

/// Encloses every problem of a batch. A problem whose numbers are refused gets
/// EnclosureStatus::invalid_input and harms no other. batch: on the host.
/// Errors: InvalidInput (settings, shapes).
std::vector<ImpactEnclosure> enclose_impacts(const ImpactBatch& batch,
                                             const EnclosureSettings& settings = {});
/// The same of one. Errors: likewise, and a problem that is refused.
ImpactEnclosure enclose_impact(const ImpactProblem& problem,
                               const EnclosureSettings& settings = {});

/// Checks an enclosure anew from the problem and `invariant` alone, in exact arithmetic: that the
/// rounded data are the problem's, that the velocity before the impact is among the polyhedra, that
/// no motion leaves any of them but into another, and that bounds and modes hold what ends there;
/// of bounds alone that no push lets their functions grow.
/// False as well for what is no enclosure. Errors: InvalidInput where the problem is refused.
bool proves_enclosure(const ImpactProblem& problem, const ImpactEnclosure& enclosure);

/// What `enclosure.invariant` proves of the problem in the same way: status as given, bounds, modes
/// and faces anew. Status `budget` where it proves nothing. Errors: likewise.
ImpactEnclosure proven_enclosure(const ImpactProblem& problem, const ImpactEnclosure& enclosure);

/// Something that may be asked never to happen: all of `modes` at once with velocity.u > bound.
struct ImpactEvent {
  std::vector<std::pair<int, ContactMode>> modes;  ///< (contact, mode); sliding: planar u_t > 0
  std::vector<double> direction;                   ///< [d m] of u = J v+, or empty
  double bound = 0.0;                              ///< [m/s]
};

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

enum class ImpactAnswer : std::uint8_t {
  never,    ///< proven: no outcome is the event
  happens,  ///< solutions of the inclusion end in the event, or as close to it as one likes
  open,
  invalid_input,
};

std::string_view to_string(ImpactAnswer answer);

struct ImpactDecision {
  ImpactAnswer answer = ImpactAnswer::open;
  std::int64_t made = 0;  ///< polyhedra made
  double seconds = 0.0;
  ImpactEnclosure proof;  ///< of `never`: an enclosure without the event, for proves_enclosure
};

/// Decides for every problem of a batch whether the event never happens, and stops as soon
/// as that is known: at the first polyhedron of reached velocities that holds it, or at an
/// enclosure, however coarse, without it. Modes at tolerance 0. A problem whose numbers are refused
/// gets ImpactAnswer::invalid_input; one with bounds alone is never, or open. batch: on the host.
/// Errors: InvalidInput (settings, shapes, an event of other contacts).
std::vector<ImpactDecision> decide_impacts(const ImpactBatch& batch, const ImpactEvent& event,
                                           const EnclosureSettings& settings = {});
/// The same of one. Errors: likewise, and a problem that is refused.
ImpactDecision decide_impact(const ImpactProblem& problem, const ImpactEvent& event,
                             const EnclosureSettings& settings = {});

/// Samples beside an enclosure of their problem.
struct OutsideSamples {
  std::int64_t compared = 0;  ///< terminated ones
  std::int64_t outside = 0;   ///< of these, by more than 1e-9 of the largest contact speed before
  double largest = 0.0;       ///< [m/s] farthest distance of one from the enclosure
};

/// Counts the samples of a problem that lie outside of its enclosure, of bounds and of the outcomes
/// of possible modes. Those of Algorithm 1 do with its step.
OutsideSamples compare_samples(const ImpactProblem& problem, const ImpactSamples& samples,
                               std::int64_t index, const ImpactEnclosure& enclosure);
/// The same, with samples of ImpactMethod::events, which nothing puts outside: where one is, the
/// enclosure's status becomes `contradiction` and its statements are taken back. enclose_impact and
/// decide_impact do so with 1,024 samples where the data could not be rounded (data_rounding 0).
OutsideSamples check_by_samples(const ImpactProblem& problem, const ImpactSamples& samples,
                                std::int64_t index, ImpactEnclosure& enclosure);

/// Smallest share, over contact velocities whose enclosed range is wider than 1e-9 of the largest
/// speed among all bounds, of that range which [low, high] fills; 1 where there is none. low, high:
/// [d m], normals first.
double filled_share(const ImpactEnclosure& enclosure, std::span<const double> low,
                    std::span<const double> high);

}  // namespace carom
