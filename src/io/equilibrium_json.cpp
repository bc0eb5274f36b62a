#include "io/equilibrium_json.hpp"

#include "io/fields.hpp"
#include "io/setting_json.hpp"

#include <cmath>
#include <cstddef>
#include <span>

#include "core/words.hpp"

namespace carom::io {

using nlohmann::ordered_json;

namespace {

// [rows, columns], or null where the first number does not exist.
ordered_json matrix(std::span<const double> values, std::size_t columns) {
  if (!values.empty() && !std::isfinite(values[0])) return nullptr;
  ordered_json result = ordered_json::array();
  for (std::size_t i = 0; i + columns <= values.size(); i += columns) {
    const auto row = values.subspan(i, columns);
    result.push_back(std::vector<double>(row.begin(), row.end()));
  }
  return result;
}

ordered_json planar_json(const run::EquilibriumRun& run) {
  const run::PlanarRegion& region = run.planar;
  ordered_json result;
  result["method"] = to_string(run.planar_settings.method);
  result["status"] = to_string(region.status);
  result["tau_min"] = json_number(region.torque_min);
  result["tau_max"] = json_number(region.torque_max);
  result["essential_contacts"] = region.essential;
  result["strip"] = {{"normal", region.normal},
                     {"lower", json_number(region.lower)},
                     {"upper", json_number(region.upper)}};
  const std::size_t each = region.force.size() / 2;
  const std::span<const double> force(region.force);
  result["forces"] = {{"lower", matrix(force.first(each), 2)},
                      {"upper", matrix(force.last(each), 2)}};
  if (region.status == Status::infeasible) result["separation"] = region.separation;
  add_fields(result, run.numbers);
  if (region.robust_status) {
    result["robust_status"] = to_string(*region.robust_status);
    result["robust_polygon"] = region.robust_polygon;
    ordered_json strips = ordered_json::array();
    for (const auto& [x, y, lower, upper] : region.strips) {
      strips.push_back(
          {{"normal", {x, y}}, {"lower", json_number(lower)}, {"upper", json_number(upper)}});
    }
    result["robust_strips"] = strips;
    result["robust_residual"] = json_number(region.robust_residual);
  } else {
    result["robust_polygon"] = nullptr;
  }
  return result;
}

ordered_json three_json(const ThreeContactRegion& three) {
  const auto pieces = [](const std::vector<std::vector<double>>& list) {
    ordered_json result = ordered_json::array();
    for (const std::vector<double>& piece : list) result.push_back(matrix(piece, 2));
    return result;
  };
  ordered_json result;
  result["p_plus"] = pieces(three.plus);
  result["p_minus"] = pieces(three.minus);
  result["conservative"] = matrix(three.conservative, 2);
  result["area_conservative"] = three.area_conservative;
  result["searched"] = matrix(three.searched, 2);
  result["area_searched"] = three.area_searched;
  ordered_json boundary = ordered_json::array();
  for (const BoundaryPoint& point : three.boundary) {
    boundary.push_back({{"type", word_of(point.type)}, {"point", point.point}});
  }
  result["boundary"] = boundary;
  return result;
}

ordered_json spatial_json(const run::EquilibriumRun& run) {
  const SpatialRegion& region = run.spatial;
  const auto k = static_cast<std::size_t>(run.posture.contacts);
  ordered_json result;
  result["cones"] = to_string(run.spatial_settings.cones);
  if (run.spatial_settings.cones != ConeModel::exact) {
    result["cone_sides"] = run.spatial_settings.cone_sides;
  }
  result["status"] = to_string(region.status);
  result["region_dimension"] = region.dimension;
  result["frame"] = region.frame;
  result["inner"] = matrix(region.inner, 2);
  result["outer"] = matrix(region.outer, 2);
  ordered_json support = ordered_json::array();
  for (const RegionSupport& probe : region.support) {
    ordered_json entry;
    entry["direction"] = probe.direction;
    entry["lower"] = json_number(probe.lower);
    entry["upper"] = json_number(probe.upper);
    entry["point"] = std::isfinite(probe.point[0]) ? ordered_json(probe.point) : nullptr;
    if (probe.status != Status::solved) entry["status"] = to_string(probe.status);
    support.push_back(entry);
  }
  result["support"] = support;
  ordered_json forces = ordered_json::array();  // of each inner point, of each contact
  for (std::size_t i = 0; i + 3 * k <= region.forces.size(); i += 3 * k) {
    forces.push_back(matrix(std::span(region.forces).subspan(i, 3 * k), 3));
  }
  result["forces"] = forces;
  result["half_planes"] = matrix(region.half_plane, 3);
  result["duals"] = matrix(region.dual, 6);
  if (run.three) result["three_contacts"] = three_json(*run.three);
  if (run.robust) {
    const RobustSection& section = run.robust->section;
    ordered_json robust;
    robust["status"] = to_string(run.robust->region.status);
    robust["half_spaces_outer"] = matrix(run.robust->region.outer, 4);
    robust["half_spaces_inner"] = matrix(run.robust->region.inner, 4);
    robust["height"] = run.robust->height;
    robust["inner"] = matrix(section.inner, 2);
    robust["outer"] = matrix(section.outer, 2);
    robust["area_inner"] = json_number(section.area_inner);
    robust["area_outer"] = json_number(section.area_outer);
    result["robust"] = robust;
  }
  add_fields(result, run.numbers);
  return result;
}

ordered_json probe_json(const run::MassProbe& probe) {
  ordered_json result;
  result["centre_of_mass"] = probe.centre_of_mass;
  result["held"] = nullptr;
  if (const std::optional<bool> held = probe.held()) result["held"] = *held;
  result["status"] = to_string(probe.status);
  result["distance"] = json_number(probe.distance);
  if (probe.robust_distance) result["robust_distance"] = json_number(*probe.robust_distance);
  if (probe.robust_contains) {
    const int inside = *probe.robust_contains;
    result["robust"] = inside > 0 ? "inside" : (inside < 0 ? "outside" : "undecided");
  }
  if (probe.scale) result["disturbance_scale"] = json_number(*probe.scale);
  if (!probe.forces.empty()) result["forces"] = matrix(probe.forces, 3);
  return result;
}

ordered_json held_json(const std::optional<bool>& held) {
  return held ? ordered_json(*held) : ordered_json(nullptr);
}

ordered_json critical_json(const run::Critical& critical) {
  ordered_json result;
  result["parameter"] = critical.parameter;
  result["low"] = critical.low;
  result["high"] = critical.high;
  result["held_low"] = held_json(critical.held_low);
  result["held_high"] = held_json(critical.held_high);
  result["held"] = critical.found() ? ordered_json(critical.held) : ordered_json(nullptr);
  result["not_held"] = critical.found() ? ordered_json(critical.not_held) : ordered_json(nullptr);
  return result;
}

}  // namespace

ordered_json varied_equilibrium_json(const run::EquilibriumRun& run) {
  ordered_json result;
  result["name"] = run.name;
  result["parameters"] = ordered_json::object();
  for (const auto& [name, value] : run.parameters) result["parameters"][name] = value;
  result["backend"] = to_string(run.backend);
  result["status"] = to_string(run.status());
  if (run.posture.dimension == 2) {
    const run::PlanarRegion& region = run.planar;
    result["strip"] = {{"normal", region.normal},
                       {"lower", json_number(region.lower)},
                       {"upper", json_number(region.upper)}};
  }
  add_fields(result, run.numbers);
  if (run.probe) {
    ordered_json probe;
    probe["held"] = held_json(run.probe->held());
    probe["distance"] = json_number(run.probe->distance);
    result["probe"] = probe;
  }
  return result;
}

ordered_json equilibrium_json(const run::EquilibriumRun& run) {
  ordered_json result;
  result["name"] = run.name;
  result["dimension"] = run.posture.dimension;
  result["contacts"] = run.posture.contacts;
  result["backend"] = to_string(run.backend);
  result.update(run.posture.dimension == 2 ? planar_json(run) : spatial_json(run));
  if (run.probe) result["probe"] = probe_json(*run.probe);
  if (run.critical) result["critical"] = critical_json(*run.critical);
  result["settings"] = run.posture.dimension == 2 ? settings_json(run.planar_settings)
                                                  : settings_json(run.spatial_settings);
  result["seconds"] = run.seconds;
  return result;
}

}  // namespace carom::io
