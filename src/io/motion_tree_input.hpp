#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include <carom/motion_tree.hpp>

namespace carom::io {

/// {"floating": true, "gravity": [x, y], "links": [{"name", "parent", "joint": "hinge" or "slide",
/// "place", "axis", "mass", "inertia", "mass_centre", "stiffness", "rest", "damping", "effort"}],
/// "contacts": [{"name", "link", "point", "friction"}], "half_spaces": [{"normal", "offset",
/// "friction"}], "springs": [{"from", "from_point", "to", "to_point", "stiffness", "length",
/// "damping"}]}. Links are known by name, parents stand before their children; every contact is
/// against every half-space, with the larger of the frictions given. Errors: InvalidInput naming
/// link, contact, half-space or spring and the field; a loop among the links.
MechanismTree tree_from_json(const nlohmann::json& object, const std::string& name,
                             const std::string& where);

/// {"dimension": 3, "floating": true, "gravity": [x, y, z], ...} as above, vectors of three
/// numbers, "axis" of the joint in the parent, "inertia" three principal moments or xx, yy, zz, xy,
/// xz, yz; no springs between points. Of a floating mechanism the first link is free.
SpatialTree spatial_tree_from_json(const nlohmann::json& object, const std::string& name,
                                   const std::string& where);

/// 2 or 3 of a mechanism; 2 where it says none. Errors: InvalidInput, also where it is no object.
int tree_dimension(const nlohmann::json& object, const std::string& where);

}  // namespace carom::io
