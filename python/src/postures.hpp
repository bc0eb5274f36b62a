#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

#include <carom/posture.hpp>

namespace carom::python {

struct PostureShape {
  std::int64_t problems = 0;
  int dimension = 2;
  int contacts = 0;
  int vertices = 0;
};

/// (problems, dimension, contacts, vertices)
PostureShape posture_shape(const nanobind::tuple& sizes);

/// Postures one by one, copied.
std::vector<Posture> postures_of(const nanobind::dict& arrays, const PostureShape& shape);

/// isolate: a view of the arrays as they are; else checked and its normals normalised.
PostureBatch posture_batch(const nanobind::dict& arrays, const PostureShape& shape, bool isolate);

}  // namespace carom::python
