#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "call.hpp"
#include "families.hpp"
#include "tables.hpp"

/// Fewer contacts with the same wrenches (carom/_reduce.py): of patches of coplanar contacts the
/// corners.
namespace carom::python {

namespace {

using Point = std::array<double, 2>;
using Indices = std::vector<std::size_t>;

double cross(const Point& a, const Point& b) { return a[0] * b[1] - a[1] * b[0]; }
double dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1]; }
Point less(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1]}; }

/// What is left of p to the edge from a to b.
double off_edge(const Point& p, const Point& a, const Point& b) {
  const Point edge = less(b, a), off = less(p, a);
  const double along = dot(off, edge) / std::max(dot(edge, edge), 1e-300);
  const double share = std::clamp(along, 0.0, 1.0);
  return std::hypot(off[0] - share * edge[0], off[1] - share * edge[1]);
}

/// The largest distance of some of the points to the hull of the corners, counter-clockwise.
double distance_to_hull(const std::vector<Point>& points, const Indices& some,
                        const Indices& corners) {
  double largest = 0.0;
  for (const std::size_t i : some) {
    const Point& p = points[i];
    double least = std::numeric_limits<double>::infinity();
    bool inside = corners.size() > 2;
    for (std::size_t c = 0; c < corners.size(); ++c) {
      const Point& a = points[corners[c]];
      const Point& b = points[corners[(c + 1) % corners.size()]];
      least = std::min(least, off_edge(p, a, b));
      inside = inside && cross(less(b, a), less(p, a)) >= 0.0;
    }
    largest = std::max(largest, inside ? 0.0 : least);
  }
  return largest;
}

/// Corners without those that lie within `near` of what is left, the nearest first.
Indices fewer(const std::vector<Point>& points, Indices corners, double near) {
  Indices gone;
  while (corners.size() > 2) {
    const std::size_t n = corners.size();
    std::size_t least = 0;
    double out = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < n; ++c) {
      const double off = off_edge(points[corners[c]], points[corners[(c + n - 1) % n]],
                                  points[corners[(c + 1) % n]]);
      if (off < out) out = off, least = c;
    }
    if (out > near) break;
    Indices rest = corners;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(least));
    gone.push_back(corners[least]);
    if (distance_to_hull(points, gone, rest) > near) break;
    corners = std::move(rest);
  }
  return corners;
}

/// Corners of the convex hull, counter-clockwise (Andrew). Points within rounding of an edge are
/// left out by their distance, not by a threshold of the turn: points in rows would lose corners.
Indices hull(const std::vector<Point>& points) {
  Indices order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return points[a] < points[b]; });
  if (order.size() < 3) return order;
  double scale = 0.0;
  for (const Point& p : points) {
    const Point off = less(p, points.front());
    scale = std::max({scale, std::abs(off[0]), std::abs(off[1])});
  }
  Indices corners;
  for (int side = 0; side < 2; ++side) {
    Indices chain;
    for (const std::size_t i : order) {
      while (chain.size() > 1) {
        const Point& from = points[chain[chain.size() - 2]];
        if (cross(less(points[chain.back()], from), less(points[i], from)) > 0.0) break;
        chain.pop_back();
      }
      chain.push_back(i);
    }
    chain.pop_back();
    for (const std::size_t i : chain) {
      if (std::find(corners.begin(), corners.end(), i) == corners.end()) corners.push_back(i);
    }
    std::reverse(order.begin(), order.end());
  }
  return fewer(points, std::move(corners), 1e-11 * scale);
}

struct Contacts {
  const double* pos;    // [n, 3]
  const double* frame;  // [n, 3, 3]
  const double* mu;     // [n]
  double same, alike;   // of points and planes, of normals
};

