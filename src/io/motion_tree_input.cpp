#include "io/motion_tree_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "io/json_file.hpp"

namespace carom::io {

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 7> kTreeKeys = {
    "dimension", "floating", "gravity", "links", "contacts", "half_spaces", "springs"};
constexpr std::array<std::string_view, 6> kSpatialTreeKeys = {
    "dimension", "floating", "gravity", "links", "contacts", "half_spaces"};
constexpr std::array<std::string_view, 12> kLinkKeys = {
    "name",    "parent",      "joint",     "place", "axis",    "mass",
    "inertia", "mass_centre", "stiffness", "rest",  "damping", "effort"};
constexpr std::array<std::string_view, 4> kTreeContactKeys = {"name", "link", "point", "friction"};
constexpr std::array<std::string_view, 3> kHalfSpaceKeys = {"normal", "offset", "friction"};
constexpr std::array<std::string_view, 7> kSpringKeys = {
    "from", "from_point", "to", "to_point", "stiffness", "length", "damping"};

double optional_number(const json& object, const char* key, double absent,
                       const std::string& where) {
  return object.contains(key) ? read_number(object, key, where) : absent;
}

template <std::size_t kCount>
std::array<double, kCount> optional_vector(const json& object, const char* key,
                                           const std::array<double, kCount>& absent,
                                           const std::string& where) {
  if (!object.contains(key)) return absent;
  const std::vector<double> values = read_numbers(object, key, where);
  if (values.size() != kCount) {
    throw InvalidInput(
        fmt::format("{}: {} has {} numbers: must have {}", where, key, values.size(), kCount));
  }
  std::array<double, kCount> result;
  std::copy(values.begin(), values.end(), result.begin());
  return result;
}

/// entry(object, place) for every object of a list that may be missing.
template <class Entry>
void each_entry(const json& object, const char* key, const std::string& where, Entry&& entry) {
  if (!object.contains(key)) return;
  const json& list = object[key];
  if (!list.is_array()) {
    throw InvalidInput(
        fmt::format("{}: {} is {}: must be a list of objects", where, key, shown(list)));
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string place = fmt::format("{}: {}[{}]", where, key, i);
    if (!list[i].is_object()) throw InvalidInput(place + ": must be an object");
    entry(list[i], place);
  }
}

/// Links by their names, of all that the list has.
class LinkNames {
 public:
  LinkNames(const json& tree, const std::string& where) {
    each_entry(tree, "links", where, [&](const json& link, const std::string& place) {
      names_.push_back(read_text(link, "name", place));
      if (std::count(names_.begin(), names_.end(), names_.back()) > 1) {
        throw InvalidInput(
            fmt::format("{}: name is \"{}\": another link has it", place, names_.back()));
      }
      parents_.push_back(link.contains("parent") && !link["parent"].is_null()
                             ? read_text(link, "parent", place)
                             : "");
    });
  }

  [[nodiscard]] int find(const json& object, const char* key, const std::string& where) const {
    const std::string name = read_text(object, key, where);
    const auto at = std::find(names_.begin(), names_.end(), name);
    if (at != names_.end()) return static_cast<int>(at - names_.begin());
    throw InvalidInput(
        fmt::format("{}: {} is \"{}\": must be the name of a link", where, key, name));
  }
  /// -1 where the key is missing or null.
  [[nodiscard]] int find_or_none(const json& object, const char* key,
                                 const std::string& where) const {
    if (!object.contains(key) || object[key].is_null()) return -1;
    return find(object, key, where);
  }

  /// Refuses a link whose parents lead back to it.
  void require_no_loop(std::size_t link, const std::string& where) const {
    std::size_t at = link;
    std::string way = names_[link];
    for (std::size_t steps = 0; steps <= names_.size() && !parents_[at].empty(); ++steps) {
      const auto next = std::find(names_.begin(), names_.end(), parents_[at]);
      if (next == names_.end()) return;
      at = static_cast<std::size_t>(next - names_.begin());
      way += " > " + names_[at];
      if (at != link) continue;
      throw InvalidInput(
          fmt::format("{}: parent is \"{}\": makes a loop, {}", where, parents_[link], way));
    }
  }

