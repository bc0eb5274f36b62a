#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include <carom/types/motion_terms.hpp>

/// The plain structs of carom/motion_tree.hpp.
namespace carom {

inline constexpr int kMostTreeLinks = 8;
inline constexpr int kMostTreeContacts = 12;

/// A link with the joint that carries it. Its frame has its origin at a hinge, or moves along a
/// slide without turning against its parent.
struct TreeLink {
  std::string name;
  int parent = -1;      ///< an earlier link; -1: the floating point, or the world without one
  bool slides = false;  ///< a slide instead of a hinge
  std::array<double, 2> hinge{};        ///< place of the joint, in the parent [m]
  double axis = 0.0;                    ///< of a slide, angle in the parent [rad]
  double mass = 1.0;                    ///< [kg], >= 0
  double inertia = 0.0;                 ///< about the centre of mass [kg m2], >= 0
  std::array<double, 2> mass_centre{};  ///< in the link [m]
  double stiffness = 0.0;               ///< of a spring in the joint [N m/rad or N/m], >= 0
  double rest = 0.0;                    ///< joint coordinate at which that spring rests
  double damping = 0.0;                 ///< of the joint [N m s/rad or N s/m], >= 0
  double effort = 0.0;                  ///< constant torque or force of the joint [N m or N]
};

/// A point of a link against the half-space normal'z >= offset.
struct TreeContact {
  std::string name;
  int link = 0;
  std::array<double, 2> point{};           ///< in the link [m]
  std::array<double, 2> normal{0.0, 1.0};  ///< of length 1
  double offset = 0.0;                     ///< [m]
  double friction = 0.0;                   ///< mu >= 0
};

/// A spring and damper between two points, each of a link or of the world (-1).
struct TreeSpring {
  int from = -1;
  std::array<double, 2> from_point{};
  int to = 0;
  std::array<double, 2> to_point{};
  double stiffness = 0.0;  ///< [N/m], >= 0
  double length = 0.0;     ///< at rest [m], >= 0
  double damping = 0.0;    ///< [N s/m], >= 0
};

/// q = (x, y of the floating point, if there is one; then each link's joint coordinate).
struct MechanismTree {
  std::string name;
  bool floating = true;
  std::array<double, 2> gravity{0.0, -9.81};  ///< [m/s2]
  std::vector<TreeLink> links;
  std::vector<TreeContact> contacts;
  std::vector<TreeSpring> springs;
};

inline constexpr int kMostSpatialTreeLinks = 7;
inline constexpr int kMostSpatialTreeContacts = 8;
inline constexpr int kMostSpatialTreeVelocities = 12;

/// A link in space with the joint that carries it. Its frame has its origin at the joint and its
/// parent's axes where the joint's coordinate is zero; that of a free link is anywhere in it.
struct SpatialTreeLink {
  std::string name;
  int parent = -1;                      ///< an earlier link; -1: the world; -1 of a free link
  bool slides = false;                  ///< a slide along the axis instead of a hinge about it
  bool ball = false;                    ///< a ball joint, which has no axis and no spring
  std::array<double, 3> place{};        ///< of the joint, in the parent [m]
  std::array<double, 3> axis{0, 0, 1};  ///< of the joint, in the parent, of length 1
  double mass = 1.0;                    ///< [kg], >= 0
  std::array<double, 6> inertia{};      ///< xx, yy, zz, xy, xz, yz about the centre of mass, in the
                                        ///< link's axes [kg m2]; no principal moment negative or
                                        ///< larger than the sum of the others
  std::array<double, 3> mass_centre{};  ///< in the link [m]
  double stiffness = 0.0;               ///< as TreeLink's, likewise below
  double rest = 0.0;
  double damping = 0.0;
  double effort = 0.0;
};

/// A point of a link against the half-space normal'z >= offset.
struct SpatialTreeContact {
  std::string name;
  int link = 0;
  std::array<double, 3> point{};          ///< in the link [m]
  std::array<double, 3> normal{0, 0, 1};  ///< of length 1
  double offset = 0.0;                    ///< [m]
  double friction = 0.0;                  ///< mu >= 0
};

/// With a free first link q = (place of its origin, quaternion w, x, y, z from it to the world;
/// joint coordinates of the others), v = (velocity of that origin in the world, angular velocity in
/// the link; rates of the joints); without, the joint coordinates of all and their rates. Those of
/// a ball are a quaternion from the link to its parent and the angular velocity against the parent,
/// in the link. At most 12 velocities.
struct SpatialTree {
  std::string name;
  bool floating = true;                            ///< the first link is free
  std::array<double, 3> gravity{0.0, 0.0, -9.81};  ///< [m/s2]
  std::vector<SpatialTreeLink> links;
  std::vector<SpatialTreeContact> contacts;
};

}  // namespace carom
