#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

#include <carom/impact.hpp>

#include "tables.hpp"

namespace carom::python {

/// Impacts over the caller's arrays, by name.
inline ImpactBatch impact_batch(const nb::dict& arrays, std::int64_t problems, int dimension,
                                int velocities, int contacts) {
  ImpactBatch batch;
  static_cast<ImpactSizes&>(batch) = {problems, dimension, velocities, contacts};
  borrow(batch, batch, arrays);
  return batch;
}

/// One problem from its arrays.
inline ImpactProblem impact_problem(const nb::dict& arrays, int dimension, int velocities,
                                    int contacts) {
  const ImpactBatch batch = impact_batch(arrays, 1, dimension, velocities, contacts);
  ImpactProblem problem;
  problem.dimension = dimension;
  problem.velocities = velocities;
  problem.contacts = contacts;
  ImpactBatch::each_array(
      batch, [](const char*, const Extents&, auto& to, const auto& from) { to = from.to_vector(); },
      problem, batch);
  return problem;
}

/// A net's arrays, which are taken out of it.
nb::dict net_of(EpsilonNet& net);

}  // namespace carom::python
