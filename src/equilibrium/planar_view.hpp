#pragma once

#include "equilibrium/body/planar_batch_body.hpp"
#include "equilibrium/planar_backends.hpp"

namespace carom {

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

}  // namespace carom
