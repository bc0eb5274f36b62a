#include <carom/motion_tree.hpp>

#include "api/tree_part.hpp"
#include "models/mechanisms/tree_mechanism.hpp"

namespace carom {

namespace {

using kernels::TreeMechanism;
static_assert(TreeMechanism::kMostLinks == kMostTreeLinks);
static_assert(TreeMechanism::kMostContacts == kMostTreeContacts);

void check(const MechanismTree& tree) {
  const TreePart all(tree.name, "mechanism", 0, tree.name);
  check_sizes(all, tree, kMostTreeLinks, kMostTreeContacts);
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const TreeLink& link = tree.links[i];
    const TreePart part(tree.name, "link", i, link.name);
    check_parent(part, link.parent, i);
    part.finite("hinge", link.hinge);
    part.finite("axis", link.axis);
    part.not_negative("mass", link.mass);
    part.not_negative("inertia", link.inertia);
    check_joint(part, link);
  }
  check_contacts(tree);
  for (std::size_t i = 0; i < tree.springs.size(); ++i) {
    const TreeSpring& spring = tree.springs[i];
    const TreePart part(tree.name, "spring", i, "");
    part.link("from", spring.from, -1, tree.links.size());
    part.link("to", spring.to, -1, tree.links.size());
    part.finite("from_point", spring.from_point);
    part.finite("to_point", spring.to_point);
    part.not_negative("stiffness", spring.stiffness);
    part.not_negative("length", spring.length);
    part.not_negative("damping", spring.damping);
  }
}

}  // namespace

MotionProblem motion_problem(const MechanismTree& tree, std::span<const double> position,
                             std::span<const double> velocity) {
  check(tree);
  const std::size_t coordinates = tree.links.size() + (tree.floating ? 2 : 0);
  const TreePart all(tree.name, "mechanism", 0, tree.name);
  for (const auto& [field, values] : {std::pair{"position", position}, {"velocity", velocity}}) {
    if (values.size() == coordinates) continue;
    all.refuse(field, std::to_string(values.size()) + " numbers long",
               "must have " + std::to_string(coordinates));
  }
  MotionProblem problem;
  problem.name = tree.name;
  problem.mechanism = MotionMechanism::tree;
  problem.position.assign(position.begin(), position.end());
  problem.velocity.assign(velocity.begin(), velocity.end());
  // In the order of TreeMechanism's records.
  std::vector<double>& p = problem.parameters;
  p = {static_cast<double>(tree.links.size()),
       static_cast<double>(tree.contacts.size()),
       static_cast<double>(tree.springs.size()),
       tree.floating ? 1.0 : 0.0,
       tree.gravity[0],
       tree.gravity[1]};
  for (const TreeLink& l : tree.links) {
    p.insert(p.end(), {static_cast<double>(l.parent), l.slides ? 1.0 : 0.0, l.hinge[0], l.hinge[1],
                       l.axis, l.mass, l.inertia, l.mass_centre[0], l.mass_centre[1], l.stiffness,
                       l.rest, l.damping, l.effort});
  }
  for (const TreeContact& c : tree.contacts) {
    p.insert(p.end(), {static_cast<double>(c.link), c.point[0], c.point[1], c.normal[0],
                       c.normal[1], c.offset, c.friction});
  }
  for (const TreeSpring& s : tree.springs) {
    p.insert(p.end(), {static_cast<double>(s.from), s.from_point[0], s.from_point[1],
                       static_cast<double>(s.to), s.to_point[0], s.to_point[1], s.stiffness,
                       s.length, s.damping});
  }
  return problem;
}

}  // namespace carom
