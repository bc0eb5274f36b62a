#include "equilibrium/planar_backends.hpp"

namespace carom {

PlanarResult planar_result(const PostureBatch& batch, MemorySpace space) {
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

PlanarMargin planar_margin(const PostureBatch& batch, MemorySpace space) {
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
