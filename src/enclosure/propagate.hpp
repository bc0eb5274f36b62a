#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "enclosure/faces.hpp"
#include "enclosure/rough_cone.hpp"
#include "enclosure/sums.hpp"

/// Propagates the polyhedron of one face to the others, in integers or in doubles.
namespace carom::enclosure {

enum class Side : std::uint8_t { zero, positive, negative, both };

/// A point in integers or in doubles: `signs_of(point)`.
inline const Signs& signs_of(const Point* point) { return point->signs; }

template <class P>
Side side_of(int k, const std::vector<P>& points) {
  bool above = false, below = false;
  for (const P& point : points) {
    const int sign = signs_of(point).of(k);
    above = above || sign > 0;
    below = below || sign < 0;
  }
  if (above && below) return Side::both;
  return above ? Side::positive : (below ? Side::negative : Side::zero);
}

/// Generators of conv(points) where sign u_k >= 0, or = 0 for sign 0; not all are vertices.
template <class P, class Cross>
std::vector<P> clipped(int k, int sign, const std::vector<P>& points, const Cross& cross) {
  std::vector<P> result;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const int own = signs_of(points[i]).of(k);
    if (own == 0 || own == sign) result.push_back(points[i]);
    for (std::size_t j = 0; j < i; ++j) {
      if (own * signs_of(points[j]).of(k) < 0) result.push_back(cross(k, points[i], points[j]));
    }
  }
  return result;
}

/// On which sides of a contact's zeros points lie.
struct ContactSides {
  Side normal = Side::zero, tangent = Side::zero;
  Side guard = Side::zero;   ///< of speeds: the row that tells faces of this normal velocity
  bool filled = false;       ///< its store, of some
  bool knows_guard = false;  ///< then `guard` says where it may end a release
};

/// What a contact may do next, with the rows that leave zero.
struct ContactChoice {
  ContactFace face;
  std::uint32_t leaving;
};

/// ends: the impact does, so that nothing leaves.
inline std::vector<ContactChoice> choices_of(int m, int i, const ContactSides& sides,
                                             bool has_store, bool ends) {
  std::vector<ContactChoice> choices;
  const std::uint32_t n = 1U << i, t = 1U << (m + i), store = 1U << (2 * m + i),
                      guard = 1U << (3 * m + i);
  if (sides.normal == Side::positive && !sides.filled) return {{ContactFace::separating, 0}};
  const bool touches = sides.normal == Side::zero;
  if (touches && !ends && !sides.filled) choices.push_back({ContactFace::separating, n});
  for (const int sign : {-1, 0, 1}) {
    const bool leaves = sides.tangent == Side::zero && sign != 0;
    if (sides.tangent != Side::zero && sign != (sides.tangent == Side::positive ? 1 : -1)) continue;
    if (leaves && ends) continue;
    const std::uint32_t own = leaves ? t : 0;
    const auto add = [&](ContactFace middle, std::uint32_t leaving) {
      const auto face = static_cast<ContactFace>(static_cast<int>(middle) + sign);
      choices.push_back({face, own | leaving});
    };
    if (touches && !sides.filled) add(ContactFace::touching_sticking, 0);
    if (!ends && sides.normal != Side::positive) {
      add(ContactFace::approaching_sticking, touches ? n : 0);
    }
    if (!has_store || ends) continue;
    if (touches) add(ContactFace::held_sticking, sides.filled ? 0 : store);
    if (!sides.filled || (!touches && sides.normal != Side::positive)) continue;
    const std::uint32_t parts = touches ? n : 0;
    if (!sides.knows_guard || sides.guard != Side::positive) {
      add(ContactFace::releasing_sticking,
          parts | (sides.knows_guard && sides.guard == Side::zero ? guard : 0));
    }
    if (sides.knows_guard && sides.guard != Side::negative) {
      add(ContactFace::guarded_sticking, parts);
    }
  }
  return choices;
}

/// The same of a contact whose store is a speed.
inline std::vector<ContactChoice> choices_of_speed(int m, int i, const ContactSides& sides,
                                                   bool ends) {
  std::vector<ContactChoice> choices;
  const std::uint32_t n = 1U << i, t = 1U << (m + i), fast = 1U << (3 * m + i),
                      left = 1U << (4 * m + i);
  if (sides.normal == Side::positive && !sides.filled) return {{ContactFace::separating, 0}};
  const bool touches = sides.normal == Side::zero, leaves = sides.normal == Side::positive;
  const bool empty = touches && !sides.filled;
  const bool boundary = sides.guard == Side::zero;
  if (empty && !ends) choices.push_back({ContactFace::separating, n});
  if (leaves && sides.guard != Side::positive) choices.push_back({ContactFace::spent, 0});
  if (empty && !ends) choices.push_back({ContactFace::faster, n | fast});
  if (!leaves && !touches && sides.guard != Side::positive) {
    choices.push_back({ContactFace::faster, boundary ? fast : 0});
  }
  for (const int sign : {-1, 0, 1}) {
    const bool slips = sides.tangent == Side::zero && sign != 0;
    if (sides.tangent != Side::zero && sign != (sides.tangent == Side::positive ? 1 : -1)) continue;
    if (slips && ends) continue;
    const auto add = [&](ContactFace middle, std::uint32_t leaving) {
      const auto face = static_cast<ContactFace>(static_cast<int>(middle) + sign);
      choices.push_back({face, (slips ? t : 0) | leaving});
    };
    if (empty) add(ContactFace::touching_sticking, 0);
    if (ends) continue;
    if (empty) {
      add(ContactFace::fastest_sticking, n);
    } else if (touches) {
      add(ContactFace::held_sticking, 0);
      add(ContactFace::releasing_sticking, n);
      add(ContactFace::approaching_sticking, n);
    } else if (leaves) {
      if (sides.guard != Side::negative) add(ContactFace::releasing_sticking, boundary ? left : 0);
    } else {
      if (boundary) add(ContactFace::fastest_sticking, 0);
      if (sides.guard != Side::negative)
        add(ContactFace::approaching_sticking, boundary ? fast : 0);
    }
  }
  return choices;
}