double along(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
double apart(const double* a, const double* b) {
  const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  return std::sqrt(along(d, d));
}

/// Clears `keep` of what one patch need not have; widens moment and turn.
void reduce_patch(const Contacts& of, const Indices& patch, double near, std::uint8_t* keep,
                  double& moment, double& turn) {
  const double* frame = of.frame + 9 * patch.front();
  const double* origin = of.pos + 3 * patch.front();
  std::vector<Point> across;
  across.reserve(patch.size());
  double low = 0.0, high = 0.0, turned = 0.0;
  for (const std::size_t i : patch) {
    const double* p = of.pos + 3 * i;
    across.push_back({along(p, frame + 3), along(p, frame + 6)});
    const double d[3] = {p[0] - origin[0], p[1] - origin[1], p[2] - origin[2]};
    low = std::min(low, along(d, frame)), high = std::max(high, along(d, frame));
    turned = std::max(turned, apart(of.frame + 9 * i, frame));
  }
  Indices distinct;  // places in the patch, of near ones the first
  std::vector<Point> points;
  for (std::size_t k = 0; k < patch.size(); ++k) {
    const auto close = [&](std::size_t other) {
      return apart(of.pos + 3 * patch[k], of.pos + 3 * patch[other]) <= near;
    };
    if (std::any_of(distinct.begin(), distinct.end(), close)) continue;
    distinct.push_back(k);
    points.push_back(across[k]);
  }
  Indices corners = hull(points);
  for (std::size_t& corner : corners) corner = distinct[corner];
  if (near > of.same) corners = fewer(across, std::move(corners), near);
  Indices gone;
  for (std::size_t k = 0; k < patch.size(); ++k) {
    if (std::find(corners.begin(), corners.end(), k) == corners.end()) gone.push_back(k);
  }
  if (gone.empty()) return;
  moment = std::max(moment, std::hypot(distance_to_hull(across, gone, corners), high - low));
  turn = std::max(turn, 2.0 * turned);
  for (const std::size_t k : gone) keep[patch[k]] = 0;
}

/// Contacts [begin, end): patches have one normal, one friction and one plane.
void reduce_group(const Contacts& of, std::size_t begin, std::size_t end, double near,
                  std::uint8_t* keep, double& moment, double& turn) {
  std::vector<bool> taken(end - begin, false);
  for (std::size_t first = begin; first < end; ++first) {
    if (taken[first - begin]) continue;
    const double* normal = of.frame + 9 * first;
    Indices patch;
    for (std::size_t i = first; i < end; ++i) {
      if (taken[i - begin]) continue;
      const double d[3] = {of.pos[3 * i] - of.pos[3 * first],
                           of.pos[3 * i + 1] - of.pos[3 * first + 1],
                           of.pos[3 * i + 2] - of.pos[3 * first + 2]};
      if (std::abs(along(d, normal)) > near || of.mu[i] != of.mu[first] ||
          apart(of.frame + 9 * i, normal) > of.alike) {
        continue;
      }
      taken[i - begin] = true;
      patch.push_back(i);
    }
    if (patch.size() > 1) reduce_patch(of, patch, near, keep, moment, turn);
  }
}

/// group [g + 1]: where the groups of contacts begin, and the end.
nb::dict reduce_patches(nb::handle pos, nb::handle frame, nb::handle mu, nb::handle group,
                        double near, double same, double alike) {
  const Buffer<double> positions = borrowed<double>(pos), frames = borrowed<double>(frame),
                       frictions = borrowed<double>(mu);
  const Buffer<std::int64_t> groups = borrowed<std::int64_t>(group);
  const std::size_t n = frictions.size(), count = groups.size() - 1;
  std::vector<std::uint8_t> kept(n, 1);
  std::vector<double> moment(count, 0.0), turn(count, 0.0);
  without_gil([&] {
    const Contacts contacts{positions.data(), frames.data(), frictions.data(), same, alike};
    for (std::size_t g = 0; g < count; ++g) {
      reduce_group(contacts, static_cast<std::size_t>(groups.data()[g]),
                   static_cast<std::size_t>(groups.data()[g + 1]), near, kept.data(), moment[g],
                   turn[g]);
    }
  });
  nb::dict found;
  found["keep"] = array_of(std::move(kept));
  found["moment"] = array_of(std::move(moment));
  found["turn"] = array_of(std::move(turn));
  return found;
}

/// Contacts of one state and one pair of bodies together, where there are several: their members,
/// in the order of the contacts, and where the groups begin [g + 1]. state [n]: in order; body [n,
/// 2].
nb::dict pair_groups(nb::handle state, nb::handle body) {
  const Buffer<std::int64_t> states = borrowed<std::int64_t>(state),
                             bodies = borrowed<std::int64_t>(body);
  std::vector<std::int64_t> members, group{0};
  without_gil([&] {
    const auto pair = [&](std::size_t i) {
      const std::int64_t a = bodies.data()[2 * i], b = bodies.data()[2 * i + 1];
      return std::pair{std::min(a, b), std::max(a, b)};
    };
    Indices order;
    for (std::size_t low = 0; low < states.size(); low += order.size()) {
      order.clear();
      for (std::size_t i = low; i < states.size() && states.data()[i] == states.data()[low]; ++i) {
        order.push_back(i);
      }
      std::stable_sort(order.begin(), order.end(),
                       [&](std::size_t i, std::size_t j) { return pair(i) < pair(j); });
      for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
        while (last < order.size() && pair(order[last]) == pair(order[first])) ++last;
        if (last - first < 2) continue;
        for (std::size_t k = first; k < last; ++k) {
          members.push_back(static_cast<std::int64_t>(order[k]));
        }
        group.push_back(static_cast<std::int64_t>(members.size()));
      }
    }
  });
  nb::dict found;
  found["members"] = array_of(std::move(members));
  found["group"] = array_of(std::move(group));
  return found;
}

nb::object hull_corners(nb::handle points) {
  const std::vector<double> flat = copied<double>(points);
  std::vector<Point> some;
  for (std::size_t i = 0; i + 1 < flat.size(); i += 2) some.push_back({flat[i], flat[i + 1]});
  std::vector<std::int64_t> found;
  for (const std::size_t corner : hull(some)) found.push_back(static_cast<std::int64_t>(corner));
  return array_of(std::move(found));
}

}  // namespace

void add_patches(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def("reduce_patches", reduce_patches, "pos"_a, "frame"_a, "mu"_a, "group"_a, "near"_a,
             "same"_a, "alike"_a);
  module.def("pair_groups", pair_groups, "state"_a, "body"_a);
  module.def("hull_corners", hull_corners);
}

}  // namespace carom::python