 private:
  std::vector<std::string> names_, parents_;
};

/// What links in the plane and in space have in common; inertia and axis are left to the caller.
template <class Link>
Link link_from_json(const json& object, const LinkNames& names, std::size_t index,
                    const std::string& where) {
  require_known_keys(object, kLinkKeys, where);
  names.require_no_loop(index, where);
  Link link;
  link.name = read_text(object, "name", where);
  link.parent = names.find_or_none(object, "parent", where);
  if (link.parent >= static_cast<int>(index)) {
    throw InvalidInput(fmt::format("{}: parent is {}: must stand before its children", where,
                                   shown(object["parent"])));
  }
  if (object.contains("joint")) {
    const std::string joint = read_text(object, "joint", where);
    constexpr bool kSpatial = requires { link.ball; };
    if constexpr (kSpatial) {
      link.ball = joint == "ball";
      if (link.ball && object.contains("axis")) {
        throw InvalidInput(fmt::format("{}: axis: a ball joint has none", where));
      }
    }
    if (joint != "hinge" && joint != "slide" && !(kSpatial && joint == "ball")) {
      throw InvalidInput(fmt::format("{}: joint is \"{}\": must be {}", where, joint,
                                     kSpatial ? "hinge, slide or ball" : "hinge or slide"));
    }
    link.slides = joint == "slide";
  }
  link.mass = read_number(object, "mass", where);
  link.mass_centre = optional_vector(object, "mass_centre", link.mass_centre, where);
  link.stiffness = optional_number(object, "stiffness", 0.0, where);
  link.rest = optional_number(object, "rest", 0.0, where);
  link.damping = optional_number(object, "damping", 0.0, where);
  link.effort = optional_number(object, "effort", 0.0, where);
  return link;
}

TreeLink planar_link(const json& object, const LinkNames& names, std::size_t index,
                     const std::string& where) {
  auto link = link_from_json<TreeLink>(object, names, index, where);
  link.hinge = optional_vector(object, "place", link.hinge, where);
  link.axis = optional_number(object, "axis", 0.0, where);
  link.inertia = optional_number(object, "inertia", 0.0, where);
  return link;
}

SpatialTreeLink spatial_link(const json& object, const LinkNames& names, std::size_t index,
                             const std::string& where) {
  auto link = link_from_json<SpatialTreeLink>(object, names, index, where);
  link.place = optional_vector(object, "place", link.place, where);
  link.axis = optional_vector(object, "axis", link.axis, where);
  if (!object.contains("inertia")) return link;
  const std::vector<double> inertia = read_numbers(object, "inertia", where);
  if (inertia.size() != 3 && inertia.size() != 6) {
    throw InvalidInput(fmt::format(
        "{}: inertia has {} numbers: must have 3, principal moments, or 6, xx, yy, zz, xy, xz, yz",
        where, inertia.size()));
  }
  std::copy(inertia.begin(), inertia.end(), link.inertia.begin());
  return link;
}

void read_floating(const json& object, bool& floating, const std::string& where) {
  if (!object.contains("floating")) return;
  if (!object["floating"].is_boolean()) {
    throw InvalidInput(
        fmt::format("{}: floating is {}: must be true or false", where, shown(object["floating"])));
  }
  floating = object["floating"].get<bool>();
}

/// Every point against every half-space, of which there is the floor where none is given.
template <class Contact>
std::vector<Contact> contacts_from_json(const json& object, const LinkNames& names,
                                        const std::string& where) {
  std::vector<Contact> surfaces;
  each_entry(object, "half_spaces", where, [&](const json& space, const std::string& place) {
    require_known_keys(space, kHalfSpaceKeys, place);
    Contact& surface = surfaces.emplace_back();
    surface.normal = optional_vector(space, "normal", surface.normal, place);
    surface.offset = optional_number(space, "offset", 0.0, place);
    surface.friction = optional_number(space, "friction", 0.0, place);
  });
  if (surfaces.empty()) surfaces.emplace_back();  // the floor
  std::vector<Contact> contacts;
  each_entry(object, "contacts", where, [&](const json& point, const std::string& place) {
    require_known_keys(point, kTreeContactKeys, place);
    for (std::size_t k = 0; k < surfaces.size(); ++k) {
      Contact contact = surfaces[k];
      if (point.contains("name")) contact.name = read_text(point, "name", place);
      if (surfaces.size() > 1) contact.name += fmt::format("/{}", k + 1);
      contact.link = names.find(point, "link", place);
      contact.point = optional_vector(point, "point", contact.point, place);
      contact.friction =
          std::max(contact.friction, optional_number(point, "friction", contact.friction, place));
      contacts.push_back(contact);
    }
  });
  return contacts;
}

/// What planar and spatial trees have alike; the names of the links, for what else refers to them.
template <class Tree, class Read>
LinkNames read_tree(const json& object, const std::string& name, const std::string& where,
                    Read&& read_link, Tree& tree) {
  tree.name = name;
  read_floating(object, tree.floating, where);
  tree.gravity = optional_vector(object, "gravity", tree.gravity, where);
  required(object, "links", where);
  LinkNames names(object, where);
  each_entry(object, "links", where, [&](const json& link, const std::string& place) {
    tree.links.push_back(read_link(link, names, tree.links.size(), place));
  });
  using Contact = typename decltype(tree.contacts)::value_type;
  tree.contacts = contacts_from_json<Contact>(object, names, where);
  return names;
}

}  // namespace

MechanismTree tree_from_json(const json& object, const std::string& name,
                             const std::string& where) {
  require_known_keys(object, kTreeKeys, where);
  MechanismTree tree;
  const LinkNames names = read_tree(object, name, where, planar_link, tree);
  each_entry(object, "springs", where, [&](const json& part, const std::string& place) {
    require_known_keys(part, kSpringKeys, place);
    TreeSpring& spring = tree.springs.emplace_back();
    spring.from = names.find_or_none(part, "from", place);
    spring.from_point = optional_vector(part, "from_point", spring.from_point, place);
    spring.to = names.find_or_none(part, "to", place);
    spring.to_point = optional_vector(part, "to_point", spring.to_point, place);
    spring.stiffness = optional_number(part, "stiffness", 0.0, place);
    spring.length = optional_number(part, "length", 0.0, place);
    spring.damping = optional_number(part, "damping", 0.0, place);
  });
  return tree;
}

SpatialTree spatial_tree_from_json(const json& object, const std::string& name,
                                   const std::string& where) {
  require_known_keys(object, kSpatialTreeKeys, where);
  SpatialTree tree;
  read_tree(object, name, where, spatial_link, tree);
  return tree;
}

int tree_dimension(const json& object, const std::string& where) {
  if (!object.is_object()) {
    throw InvalidInput(fmt::format("{} is {}: must be an object", where, shown(object)));
  }
  if (!object.contains("dimension")) return 2;
  const double dimension = read_number(object, "dimension", where);
  if (dimension != 2.0 && dimension != 3.0) {
    throw InvalidInput(fmt::format("{}: dimension is {}: must be 2 or 3", where, dimension));
  }
  return dimension == 2.0 ? 2 : 3;
}

}  // namespace carom::io
