#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <carom/equilibrium_membership.hpp>
#include <carom/equilibrium_planar.hpp>
#include <carom/equilibrium_spatial.hpp>
#include <carom/equilibrium_three_contacts.hpp>
#include <carom/posture.hpp>

#include "run/numbers.hpp"
#include "run/parameters.hpp"

namespace carom::run {

using Point2 = std::array<double, 2>;

/// One posture's part of a PlanarResult.
struct PlanarRegion {
  Status status = Status::cancelled;
  double torque_min = 0.0;  ///< [N m]
  double torque_max = 0.0;
  Point2 normal{};
  double lower = 0.0;  ///< [m]
  double upper = 0.0;
  std::vector<int> essential;
  std::vector<double> force;   ///< [2, k, 2] [N]
  std::vector<double> torque;  ///< [2, k] [N m]
  Point2 height{};
  Point2 separation{};
  std::optional<Status> robust_status;        ///< where the posture has a set of wrenches
  std::vector<std::array<double, 4>> strips;  ///< of its vertices: normal, lower, upper
  double robust_residual = 0.0;
  std::vector<Point2> robust_polygon;
};

/// The robust region of a spatial posture and its cross-section at one height.
struct SpatialRobust {
  RobustRegion region;
  double height = 0.0;  ///< z [m]
  RobustSection section;
};

/// A centre of mass that was asked for.
struct MassProbe {
  std::vector<double> centre_of_mass;
  Status status = Status::cancelled;      ///< spatial: infeasible where it is proven not to be held
  double distance = 0.0;                  ///< to the region's boundary, negative outside [m]
  std::optional<double> robust_distance;  ///< to that of the robust region [m]
  std::optional<double> scale;            ///< planar: of the largest set of wrenches held
  std::optional<int> robust_contains;     ///< spatial: as robust_contains()
  std::vector<double> forces;             ///< spatial, least norm, [k, 3]; empty where not held

  /// Whether it is held, where that is proven: planar by the strip, spatial by forces or by a
  /// half-plane.
  [[nodiscard]] std::optional<bool> held() const {
    if (status == Status::infeasible) return false;
    if (centre_of_mass.size() == 3)
      return status == Status::solved ? std::optional(true) : std::nullopt;
    return distance == distance ? std::optional(distance >= 0.0) : std::nullopt;
  }
};

/// Where a parameter begins or ceases to hold the asked centre of mass.
struct Critical {
  std::string parameter;
  double low = 0.0;  ///< the range that was searched
  double high = 0.0;
  std::optional<bool> held_low;
  std::optional<bool> held_high;
  double held = 0.0;      ///< nearest value that is proven to hold
  double not_held = 0.0;  ///< nearest one that is proven not to
  int questions = 0;

  [[nodiscard]] bool found() const { return held_low && held_high && *held_low != *held_high; }
};

/// Everything about one posture.
struct EquilibriumRun {
  std::string name;
  std::vector<std::string> contact_names;
  Posture posture;
  Backend backend = Backend::cpu;
  double seconds = 0.0;  ///< of the whole batch that the posture was computed in
  std::int64_t batch = 1;
  PlanarSettings planar_settings;
  SpatialSettings spatial_settings;
  PlanarRegion planar;                      ///< of a planar posture
  SpatialRegion spatial;                    ///< of a spatial one
  std::optional<ThreeContactRegion> three;  ///< of three contacts, where section 3 applies
  Numbers numbers;                          ///< of either, by the lists of their results
  std::optional<SpatialRobust> robust;      ///< of a spatial posture with a set of wrenches
  std::optional<MassProbe> probe;
  Parameters parameters;  ///< swept or drawn
  std::optional<Critical> critical;

  [[nodiscard]] Status status() const {
    return posture.dimension == 2 ? planar.status : spatial.status;
  }
  /// The largest of the answers, NaN without any.
  [[nodiscard]] double residual() const { return number_named(numbers, "residual"); }
  /// The external force, gravity of unit weight where the posture names none.
  [[nodiscard]] std::vector<double> wrench() const {
    if (!posture.wrench.empty()) return posture.wrench;
    std::vector<double> gravity(static_cast<std::size_t>(wrench_size(posture.dimension)), 0.0);
    gravity[static_cast<std::size_t>(posture.dimension) - 1] = -1.0;
    return gravity;
  }
};

}  // namespace carom::run
