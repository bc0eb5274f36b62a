#include "io/problem_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "io/printable.hpp"

namespace carom::io {

std::string begin_entry(const nlohmann::json& object, std::span<const std::string_view> known,
                        const std::string& file, const char* word, std::size_t index,
                        std::string& name) {
  std::string where = fmt::format("{}: {} {}", file, word, index);
  if (!object.is_object()) {
    throw InvalidInput(
        fmt::format("{}: must be an object with the keys {}", where, fmt::join(known, ", ")));
  }
  if (object.contains("name")) name = read_text(object, "name", where);
  if (!name.empty()) where += fmt::format(" (\"{}\")", name);
  require_known_keys(object, known, where);
  return where;
}

std::vector<double> read_mass_matrix(const nlohmann::json& object, int velocities,
                                     const std::string& where) {
  Matrix mass = read_matrix(object, "mass_matrix", where);
  if (mass.rows != velocities || mass.columns != velocities) {
    throw InvalidInput(fmt::format(
        "{}: mass_matrix is {} x {}: must be {} x {}, as velocity has {} numbers", where, mass.rows,
        std::max(mass.columns, 0), velocities, velocities, velocities));
  }
  return std::move(mass.values);
}

void require_known_sets(const Hdf5Reader& reader, std::span<const std::string_view> known,
                        const std::string& file) {
  for (const std::string& name : reader.names()) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw InvalidInput(fmt::format("{}: unknown data set \"{}\"; known are {}", file, name,
                                     fmt::join(known, ", ")));
    }
  }
}

Shape required_shape(const Hdf5Reader& reader, std::string_view name, std::size_t rank,
                     const char* axes, const std::string& file) {
  if (!reader.has(name)) throw InvalidInput(fmt::format("{}: data set {} is missing", file, name));
  if (reader.is_group(name)) {
    throw InvalidInput(fmt::format("{}: {} is a group, a data set is needed", file, name));
  }
  Shape shape = reader.shape(name);
  if (shape.size() != rank) {
    throw InvalidInput(
        fmt::format("{}: {} has {} axes: must have {} ({})", file, name, shape.size(), rank, axes));
  }
  return shape;
}

Shape shape_of(const Extents& extents, std::size_t from) {
  Shape shape;
  for (std::size_t i = from; i < extents.rank(); ++i) {
    shape.push_back(static_cast<std::uint64_t>(extents[i]));
  }
  return shape;
}

void require_shape(const Shape& shape, std::string_view name, const Shape& wanted,
                   const std::string& file) {
  if (shape == wanted) return;
  throw InvalidInput(fmt::format("{}: {} has shape {}: must be {}", file, name, shape, wanted));
}

std::vector<std::string> read_names(const Hdf5Reader& reader, std::size_t count, const char* words,
                                    const std::string& file) {
  if (!reader.has("name")) return std::vector<std::string>(count);
  std::vector<std::string> names = reader.strings("name");
  if (names.size() != count) {
    throw InvalidInput(
        fmt::format("{}: name has {} texts for {} {}", file, names.size(), count, words));
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (is_utf8(names[i])) continue;
    throw InvalidInput(fmt::format("{}: name[{}] is {}: must be UTF-8", file, i, names[i]));
  }
  return names;
}

std::vector<double> part(const std::vector<double>& values, std::size_t first, std::size_t size) {
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(size)};
}

}  // namespace carom::io
