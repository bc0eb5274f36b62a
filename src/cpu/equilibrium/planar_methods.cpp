#include "cpu/equilibrium/planar_methods.hpp"
#include "core/constants.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "cpu/equilibrium/planar_edges.hpp"

namespace carom::cpu {

namespace {

/// Lowest and highest basis; none where no edges can bear the force.
struct Extremes {
  std::optional<PlanarBasis> lower, upper;

  void add(const PlanarBasis& basis) {
    if (!lower || basis.x < lower->x) lower = basis;
    if (!upper || basis.x > upper->x) upper = basis;
  }
};

/// Proposition 2.1: the hull of the strips of all pairs of contacts, a contact with itself
/// included.
Extremes over_pairs(const PlanarScene& scene) {
  Extremes extremes;
  const std::size_t points = scene.points.size();
  PlanarBasis basis;
  for (std::size_t i = 0; i < points; ++i) {
    for (std::size_t j = i; j < points; ++j) {
      for (std::size_t a = 2 * i; a < 2 * i + 2; ++a) {
        for (std::size_t b = 2 * j; b < 2 * j + 2; ++b) {
          if (make_basis(scene.edges[a], scene.edges[b], basis)) extremes.add(basis);
        }
      }
    }
  }
  return extremes;
}

/// The appendix: lines y = a x + b on the cones' edges.
struct SweepLine {
  double a, b;
  const PlanarEdge* edge;

