#pragma once

#include <cstddef>
#include <filesystem>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <carom/batch.hpp>
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
  const JsonDocument parsed(file);
  const nlohmann::json& document = parsed.root();
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

/// read(), told apart from other shortages of memory. Errors: FileError where read() runs out of
/// it.
template <class Read>
auto with_memory_for(const std::filesystem::path& file, Read&& read) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {  // more than a vector can hold
  }
  throw FileError(file.string() + ": there is not enough memory to read it");
}

/// from_hdf5(file) or from_json(file), told apart by the content. Unreadable input is bad input:
/// HDF5's FileError becomes InvalidInput.
template <class FromHdf5, class FromJson>
auto read_either(const std::filesystem::path& file, FromHdf5&& from_hdf5, FromJson&& from_json) {
  return with_memory_for(file, [&] {
    if (!Hdf5Reader::is_hdf5(file)) return from_json(file);
    try {
      return from_hdf5(file);
    } catch (const FileError& error) {
      throw InvalidInput(error.what());
    }
  });
}

/// Begins an entry: refuses what is no object of `known` keys, reads its name, and returns what
/// messages call it, e.g. `file: problem 3 ("block")`. Errors: InvalidInput.
std::string begin_entry(const nlohmann::json& object, std::span<const std::string_view> known,
                        const std::string& file, const char* word, std::size_t index,
                        std::string& name);

/// The mass matrix of `velocities` rows and columns, by row. Errors: InvalidInput.
std::vector<double> read_mass_matrix(const nlohmann::json& object, int velocities,
                                     const std::string& where);

/// Calls check(entry, index) for every entry; its refusals are told with the file's name. A file
/// without entries is refused, too. Errors: InvalidInput.
template <class Entry, class Check>
void check_entries(const std::filesystem::path& file, const std::vector<Entry>& entries,
                   const char* word, Check&& check) {
  if (entries.empty()) throw InvalidInput(file.string() + ": holds no " + word);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    try {
      check(entries[i], i);
    } catch (const InvalidInput& error) {
      throw error.with_source(file.string());
    }
  }
}

/// Refuses names in the root of an HDF5 file that are not in `known`. Errors: InvalidInput.
void require_known_sets(const Hdf5Reader& reader, std::span<const std::string_view> known,
                        const std::string& file);

/// Errors: InvalidInput where the data set is missing or has not `rank` axes, which are called
/// `axes`.
Shape required_shape(const Hdf5Reader& reader, std::string_view name, std::size_t rank,
                     const char* axes, const std::string& file);

/// Errors: InvalidInput.
void require_shape(const Shape& shape, std::string_view name, const Shape& wanted,
                   const std::string& file);

/// The extents of an array, as those of a data set; from the second one on, as those of one
/// problem.
Shape shape_of(const Extents& extents, std::size_t from = 0);

/// The data set `name`, or `count` empty texts. Errors: InvalidInput.
std::vector<std::string> read_names(const Hdf5Reader& reader, std::size_t count, const char* words,
                                    const std::string& file);

/// values[first, first + size)
std::vector<double> part(const std::vector<double>& values, std::size_t first, std::size_t size);

}  // namespace carom::io
