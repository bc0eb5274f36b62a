#pragma once

#include <carom/equilibrium_planar.hpp>

#include "equilibrium/body/planar_batch_body.hpp"

namespace carom {

/// Room for the answers of `batch` where it lives.
inline PlanarResult planar_result(const PostureBatch& batch, MemorySpace space) {
  const auto n = static_cast<std::size_t>(batch.problems);
  const auto k = static_cast<std::size_t>(batch.contacts);
  const auto m = static_cast<std::size_t>(batch.vertices);
  PlanarResult result;
  result.status = Buffer<Status>(n, space);
  for (Buffer<double>* buffer :
       {&result.torque_min, &result.torque_max, &result.lower, &result.upper, &result.residual}) {
    *buffer = Buffer<double>(n, space);
  }
  for (Buffer<double>* buffer : {&result.normal, &result.height, &result.separation}) {
    *buffer = Buffer<double>(2 * n, space);
  }
  result.force = Buffer<double>(4 * n * k, space);
  result.torque = Buffer<double>(2 * n * k, space);
  result.essential = Buffer<std::int32_t>(4 * n, space);
  if (m > 0) {
    result.robust_status = Buffer<Status>(n, space);
    result.robust_strip = Buffer<double>(4 * n * m, space);
    result.robust_residual = Buffer<double>(n, space);
    result.robust_count = Buffer<std::int32_t>(n, space);
    result.robust_polygon = Buffer<double>(4 * n * m, space);
  }
  return result;
}

inline kernels::PlanarView planar_inputs(const PostureBatch& batch,
                                         const PlanarSettings& settings) {
  kernels::PlanarView view{};
  view.contacts = batch.contacts;
  view.vertices = batch.vertices;
  view.tolerance = settings.tolerance;
  view.position = batch.position.data();
  view.normal = batch.normal.data();
  view.friction = batch.friction.data();
  view.length = batch.length.empty() ? nullptr : batch.length.data();
  view.wrench = batch.wrench.data();
  view.wrench_vertices = batch.wrench_vertices.data();
  return view;
}

inline kernels::PlanarView planar_view(const PostureBatch& batch, const PlanarSettings& settings,
                                       PlanarResult& result) {
  kernels::PlanarView view = planar_inputs(batch, settings);
  view.status = result.status.data();
  view.torque_min = result.torque_min.data();
  view.torque_max = result.torque_max.data();
  view.normal_out = result.normal.data();
  view.lower = result.lower.data();
  view.upper = result.upper.data();
  view.force = result.force.data();
  view.torque = result.torque.data();
  view.height = result.height.data();
  view.separation = result.separation.data();
  view.essential = result.essential.data();
  view.residual = result.residual.data();
  view.robust_status = result.robust_status.data();
  view.robust_strip = result.robust_strip.data();
  view.robust_residual = result.robust_residual.data();
  view.robust_count = result.robust_count.data();
  view.robust_polygon = result.robust_polygon.data();
  return view;
}

/// Room for margins of `batch` where it lives.
inline PlanarMargin planar_margin(const PostureBatch& batch, MemorySpace space) {
  const auto n = static_cast<std::size_t>(batch.problems);
  PlanarMargin margin;
  margin.status = Buffer<Status>(n, space);
  for (Buffer<double>* buffer : {&margin.distance, &margin.robust_distance, &margin.scale}) {
    *buffer = Buffer<double>(n, space);
  }
  margin.limiting_vertex = Buffer<std::int32_t>(n, space);
  return margin;
}

}  // namespace carom
