#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <carom/types/impact.hpp>
#include <carom/types/settings.hpp>
#include <carom/types/words.hpp>

/// The plain structs of carom/impact_enclosure.hpp.
namespace carom {

/// Largest number of planar contacts that polyhedra enclose.
inline constexpr int kMaxEnclosedContacts = 4;

/// Of the largest proven speed: coverage of narrower ranges is measured against it.
inline constexpr double kNarrowRange = 0.05;

enum class EnclosureStatus : std::uint8_t {
  enclosed,  ///< a checked fixed point, exact or moved outward by a little `rounding`
  outer,     ///< a checked fixed point that had to be made coarse, or mere bounds: perhaps wide
  budget,    ///< not finished: no statement at all
  invalid_input,
  contradiction,  ///< samples that were followed from event to event end outside of what was proven
                  ///< (rows that are parallel but for rounding): no statement at all
};

template <>
inline constexpr auto words<EnclosureStatus> = std::to_array<Word<EnclosureStatus>>({
    {EnclosureStatus::enclosed, "enclosed"},
    {EnclosureStatus::outer, "outer"},
    {EnclosureStatus::budget, "budget"},
    {EnclosureStatus::invalid_input, "invalid_input"},
    {EnclosureStatus::contradiction, "contradiction"},
});

struct EnclosureSettings {
  double tolerance = 1e-9;         ///< of the largest contact speed before the impact
  std::int64_t budget = 20'000;    ///< polyhedra made at most
  double largest_rounding = 1e-6;  ///< of the set's largest extent: outward moves beyond it make
                                   ///< the enclosure `outer`
  int polyhedra = 4;  ///< of one pattern of contact signs; more are hulled, which holds more than
                      ///< what is reached; twice as many where that does not come to an end
  /// Of mere bounds. 0: by functions of the normal velocities, in milliseconds, for every friction
  /// polygon and the cone. 1: by functions of slip as well, in seconds, for `friction_directions`
  /// of 4 in space. 2: by more of them, in up to a minute. Where these are too many, or not found,
  /// what is coarser is kept.
  int closeness = 1;
  int friction_directions = 4;  ///< k of spatial contacts, which bounds of closeness 0 do not need
  /// Polyhedra of the problem as its doubles say, in longer numbers, at three to four times the
  /// cost. Without it well-conditioned data are rounded (`data_rounding`); all others are taken as
  /// they are in any case.
  bool exact_data = false;
  RestitutionLaw law = RestitutionLaw::stronge;  ///< of contacts with restitution
  int threads = 0;                               ///< 0 = all hardware threads

  /// See settings.hpp.
  template <class Visit, class... Tables>
  static void each_setting(Visit&& visit, Tables&&... tables) {
    using Range = SettingRange;
    visit({"tolerance",
           "Growth of the enclosure below which it is moved outward instead of being followed, "
           "relative to the largest contact speed",
           Range::tolerance()},
          tables.tolerance...);
    visit({"budget", "Largest number of polyhedra per problem", Range::between(1, 1 << 30)},
          tables.budget...);
    visit({"largest_rounding",
           "Largest outward move of a set that counts as enclosed, relative to its extent",
           Range::finite_from(0)},
          tables.largest_rounding...);
    visit({"polyhedra", "Polyhedra per pattern of contact signs", Range::between(1, 64)},
          tables.polyhedra...);
    visit({"closeness",
           "How close bounds of contact velocities are where there are no polyhedra: 0 in "
           "milliseconds, 1 in seconds, 2 in up to a minute",
           Range::between(0, 2)},
          tables.closeness...);
    visit({"friction_directions", "Friction directions of a spatial contact",
           Range::between(4, kMaxFrictionDirections)},
          tables.friction_directions...);
    visit({"exact_data", "Use the problem's doubles without rounding; needs longer integers"},
          tables.exact_data...);
    visit({"law", "Law of restitution"}, tables.law...);
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
  RestitutionLaw law = RestitutionLaw::stronge;  ///< of what is enclosed, with restitution
  bool exact = false;                            ///< no polyhedron was moved outward
  double rounding = 0.0;  ///< farthest such move of a face [m/s]; bounds may grow by more
  /// What is enclosed is the problem with its data changed by at most this much of their largest;
  /// 0: as its doubles say. Of polyhedra.
  double data_rounding = 0.0;
  std::int64_t made = 0;   ///< polyhedra made
  std::int64_t faces = 0;  ///< patterns of contact signs met
  double seconds = 0.0;
  std::vector<double> normal_velocity_min, normal_velocity_max;    ///< [m/s], [m]; NaN for `budget`
  std::vector<double> tangent_velocity_min, tangent_velocity_max;  ///< likewise, [(d - 1) m]
  /// Possible ones, by modes; empty for `budget`, and where there are mere bounds (spatial, or
  /// more than kMaxEnclosedContacts), which count no outcome as impossible.
  std::vector<EnclosedMode> modes;
  std::vector<std::uint64_t> impossible_modes;  ///< all others, likewise
  /// The rounded problem and the polyhedra of all faces, or the functions, in integers, in text;
  /// `proves_enclosure` and docs/explanation/enclosure.md read it. Empty unless enclosed or outer.
  std::string invariant;
};

/// Something that may be asked never to happen: all of `modes` at once with velocity.u > bound.
struct ImpactEvent {
  std::vector<std::pair<int, ContactMode>> modes;  ///< (contact, mode); sliding: planar u_t > 0
  std::vector<double> direction;                   ///< [d m] of u = J v+, or empty
  double bound = 0.0;                              ///< [m/s]
};

enum class ImpactAnswer : std::uint8_t {
  never,    ///< proven: no outcome is the event
  happens,  ///< solutions of the inclusion end in the event, or as close to it as one likes
  open,
  invalid_input,
};

template <>
inline constexpr auto words<ImpactAnswer> = std::to_array<Word<ImpactAnswer>>({
    {ImpactAnswer::never, "never"},
    {ImpactAnswer::happens, "happens"},
    {ImpactAnswer::open, "open"},
    {ImpactAnswer::invalid_input, "invalid_input"},
});

struct ImpactDecision {
  ImpactAnswer answer = ImpactAnswer::open;
  std::int64_t made = 0;  ///< polyhedra made
  double seconds = 0.0;
  ImpactEnclosure proof;  ///< of `never`: an enclosure without the event, for proves_enclosure
};

/// Sampled outcomes that an enclosure excludes, in the order in which they were given.
struct ComparedModes {
  /// Slow contacts explain these: an outcome of the enclosure may count as such at mode_tolerance.
  std::vector<std::uint64_t> within_tolerance;
  std::vector<std::uint64_t> outside;  ///< no outcome of the enclosure does
};

/// Samples compared with an enclosure of their problem.
struct OutsideSamples {
  std::int64_t compared = 0;  ///< terminated ones
  std::int64_t outside = 0;   ///< of these, by more than 1e-9 of the largest contact speed before
  double largest = 0.0;       ///< [m/s] farthest distance of one from the enclosure
};

}  // namespace carom
