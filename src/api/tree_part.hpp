#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>

#include <carom/error.hpp>

#include "core/message.hpp"

namespace carom {

/// Checks of one part (link, contact, spring) of a mechanism tree; errors name it.
class TreePart {
 public:
  TreePart(const std::string& tree, const char* kind, std::size_t index, const std::string& name)
      : whole_("mechanism \"" + tree + "\""),
        kind_(kind),
        index_(static_cast<std::int64_t>(index)),
        name_(name) {}

  [[noreturn]] void refuse(const char* field, const std::string& value,
                           const std::string& rule) const {
    throw InvalidInput(Refusal{.field = field,
                               .kind = kind_,
                               .problem = index_,
                               .name = name_,
                               .whole = whole_,
                               .value = value,
                               .rule = rule});
  }
  void finite(const char* field, double value) const {
    if (!std::isfinite(value)) refuse(field, message::number(value), "must be finite");
  }
  template <std::size_t kCount>
  void finite(const char* field, const std::array<double, kCount>& values) const {
    for (const double value : values) finite(field, value);
  }
  /// Of length 1.
  void unit(const char* field, std::span<const double> values) const {
    double square = 0.0;
    for (const double value : values) {
      finite(field, value);
      square += value * value;
    }
    const double length = std::sqrt(square);
    if (std::abs(length - 1.0) <= 1e-9) return;
    refuse(field, message::number(length) + " long", "must have length 1");
  }
  void not_negative(const char* field, double value) const {
    finite(field, value);
    if (value < 0.0) refuse(field, message::number(value), "must be >= 0");
  }
  void link(const char* field, int value, int least, std::size_t below) const {
    if (value >= least && value < static_cast<int>(below)) return;
    refuse(field, std::to_string(value),
           "must be a link from " + std::to_string(least) + " to " +
               std::to_string(static_cast<int>(below) - 1));
  }

 private:
  std::string whole_;
  const char* kind_;
  std::int64_t index_;
  std::string name_;
};

/// What planar and spatial trees have alike: sizes, gravity, then each part of a kind.
template <class Tree>
void check_sizes(const TreePart& all, const Tree& tree, int most_links, int most_contacts) {
  if (tree.links.empty() || tree.links.size() > static_cast<std::size_t>(most_links)) {
    all.refuse("links", std::to_string(tree.links.size()) + " long",
               "must have 1 to " + std::to_string(most_links));
  }
  if (tree.contacts.size() > static_cast<std::size_t>(most_contacts)) {
    all.refuse("contacts", std::to_string(tree.contacts.size()) + " long",
               "must have at most " + std::to_string(most_contacts));
  }
  all.finite("gravity", tree.gravity);
}

inline void check_parent(const TreePart& part, int parent, std::size_t link) {
  if (parent >= -1 && parent < static_cast<int>(link)) return;
  part.refuse("parent", std::to_string(parent),
              "must be an earlier link or -1: trees have no loops");
}

/// Behind mass and inertia.
template <class Link>
void check_joint(const TreePart& part, const Link& link) {
  part.finite("mass_centre", link.mass_centre);
  part.not_negative("stiffness", link.stiffness);
  part.finite("rest", link.rest);
  part.not_negative("damping", link.damping);
  part.finite("effort", link.effort);
}

template <class Tree>
void check_contacts(const Tree& tree) {
  for (std::size_t i = 0; i < tree.contacts.size(); ++i) {
    const auto& contact = tree.contacts[i];
    const TreePart part(tree.name, "contact", i, contact.name);
    part.link("link", contact.link, 0, tree.links.size());
    part.finite("point", contact.point);
    part.unit("normal", contact.normal);
    part.finite("offset", contact.offset);
    part.not_negative("friction", contact.friction);
  }
}

}  // namespace carom
