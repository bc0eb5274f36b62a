#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

#include <carom/motion.hpp>

namespace carom::python {

namespace nb = nanobind;

/// Motions over the caller's arrays. given: mechanism in words, problems, knots, drive_interval.
MotionBatch motion_batch(const nb::dict& arrays, const nb::dict& given);

/// (arrays, mechanism in words, drive_interval)
nb::tuple motions_of(MotionBatch&& batch);

}  // namespace carom::python
