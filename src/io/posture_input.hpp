#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include <carom/posture.hpp>

namespace carom::io {

/// A posture of a file with the settings that the file gives for it.
struct PostureEntry {
  Posture posture;
  std::optional<int> directions;  ///< of the sweep over a spatial region
  std::optional<int> cone_sides;  ///< of the polygons that enclose a spatial friction cone
};

/// Postures of a JSON file: one object or an array of objects with the keys `contacts` (objects
/// with `position`, `normal`, `friction`, planar also `length`) and optionally `name`, `dimension`,
/// `wrench` {`force`, `torque`}, `neighbourhood`, `directions`, `cone_sides`.
/// A neighbourhood is {`p`: [p1, p2], `q`: [q1, q2]}, planar also {`polygon`: [[p, q], ...]}, or
/// {`wrenches`: [{`force`, `torque`}, ...]}. p and q are relative to the vertical force: planar
/// p = f_x / f_y, q = tau / f_y; spatial p bounds both f_x / f_z and f_y / f_z, q both
/// tau_x / f_z and tau_y / f_z.
/// Or of an HDF5 file with batched data sets `position` [n, k, dimension], `normal`, `friction`
/// [n, k] and optionally `length` [n, k], `wrench` [n, 3 or 6], `wrench_vertices` [n, vertices, 3
/// or 6], `name` [n].
/// Errors: InvalidInput naming file, posture, field, position and value.
std::vector<PostureEntry> read_postures(const std::filesystem::path& file);

}  // namespace carom::io
