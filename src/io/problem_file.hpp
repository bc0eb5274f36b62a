#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <carom/error.hpp>

#include "io/file_error.hpp"
#include "io/hdf5_file.hpp"
#include "io/json_file.hpp"

/// What the readers of problem files share: one object or an array of them, JSON or HDF5.
namespace carom::io {

/// entry_from(object, file name, index) for the only object of a JSON file or for each of its
/// array.
template <class EntryFrom>
auto read_json_entries(const std::filesystem::path& file, EntryFrom&& entry_from) {
  const nlohmann::json document = read_json(file);
  std::vector<decltype(entry_from(document, file.string(), std::size_t{0}))> entries;
  if (!document.is_array()) {
    entries.push_back(entry_from(document, file.string(), std::size_t{0}));
    return entries;
  }
  for (std::size_t i = 0; i < document.size(); ++i) {
    entries.push_back(entry_from(document[i], file.string(), i));
  }
  return entries;
}

/// from_hdf5(file) or from_json(file), told apart by the content. Unreadable input is bad input:
/// HDF5's FileError becomes InvalidInput.
template <class FromHdf5, class FromJson>
auto read_either(const std::filesystem::path& file, FromHdf5&& from_hdf5, FromJson&& from_json) {
  if (!Hdf5Reader::is_hdf5(file)) return from_json(file);
  try {
    return from_hdf5(file);
  } catch (const FileError& error) {
    throw InvalidInput(error.what());
  }
}

/// Refuses names in the root of an HDF5 file that are not in `known`. Errors: InvalidInput.
void require_known_sets(const Hdf5Reader& reader, std::span<const std::string_view> known,
                        const std::string& file);

}  // namespace carom::io
