#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "enclosure/bounce_planes.hpp"
#include "enclosure/rounded_impact.hpp"

/// Velocity space cut into cones by planes through 0, on each of which the inclusion's rates are
/// the same: what a piecewise quadratic function of the velocity must fulfil for no solution to let
/// it grow. The cones are enumerated in exact integers, numbers of directions are their doubles.
namespace carom::enclosure {

/// A ray of velocities, or of rates, of length 1: twice its kinetic energy is 1.
struct Direction {
  std::vector<double> part;    ///< rate of every plane's row, in units of the row's length; 0 is 0
  std::vector<double> energy;  ///< coordinates that the kinetic energy is half the square of
  double doubt = 1.0;          ///< length of the terms in `energy`, by which rounding may err
  /// Of rates of contacts with stores: normal impulses [m], in units in which their products with
  /// the velocities of Arrangement::row are powers.
  std::vector<double> impulse;
};

/// A set of planes, bit k: plane k.
using Planes = std::uint32_t;
inline constexpr int kMostPlanes = 32;

/// In some face's closure, one of its corner rays, and a motion that stays in the face.
struct Descent {
  std::uint32_t corner, motion;
  Planes above, below;  ///< planes that the face lies on a side of, where the motion has a part
};

struct Arrangement {
  int planes = 0;
  std::vector<Direction> corners;  ///< rays of all faces
  std::vector<Direction> motions;
  std::vector<Descent> descents;
  std::vector<double> stored, least_stored;  ///< of RoundedImpact
  /// Pairs of corners of faces in which nothing approaches, i <= j.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> outcomes;
  Direction start;  ///< the velocity before the impact
  double speed;     ///< its length
  /// Rows of J as (row, length): contact velocity = length * row . energy coordinates, normals
  /// first, then tangents.
  std::vector<std::vector<double>> row;
  std::vector<double> length;
};

/// Planes in addition to those of the contacts' rows, each with those before it.
enum class Refinement : std::uint8_t {
  none,
  pairs,   ///< where two contacts approach equally fast, in units of their rows
  events,  ///< where a contact's push ends its approach and its slip, or a row of it, at once
  ratios,  ///< of pairs: also where one contact approaches twice as fast as another, or separates
           ///< as fast as the other approaches, twice or half as fast; with stores each matters
  all,     ///< ratios and events
  spread,  ///< as ratios, but where both separate or both approach, four times as fast as well, and
           ///< where they do not only as fast as each other
  finest,  ///< all and spread
};

struct ArrangementLimits {
  Refinement refinement = Refinement::none;
  int planes = kMostPlanes;
  std::int64_t faces = 0;             ///< cones
  std::vector<PlaneBetween> between;  ///< planes besides
};

/// None where there are more planes or cones than that, or no velocity.
std::optional<Arrangement> arrange(const RoundedImpact& impact, const ArrangementLimits& limits);

}  // namespace carom::enclosure
