#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include <carom/equilibrium_membership.hpp>
#include <carom/equilibrium_planar.hpp>
#include <carom/equilibrium_three_contacts.hpp>

#include "call.hpp"
#include "families.hpp"
#include "postures.hpp"
#include "settings.hpp"
#include "tables.hpp"

namespace carom::python {

namespace {

nb::object rows(std::vector<double> values, std::size_t width) {
  const std::size_t count = values.size() / width;
  return array_of(std::move(values), {count, width});
}

/// One row of the centres for each posture; NaN where nothing is known.
nb::dict membership(const nb::dict& arrays, const nb::tuple& sizes, nb::handle centres,
                    bool isolate, const nb::dict& settings, nb::handle workspace) {
  const PostureBatch batch = posture_batch(arrays, posture_shape(sizes), isolate);
  const std::vector<double> points = copied<double>(centres);
  const auto chosen = settings_from<SpatialSettings>(settings);
  Workspace* const memory = workspace_of(workspace);
  const std::vector<Membership> found = list_in_pieces(batch, [&](const PostureBatch& piece,
                                                                  std::int64_t first) {
    return probe_membership(piece,
                            std::span(points).subspan(3 * static_cast<std::size_t>(first),
                                                      3 * static_cast<std::size_t>(piece.problems)),
                            chosen, memory);
  });
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const std::size_t n = found.size(), force = 3 * static_cast<std::size_t>(batch.contacts);
  std::vector<Status> status;
  std::vector<double> lower, upper, residual, forces(n * force, kNone), dual(n * 6, kNone);
  for (std::size_t p = 0; p < n; ++p) {
    const Membership& each = found[p];
    status.push_back(each.status);
    lower.push_back(each.margin_lower);
    upper.push_back(each.margin_upper);
    residual.push_back(each.residual);
    std::copy(each.forces.begin(), each.forces.end(), &forces[p * force]);
    std::copy(each.dual.begin(), each.dual.end(), &dual[p * 6]);
  }
  nb::dict result;
  result["status"] = array_of(std::move(status));
  result["margin_lower"] = array_of(std::move(lower));
  result["margin_upper"] = array_of(std::move(upper));
  result["forces"] = array_of(std::move(forces), {n, force / 3, 3});
  result["residual"] = array_of(std::move(residual));
  result["dual"] = array_of(std::move(dual), {n, 6});
  return result;
}

nb::dict robust_of(const RobustRegion& region) {
  nb::dict result;
  result["status"] = static_cast<int>(region.status);
  result["outer"] = rows(region.outer, 4);
  result["dual"] = rows(region.dual, 6);
  std::vector<std::int32_t> vertex(region.vertex.begin(), region.vertex.end());
  result["vertex"] = array_of(std::move(vertex));
  result["inner"] = rows(region.inner, 4);
  result["extent"] = region.extent;
  result["centre"] = array_of(std::vector<double>(region.centre, region.centre + 3));
  return result;
}

nb::list robust(const nb::dict& arrays, const nb::tuple& sizes, const nb::dict& settings) {
  const PostureBatch batch = posture_batch(arrays, posture_shape(sizes), false);
  const auto chosen = settings_from<SpatialSettings>(settings);
  const std::vector<RobustRegion> regions = list_in_pieces(
      batch, [&](const PostureBatch& piece, std::int64_t) { return robust_region(piece, chosen); });
  nb::list result;
  for (const RobustRegion& region : regions) result.append(robust_of(region));
  return result;
}

/// What of a region's attributes sections and containment read.
RobustRegion robust_from(const nb::dict& given) {
  RobustRegion region;
  region.status = static_cast<Status>(nb::cast<int>(given["status"]));
  region.outer = copied<double>(given["outer"]);
  region.inner = copied<double>(given["inner"]);
  region.extent = nb::cast<double>(given["extent"]);
  const std::vector<double> centre = copied<double>(given["centre"]);
  std::copy_n(centre.begin(), 3, region.centre);
  return region;
}

nb::dict section(const nb::dict& given, double height) {
  const RobustSection cut = robust_section(robust_from(given), height);
  nb::dict result;
  result["inner"] = rows(cut.inner, 2);
  result["outer"] = rows(cut.outer, 2);
  result["bounded"] = cut.bounded;
  result["area_inner"] = cut.area_inner;
  result["area_outer"] = cut.area_outer;
  return result;
}

nb::object contains(const nb::dict& given, nb::handle points) {
  const RobustRegion region = robust_from(given);
  const std::vector<double> x = copied<double>(points);
  std::vector<std::int8_t> verdicts;
  for (std::size_t i = 0; i + 3 <= x.size(); i += 3) {
    verdicts.push_back(static_cast<std::int8_t>(robust_contains(region, std::span(&x[i], 3))));
  }
  return array_of(std::move(verdicts));
}

nb::list pieces(const std::vector<std::vector<double>>& polygons) {
  nb::list result;
  for (const std::vector<double>& polygon : polygons) result.append(rows(polygon, 2));
  return result;
}

nb::dict three_contacts(const nb::dict& arrays, const nb::tuple& sizes, const nb::dict& settings) {
  const Posture posture = postures_of(arrays, posture_shape(sizes)).front();
  const auto chosen = settings_from<ThreeContactSettings>(settings);
  const ThreeContactRegion region =
      without_gil([&] { return three_contact_region(posture, chosen); });
  nb::dict result;
  result["plus"] = pieces(region.plus);
  result["minus"] = pieces(region.minus);
  result["conservative"] = rows(region.conservative, 2);
  result["searched"] = rows(region.searched, 2);
  result["area_conservative"] = region.area_conservative;
  result["area_searched"] = region.area_searched;
  nb::list types;
  std::vector<double> direction, r, point;
  for (const BoundaryPoint& at : region.boundary) {
    types.append(std::string(word_of(at.type)));
    direction.insert(direction.end(), at.direction, at.direction + 2);
    r.insert(r.end(), at.r, at.r + 2);
    point.insert(point.end(), at.point, at.point + 2);
  }
  result["boundary_type"] = nb::tuple(types);
  result["boundary_direction"] = rows(std::move(direction), 2);
  result["boundary_r"] = rows(std::move(r), 2);
  result["boundary_point"] = rows(std::move(point), 2);
  return result;
}

nb::dict v_terrain(double slope, double friction_angle, double distance, double height) {
  const VTerrain terrain{slope, friction_angle, distance, height};
  const CriticalAngles angles = v_terrain_critical_angles(terrain);
  nb::dict result;
  result["rolling"] = angles.rolling;
  result["sliding"] = angles.sliding;
  result["critical"] = angles.critical;
  result["sliding_height"] = v_terrain_sliding_height(terrain);
  return result;
}

}  // namespace

void add_membership(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def("membership", membership, "arrays"_a, "sizes"_a, "centre_of_mass"_a, "isolate"_a,
             "settings"_a, "workspace"_a.none());
  module.def("robust_region", robust);
  module.def("robust_section", section);
  module.def("robust_contains", contains);
  module.def("three_contact_region", three_contacts);
  module.def("three_contact_settings", described<ThreeContactSettings>);
  module.def("v_terrain", v_terrain);
  module.def("critical_tilt", [](const nb::dict& arrays, const nb::tuple& sizes, double x, double y,
                                 double tolerance) {
    const Posture posture = postures_of(arrays, posture_shape(sizes)).front();
    return without_gil([&] { return critical_tilt(posture, x, y, tolerance); });
  });
}

}  // namespace carom::python
