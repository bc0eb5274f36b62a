#pragma once

#include <optional>
#include <vector>

#include <carom/device/contact_geometry.hpp>

#include "reference/impact/mechanism.hpp"

namespace carom::reference {

/// Neighbouring friction directions of a contact: the first one's index and how many. All of them:
/// the contact sticks; two: its slip is opposed equally by both; one: by that one most.
struct Arc {
  int first = 0, count = 0;
  friend bool operator==(const Arc&, const Arc&) = default;
};

/// The friction directions of every contact, and which of them oppose a slip. Planar: +1 and -1.
class FrictionPolygon {
 public:
  FrictionPolygon(int dimension, int directions);

  [[nodiscard]] int directions() const { return static_cast<int>(directions_.cols()); }
  [[nodiscard]] int tangents() const { return static_cast<int>(directions_.rows()); }
  [[nodiscard]] Vector direction(int j) const { return directions_.col(j % directions()); }
  [[nodiscard]] Arc all() const { return {0, directions()}; }
  /// The number of an arc, and back: all; each direction; each pair.
  [[nodiscard]] int number(const Arc& arc) const;
  [[nodiscard]] Arc arc(int number) const;
  [[nodiscard]] int arcs() const { return tangents() == 1 ? 3 : 1 + 2 * directions(); }
  [[nodiscard]] bool contains(const Arc& arc, int direction) const;

  /// From d_j towards d_(j+1), of length one.
  [[nodiscard]] Vector edge(int j) const;
  /// Unit slip that d_j and d_(j+1) oppose equally and most.
  [[nodiscard]] Vector ray(int j) const;
  /// The directions that oppose a slip most, components up to `nothing` being none.
  [[nodiscard]] Arc opposing(const Vector& slip, double nothing) const;
  /// Those right after a slip with these ones at this rate.
  [[nodiscard]] Arc after(const Arc& now, const Vector& rate, double nothing) const;
  /// Those of a slip that `now` opposes, or of one with fewer components within `nothing` of it.
  [[nodiscard]] Arc closest(const Arc& now, const Vector& slip, double nothing) const;
  /// The slip with exactly these directions opposing that is nearest.
  [[nodiscard]] Vector onto(const Arc& arc, const Vector& slip) const;
  /// Directions whose vertex or edge of `limit` times the polygon is nearest to a friction outside;
  /// all for one within.
  [[nodiscard]] Arc nearest(const Vector& friction, double limit, double slack) const;
  /// By how much a friction lies outside of `limit` times the polygon.
  [[nodiscard]] double beyond(const Vector& friction, double limit) const;
  /// What certificates take.
  [[nodiscard]] kernels::FrictionPolygon judged() const;
  /// max over the directions of -d . slip.
  [[nodiscard]] double most_taken(const Vector& slip) const;

 private:
  Matrix directions_;  // [tangents, k]
};

}  // namespace carom::reference
