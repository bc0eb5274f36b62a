#pragma once

#include <span>
#include <string>
#include <string_view>

namespace carom::io {

/// Descriptions of the data sets of HDF5 files that carom writes. The page docs/reference/files.md
/// and the attributes `axes`, `unit` and `meaning` of the data sets are generated from them.
struct DataSetNote {
  std::string path;  ///< * stands for the digits of a number, or for a whole name at the end
  std::string axes;  ///< names of the extents, the outermost first; empty: not said twice
  const char* unit;  ///< empty: none, or that of the problem's own numbers
  const char* meaning;
};

/// In the order of the page.
std::span<const DataSetNote> data_set_notes();

/// Null where there is none.
const DataSetNote* data_set_note(std::string_view path);

}  // namespace carom::io
