#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "enclosure/faces.hpp"
#include "enclosure/rough_cone.hpp"
#include "enclosure/sums.hpp"

/// What one face's polyhedron leaves to others, in integers or in doubles.
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

/// hand(code, part) for every face that takes up parts of `points`, all of which lie in the
/// closure of one face: those that a motion enters from there at once, and terminal ones.
/// cross(k, p, q): where u_k is 0 between points of different signs.
template <class P, class Cross, class Hand>
void propagate(Faces& faces, int m, const std::vector<P>& points, const Cross& cross,
               const Hand& hand) {
  if (points.empty()) return;
  bool ends = true;
  std::vector<Side> normal(static_cast<std::size_t>(m)), tangent(normal);
  for (int i = 0; i < m; ++i) {
    const auto at = static_cast<std::size_t>(i);
    normal[at] = side_of(i, points);
    // Of both sides by the rounding of doubles only: then it still approaches.
    ends = ends && normal[at] != Side::negative && normal[at] != Side::both;
    if (normal[at] == Side::positive) continue;
    tangent[at] = side_of(m + i, points);
    if (tangent[at] != Side::both) continue;
    for (const int sign : {-1, 0, 1}) {
      propagate(faces, m, clipped(m + i, sign, points, cross), cross, hand);
    }
    return;
  }
  // What each contact may do next, with the rows that leave zero.
  struct Choice {
    ContactFace face;
    std::uint32_t leaving;
  };
  std::vector<std::vector<Choice>> choices(static_cast<std::size_t>(m));
  for (int i = 0; i < m; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::uint32_t n = 1U << i, t = 1U << (m + i);
    if (normal[at] == Side::positive) {
      choices[at].push_back({ContactFace::separating, 0});
      continue;
    }
    const bool touches = normal[at] == Side::zero;
    if (touches && !ends) choices[at].push_back({ContactFace::separating, n});
    for (const int sign : {-1, 0, 1}) {
      const bool leaves = tangent[at] == Side::zero && sign != 0;
      if (tangent[at] != Side::zero && sign != (tangent[at] == Side::positive ? 1 : -1)) continue;
      if (leaves && ends) continue;
      const auto with = [&](ContactFace middle) {
        return static_cast<ContactFace>(static_cast<int>(middle) + sign);
      };
      if (touches) choices[at].push_back({with(ContactFace::touching_sticking), leaves ? t : 0});
      if (!ends) {
        choices[at].push_back(
            {with(ContactFace::approaching_sticking), (leaves ? t : 0) | (touches ? n : 0)});
      }
    }
  }
  std::vector<std::size_t> chosen(static_cast<std::size_t>(m), 0);
  for (std::size_t changed = 1; changed > 0;) {
    FaceCode code = 0;
    std::uint32_t leaving = 0;
    for (int i = 0; i < m; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const Choice& choice = choices[at][chosen[at]];
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
