#pragma once

#include "core/arrays.hpp"
#include "equilibrium/kernels/planar_batch.hpp"
#include "equilibrium/planar_backends.hpp"

namespace carom {

inline kernels::PlanarView planar_inputs(const PostureBatch& batch,
                                         const PlanarSettings& settings) {
  kernels::PlanarView view{};
  view.contacts = batch.contacts;
  view.vertices = batch.vertices;
  view.tolerance = settings.tolerance;
  arrays::bind(view, batch);
  return view;
}

inline kernels::PlanarView planar_view(const PostureBatch& batch, const PlanarSettings& settings,
                                       PlanarResult& result) {
  kernels::PlanarView view = planar_inputs(batch, settings);
  arrays::bind(view.result, result);
  return view;
}

}  // namespace carom
