#pragma once

#include <filesystem>

namespace carom::io {

enum class FileKind : unsigned char {
  unknown,
  impact,
  posture,
  step,
  stance,
  motion,
  program,
  answer
};

/// What a problem file holds, told by a key of its first JSON object or by a data set of its HDF5
/// root: `normal_jacobian` impacts, `contacts` or `position` postures, with `angle` stances,
/// `constraints` or `jacobian` steps, `M`, `W`,
/// `P` or `row_lower` problems of `carom solve`, `mechanism` or `model` motions; `carom` in JSON is
/// the record of an output of --json. `unknown` also for files that cannot be read: the reader that
/// is called next reports the reason.
FileKind kind_of_file(const std::filesystem::path& file);

}  // namespace carom::io