/// hand(code, part) for every face that takes up parts of `points`, all of which lie in the
/// closure of one face: those that a motion enters from there at once, and terminal ones.
/// cross(k, p, q): where u_k is 0 between points of different signs.
template <class P, class Cross, class Hand>
void propagate(Faces& faces, int m, const std::vector<P>& points, const Cross& cross,
               const Hand& hand) {
  if (points.empty()) return;
  bool ends = true;
  std::vector<ContactSides> sides(static_cast<std::size_t>(m));
  for (int i = 0; i < m; ++i) {
    ContactSides& own = sides[static_cast<std::size_t>(i)];
    own.normal = side_of(i, points);
    if (faces.has_store(i)) own.filled = side_of(2 * m + i, points) != Side::zero;
    // Of both sides by the rounding of doubles only: then it still approaches.
    ends = ends && own.normal != Side::negative && own.normal != Side::both && !own.filled;
    if (own.normal == Side::positive && !own.filled) continue;
    if (faces.speeds() && faces.has_store(i) && own.normal != Side::zero) {
      const int row = (own.normal == Side::positive ? 4 : 3) * m + i;
      own.guard = side_of(row, points);
      if (own.guard == Side::both) {
        for (const int sign : {-1, 1}) {
          propagate(faces, m, clipped(row, sign, points, cross), cross, hand);
        }
        return;
      }
      if (own.guard == Side::negative) continue;  // it does not push
    }
    own.tangent = side_of(m + i, points);
    if (own.tangent == Side::both) {
      for (const int sign : {-1, 0, 1}) {
        propagate(faces, m, clipped(m + i, sign, points, cross), cross, hand);
      }
      return;
    }
    own.knows_guard = own.filled && faces.knows_guard(i);
    if (!own.knows_guard || own.normal == Side::negative) continue;
    own.guard = side_of(3 * m + i, points);
    if (own.guard == Side::both) {
      for (const int sign : {-1, 1}) {
        propagate(faces, m, clipped(3 * m + i, sign, points, cross), cross, hand);
      }
      return;
    }
  }
  std::vector<std::vector<ContactChoice>> choices;
  choices.reserve(sides.size());
  for (int i = 0; i < m; ++i) {
    if (faces.speeds() && faces.has_store(i)) {
      choices.push_back(choices_of_speed(m, i, sides[static_cast<std::size_t>(i)], ends));
      continue;
    }
    choices.push_back(
        choices_of(m, i, sides[static_cast<std::size_t>(i)], faces.has_store(i), ends));
  }
  std::vector<std::size_t> chosen(static_cast<std::size_t>(m), 0);
  for (std::size_t changed = 1; changed > 0;) {
    FaceCode code = 0;
    std::uint32_t leaving = 0;
    for (int i = 0; i < m; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const ContactChoice& choice = choices[at][chosen[at]];
      code |= face_code(choice.face, i);
      leaving |= choice.leaving;
    }
    const Face& next = faces.face(code);
    if (next.terminal == ends &&
        (ends || (!next.motion.empty() && faces.enterable(code, leaving)))) {
      hand(code, points);
    }
    for (changed = chosen.size(); changed > 0; --changed) {  // the last one fastest
      if (++chosen[changed - 1] < choices[changed - 1].size()) break;
      chosen[changed - 1] = 0;
    }
  }
}

/// The sets of a polyhedron's vertices that lie on common ones of its face's sides, and all.
template <class P>
std::vector<std::vector<P>> parts(const Face& face, const std::vector<P>& vertices) {
  std::vector<std::uint32_t> on(vertices.size(), 0);  // a bit for each side that is attained
  int attained = 0;
  for (const int side : face.side_of) {
    bool some = false;
    for (std::size_t v = 0; v < vertices.size(); ++v) {
      if (!signs_of(vertices[v]).zero(side)) continue;
      on[v] |= 1U << attained;
      some = true;
    }
    if (some) ++attained;
  }
  std::vector<std::uint32_t> known;  // all sides that a subset lies on tell it from others
  std::vector<std::vector<P>> result;
  for (std::uint32_t chosen = 0; chosen < 1U << attained; ++chosen) {
    std::uint32_t common = ~0U;
    bool some = false;
    for (const std::uint32_t sides_of : on) {
      if ((sides_of & chosen) != chosen) continue;
      common &= sides_of;
      some = true;
    }
    if (!some || std::find(known.begin(), known.end(), common) != known.end()) continue;
    known.push_back(common);
    std::vector<P> points;
    for (std::size_t v = 0; v < vertices.size(); ++v) {
      if ((on[v] & chosen) == chosen) points.push_back(vertices[v]);
    }
    result.push_back(std::move(points));
  }
  return result;
}

}  // namespace carom::enclosure