  [[nodiscard]] double at(double x) const { return a * x + b; }
};

const SweepLine& highest(const std::vector<SweepLine>& lines, double x) {
  return *std::max_element(lines.begin(), lines.end(),
                           [x](const auto& l, const auto& r) { return l.at(x) < r.at(x); });
}
const SweepLine& lowest(const std::vector<SweepLine>& lines, double x) {
  return *std::min_element(lines.begin(), lines.end(),
                           [x](const auto& l, const auto& r) { return l.at(x) < r.at(x); });
}

/// Right end for upward edges without vertical ones; `sign` -1 mirrors the scene. left, right:
/// lines that point to either side.
PlanarBasis sweep(std::vector<SweepLine> left, std::vector<SweepLine> right) {
  const auto crossing = [](const SweepLine& l, const SweepLine& r) {
    return (l.b - r.b) / (r.a - l.a);
  };
  const auto by_slope = [](const SweepLine& l, const SweepLine& r) { return l.a < r.a; };
  const auto by_height = [](const SweepLine& l, const SweepLine& r) { return l.b < r.b; };
  const auto [left_min, left_max] = std::minmax_element(left.begin(), left.end(), by_slope);
  const auto [right_min, right_max] = std::minmax_element(right.begin(), right.end(), by_slope);
  const double rise = std::max_element(left.begin(), left.end(), by_height)->b -
                      std::min_element(right.begin(), right.end(), by_height)->b;
  double x_right =
      std::max(rise / (right_min->a - left_max->a), rise / (right_max->a - left_min->a));
  const PlanarEdge* found_left = highest(left, x_right).edge;
  const PlanarEdge* found_right = lowest(right, x_right).edge;
  double x_left = crossing(highest(left, x_right), lowest(right, x_right));
  while (x_left < x_right) {
    const double middle = 0.5 * (x_left + x_right);
    if (lowest(right, middle).at(middle) <= highest(left, middle).at(middle)) {
      x_left = middle;
      found_left = highest(left, middle).edge;
      found_right = lowest(right, middle).edge;
    } else {
      x_right = middle;
    }
    const double y_left = highest(left, x_left).at(x_left);
    const double y_right = lowest(right, x_left).at(x_left);
    std::erase_if(right, [&](const SweepLine& line) { return line.at(x_left) >= y_left; });
    std::erase_if(left, [&](const SweepLine& line) { return line.at(x_left) <= y_right; });
    if (left.empty() || right.empty()) break;
    const auto pivot = std::min_element(
        right.begin(), right.end(),
        [&](const SweepLine& l, const SweepLine& r) { return l.at(x_left) < r.at(x_left); });
    double furthest = -kInfinity;
    for (const SweepLine& line : left) {
      const double x = crossing(line, *pivot);
      if (x <= furthest) continue;
      furthest = x;
      if (x < x_left) continue;
      found_left = line.edge;
      found_right = pivot->edge;
    }
    x_left = std::max(x_left, furthest);
    // Rounding may place this line's crossing below itself: it has served in either case.
    right.erase(pivot);
    if (right.empty()) break;
  }
  PlanarBasis basis;
  make_basis(*found_left, *found_right, basis);
  return basis;
}

/// Both ends by the line sweep; nullopt where an edge does not point against the force.
std::optional<Extremes> over_lines(const PlanarScene& scene) {
  Extremes extremes;
  for (const double sign : {1.0, -1.0}) {
    std::vector<SweepLine> left, right;
    for (const PlanarEdge& edge : scene.edges) {
      if (!(edge.v > kernels::kVerticalEdge * (std::abs(edge.u) + edge.v))) return std::nullopt;
      if (edge.parallel()) {
        extremes.add({edge.x, edge.index, -1});
        continue;
      }
      const double a = sign * edge.slope();
      (sign * edge.u < 0.0 ? left : right).push_back({a, edge.y - a * sign * edge.x, &edge});
    }
    if (!left.empty() && !right.empty()) extremes.add(sweep(std::move(left), std::move(right)));
  }
  return extremes;
}

/// An end in the terms of the kernels: the dual point at its basis, or the ray that makes it
/// infinite. edge: what the method found.
kernels::StripEnd<double> finish(const PlanarScene& scene, const PlanarBasis& basis, double edge,
                                 bool upper) {
  kernels::StripEnd<double> end{edge, 0.0, kernels::kEndBounded, 0.0, 0.0, -1.0, -1.0};
  end.left = basis.left;
  end.right = basis.right;
  const PlanarEdge* high = nullptr;
  const PlanarEdge* low = nullptr;
  const double x = basis.x;
  for (const PlanarEdge& e : scene.edges) {
    if (e.parallel()) {
      const double beyond = upper ? x - e.x : e.x - x;
      if (e.v < 0.0 && beyond > 1e-13 * (scene.size + std::abs(x))) {
        end.outcome = kernels::kEndPulled;
        end.ray_left = e.index;
      }
    } else if (e.left() == upper) {
      if (high == nullptr || e.height_at(x) > high->height_at(x)) high = &e;
    } else {
      if (low == nullptr || e.height_at(x) < low->height_at(x)) low = &e;
    }
  }
  const PlanarEdge* flat = high == nullptr ? low : high;
  if (high != nullptr && low != nullptr) {
    const double gap = high->height_at(x) - low->height_at(x);
    const double steepness = 2.0 + std::abs(high->slope()) + std::abs(low->slope());
    if (gap > 1e-13 * steepness * (scene.size + std::abs(x))) {
      end.outcome = kernels::kEndSqueezed;
      end.ray_left = (upper ? high : low)->index;
      end.ray_right = (upper ? low : high)->index;
    }
    if (std::abs(low->slope()) < std::abs(high->slope())) flat = low;
  }
  end.height = flat == nullptr ? scene.points[static_cast<std::size_t>(basis.left / 2)].y
                               : flat->height_at(x);
  if (end.outcome == kernels::kEndBounded && !std::isfinite(edge)) {
    end.outcome = kernels::kEndUnfinished;
  }
  return end;
}

/// As Strip::separation.
double separation(const PlanarScene& scene) {
  double left = kInfinity;
  double right = -kInfinity;
  for (const PlanarEdge& edge : scene.edges) {
    if (edge.left()) left = std::min(left, edge.slope());
    if (edge.right()) right = std::max(right, edge.slope());
  }
  if (left == kInfinity && right == -kInfinity) return 0.0;
  if (left == kInfinity) return -1.0 - right;
  if (right == -kInfinity) return 1.0 - left;
  return -0.5 * (left + right);
}

}  // namespace

PlanarScene planar_scene(const certificate::PlanarContacts& contacts, bool patches,
                         const kernels::ForceFrame& frame) {
  PlanarScene scene;
  for (int i = 0; i < contacts.count; ++i) {
    for (int corner = 0; corner < (patches ? 2 : 1); ++corner) {
      const double nx = contacts.normal[2 * i];
      const double ny = contacts.normal[2 * i + 1];
      const double along = corner == 0 ? 0.0 : contacts.length_of(i);
      const double dx = contacts.position[2 * i] - contacts.position[0] + along * ny;
      const double dy = contacts.position[2 * i + 1] - contacts.position[1] - along * nx;
      const PlanarPoint point{dx * frame.x + dy * frame.y, dy * frame.x - dx * frame.y};
      const int index = static_cast<int>(scene.points.size());
      scene.points.push_back(point);
      scene.size = std::max({scene.size, std::abs(point.x), std::abs(point.y)});
      for (int e = 0; e < 2; ++e) {
        const double mu = e == 0 ? contacts.friction[i] : -contacts.friction[i];
        const double gx = nx + mu * ny;
        const double gy = ny - mu * nx;
        PlanarEdge edge{2 * index + e, point.x, point.y, gx * frame.x + gy * frame.y,
                        gy * frame.x - gx * frame.y};
        const double length = std::abs(edge.u) + std::abs(edge.v);
        if (std::abs(edge.u) <= kernels::kVerticalEdge * length) edge.u = 0.0;
        scene.edges.push_back(edge);
      }
    }
  }
  return scene;
}

bool make_basis(const PlanarEdge& a, const PlanarEdge& b, PlanarBasis& basis) {
  for (const PlanarEdge* edge : {&a, &b}) {
    if (edge->parallel() && edge->v > 0.0) {
      basis = {edge->x, edge->index, -1};
      if (!(a.u * b.u < 0.0)) return true;
    }
  }
  if (!(a.u * b.u < 0.0)) return false;
  const PlanarEdge& left = a.left() ? a : b;
  const PlanarEdge& right = a.left() ? b : a;
  const double lift = right.slope() - left.slope();
  const double forces = 2.0 + std::abs(right.slope()) + std::abs(left.slope());
  if (!(lift > kernels::kOppositeEdges * forces)) return false;
  const double x = left.x + (left.y - right.y + (right.x - left.x) * right.slope()) / lift;
  basis = {x, left.index, right.index};
  return true;
}

GeometricStrip geometric_strip(PlanarMethod method, const certificate::PlanarContacts& contacts,
                               bool patches, const kernels::ForceFrame& frame) {
  const PlanarScene scene = planar_scene(contacts, patches, frame);
  GeometricStrip result;
  Extremes extremes;
  if (method == PlanarMethod::line_sweep) {
    const std::optional<Extremes> swept = over_lines(scene);
    if (!swept) {
      result.usable = false;
      return result;
    }
    extremes = *swept;
  } else {
    // The graphic construction yields no forces: the bases of its ends are looked up.
    extremes = over_pairs(scene);
  }
  double lower = extremes.lower ? extremes.lower->x : kInfinity;
  double upper = extremes.upper ? extremes.upper->x : -kInfinity;
  if (method == PlanarMethod::graphic) {
    const GraphicRange range = graphic_range(scene);
    lower = range.lower;
    upper = range.upper;
    if (lower > upper && extremes.lower) lower = upper = std::numeric_limits<double>::quiet_NaN();
  }
  result.strip.separation = separation(scene);
  result.strip.feasible = extremes.lower ? 1.0 : 0.0;
  if (extremes.lower) {
    result.strip.lower = finish(scene, *extremes.lower, lower, false);
    result.strip.upper = finish(scene, *extremes.upper, upper, true);
  }
  return result;
}

}  // namespace carom::cpu
