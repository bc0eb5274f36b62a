#include "io/posture_input.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include <carom/error.hpp>

#include "io/hdf5_file.hpp"
#include "io/json_file.hpp"
#include "io/problem_file.hpp"

namespace carom::io {

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 7> kPostureKeys = {
    "name", "dimension", "contacts", "wrench", "neighbourhood", "directions", "cone_sides"};
constexpr std::array<std::string_view, 4> kContactKeys = {"position", "normal", "friction",
                                                          "length"};
constexpr std::array<std::string_view, 2> kWrenchKeys = {"force", "torque"};
constexpr std::array<std::string_view, 4> kNeighbourhoodKeys = {"p", "q", "polygon", "wrenches"};
constexpr std::array<std::string_view, 7> kPostureSets = {
    "name", "position", "normal", "friction", "length", "wrench", "wrench_vertices"};

const json& object_at(const json& value, const std::string& where) {
  if (!value.is_object()) throw InvalidInput(where + ": must be an object");
  return value;
}

// A list of `size` numbers.
std::vector<double> vector_of(const json& object, const char* key, std::size_t size,
                              const std::string& where) {
  std::vector<double> values = read_numbers(object, key, where);
  if (values.size() != size) {
    throw InvalidInput(
        fmt::format("{}: {} has {} numbers: must have {}", where, key, values.size(), size));
  }
  return values;
}

std::vector<double> wrench_from(const json& object, int dimension, const std::string& where) {
  object_at(object, where);
  require_known_keys(object, kWrenchKeys, where);
  const auto d = static_cast<std::size_t>(dimension);
  std::vector<double> wrench = vector_of(object, "force", d, where);
  const std::size_t torques = dimension == 2 ? 1 : 3;
  if (!object.contains("torque")) {
    wrench.resize(d + torques, 0.0);
  } else if (dimension == 2 && !object["torque"].is_array()) {
    wrench.push_back(read_number(object, "torque", where));
  } else {
    const std::vector<double> torque = vector_of(object, "torque", torques, where);
    wrench.insert(wrench.end(), torque.begin(), torque.end());
  }
  return wrench;
}

std::array<double, 2> interval(const json& object, const char* key, const std::string& where) {
  if (!object.contains(key)) return {0.0, 0.0};
  const std::vector<double> values = vector_of(object, key, 2, where);
  if (values[0] > values[1]) {
    throw InvalidInput(
        fmt::format("{}: {} is [{}, {}]: must not decrease", where, key, values[0], values[1]));
  }
  return {values[0], values[1]};
}

// The box of f_x / f_z, f_y / f_z in p and tau_x / f_z, tau_y / f_z in q.
std::vector<double> spatial_box(std::array<double, 2> p, std::array<double, 2> q, double f_z) {
  std::set<std::array<double, 4>> corners;  // intervals of no width give each corner once
  for (int code = 0; code < 16; ++code) {
    corners.insert({p[code & 1], p[code >> 1 & 1], q[code >> 2 & 1], q[code >> 3 & 1]});
  }
  std::vector<double> wrenches;
  for (const auto& [px, py, qx, qy] : corners) {
    for (const double value : {f_z * px, f_z * py, f_z, f_z * qx, f_z * qy, 0.0}) {
      wrenches.push_back(value);
    }
  }
  return wrenches;
}

std::vector<double> neighbourhood(const json& object, const Posture& posture,
                                  const std::string& where) {
  object_at(object, where);
  require_known_keys(object, kNeighbourhoodKeys, where);
  const int forms = (object.contains("p") || object.contains("q") ? 1 : 0) +
                    (object.contains("polygon") ? 1 : 0) + (object.contains("wrenches") ? 1 : 0);
  if (forms != 1) {
    throw InvalidInput(where + ": must have p and q, or polygon, or wrenches");
  }
  if (object.contains("wrenches")) {
    const json& list = object["wrenches"];
    if (!list.is_array() || list.empty()) {
      throw InvalidInput(where + ": wrenches must be a list of objects with force and torque");
    }
    std::vector<double> wrenches;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto wrench =
          wrench_from(list[i], posture.dimension, fmt::format("{}.wrenches[{}]", where, i));
      wrenches.insert(wrenches.end(), wrench.begin(), wrench.end());
    }
    return wrenches;
  }
  const auto vertical = static_cast<std::size_t>(posture.dimension) - 1;
  const double f = posture.wrench.empty() ? -1.0 : posture.wrench[vertical];
  if (!(f < 0.0)) {
    throw InvalidInput(fmt::format(
        "{}: p and q are relative to a downward force, but wrench.force[{}] is {}: give wrenches",
        where, vertical, f));
  }
  if (object.contains("polygon")) {
    if (posture.dimension != 2) {
      throw InvalidInput(where + ": polygon is planar; give p and q, or wrenches");
    }
    const Matrix polygon = read_matrix(object, "polygon", where);
    if (polygon.rows < 1 || polygon.columns != 2) {
      throw InvalidInput(fmt::format("{}: polygon is {} x {}: must be a list of [p, q]", where,
                                     polygon.rows, std::max(polygon.columns, 0)));
    }
    return wrench_polygon(polygon.values, f);
  }
  const auto p = interval(object, "p", where);
  const auto q = interval(object, "q", where);
  if (posture.dimension == 2) return wrench_rectangle(p[0], p[1], q[0], q[1], f);
  return spatial_box(p, q, f);
}

void read_contacts(const json& list, Posture& posture, const std::string& where) {
  if (!list.is_array()) throw InvalidInput(where + ": contacts must be a list of objects");
  if (list.empty()) throw InvalidInput(where + ": contacts is empty: a posture needs one or more");
  posture.contacts = static_cast<int>(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string place = fmt::format("{}: contacts[{}]", where, i);
    const json& contact = object_at(list[i], place);
    require_known_keys(contact, kContactKeys, place);
    if (posture.dimension == 0) {
      posture.dimension = read_numbers(contact, "position", place).size() == 2 ? 2 : 3;
    }
    const auto d = static_cast<std::size_t>(posture.dimension);
    for (const auto& [key, to] :
         {std::pair{"position", &posture.position}, std::pair{"normal", &posture.normal}}) {
      const std::vector<double> values = vector_of(contact, key, d, place);
      to->insert(to->end(), values.begin(), values.end());
    }
    posture.friction.push_back(read_number(contact, "friction", place));
    posture.length.push_back(contact.contains("length") ? read_number(contact, "length", place)
                                                        : 0.0);
  }
  const auto is_zero = [](double length) { return length == 0.0; };
  if (std::all_of(posture.length.begin(), posture.length.end(), is_zero)) posture.length.clear();
}

int positive(const json& object, const char* key, int minimum, const std::string& where) {
  const int value = read_count(object, key, where);
  if (value < minimum) {
    throw InvalidInput(fmt::format("{}: {} is {}: must be >= {}", where, key, value, minimum));
  }
  return value;
}

PostureEntry entry_from(const json& object, const std::string& file, std::size_t index) {
  PostureEntry entry;
  Posture& posture = entry.posture;
  const std::string where = begin_entry(object, kPostureKeys, file, "posture", index, posture.name);
  posture.dimension = 0;  // as the positions say
  if (object.contains("dimension")) {
    posture.dimension = read_count(object, "dimension", where);
    if (posture.dimension != 2 && posture.dimension != 3) {
      throw InvalidInput(
          fmt::format("{}: dimension is {}: must be 2 or 3", where, posture.dimension));
    }
  }
  read_contacts(required(object, "contacts", where), posture, where);
  if (object.contains("wrench")) {
    posture.wrench = wrench_from(object["wrench"], posture.dimension, where + ": wrench");
  }
  if (object.contains("neighbourhood")) {
    posture.wrench_vertices =
        neighbourhood(object["neighbourhood"], posture, where + ": neighbourhood");
  }
  if (object.contains("directions")) entry.directions = positive(object, "directions", 3, where);
  if (object.contains("cone_sides")) entry.cone_sides = positive(object, "cone_sides", 3, where);
  return entry;
}

std::vector<PostureEntry> postures_from_hdf5(const std::filesystem::path& path) {
  const std::string file = path.string();
  const Hdf5Reader reader(path);
  require_known_sets(reader, kPostureSets, file);
  for (const char* name : {"position", "normal", "friction"}) {
    if (!reader.has(name)) {
      throw InvalidInput(fmt::format("{}: data set {} is missing", file, name));
    }
  }
  const Shape shape = reader.shape("position");
  if (shape.size() != 3 || (shape[2] != 2 && shape[2] != 3)) {
    throw InvalidInput(fmt::format(
        "{}: position has shape {}: must be [postures, contacts, 2 or 3]", file, shape));
  }
  const std::uint64_t count = shape[0];
  const std::uint64_t contacts = shape[1];
  const std::uint64_t dimension = shape[2];
  const std::uint64_t size = dimension == 2 ? 3 : 6;
  Shape vertices = {count, 0, size};
  if (reader.has("wrench_vertices")) {
    vertices = reader.shape("wrench_vertices");
    if (vertices.size() != 3) {
      throw InvalidInput(
          fmt::format("{}: wrench_vertices has {} axes: must have 3 (postures, "
                      "vertices, numbers)",
                      file, vertices.size()));
    }
  }
  const std::uint64_t corners = vertices[1];
  if (contacts == 0) {
    throw InvalidInput(fmt::format(
        "{}: position has shape {}: a posture needs one or more contacts", file, shape));
  }
  // what was really read, not what the file declares
  std::vector<PostureEntry> entries(reader.doubles("position").size() / (contacts * dimension));
  // Deals the data set out to the postures, where it is there.
  const auto deal = [&](const char* name, const Shape& wanted, auto&& member) {
    if (!reader.has(name)) return;
    require_shape(reader.shape(name), name, wanted, file);
    const std::vector<double> values = reader.doubles(name);
    const std::size_t each = count == 0 ? 0 : values.size() / count;
    for (std::size_t p = 0; p < count; ++p) {
      member(entries[p].posture) = part(values, p * each, each);
    }
  };
  deal(
      "position", shape, [](Posture & p) -> auto& { return p.position; });
  deal(
      "normal", shape, [](Posture & p) -> auto& { return p.normal; });
  deal(
      "friction", {count, contacts}, [](Posture & p) -> auto& { return p.friction; });
  deal(
      "length", {count, contacts}, [](Posture & p) -> auto& { return p.length; });
  deal(
      "wrench", {count, size}, [](Posture & p) -> auto& { return p.wrench; });
  deal(
      "wrench_vertices", {count, corners, size},
      [](Posture & p) -> auto& { return p.wrench_vertices; });
  const std::vector<std::string> names = read_names(reader, count, "postures", file);
  for (std::size_t p = 0; p < count; ++p) {
    entries[p].posture.name = names[p];
    entries[p].posture.dimension = static_cast<int>(dimension);
    entries[p].posture.contacts = static_cast<int>(contacts);
  }
  return entries;
}

}  // namespace

std::vector<PostureEntry> read_postures(const std::filesystem::path& file) {
  std::vector<PostureEntry> entries = read_either(file, postures_from_hdf5, [](const auto& path) {
    return read_json_entries(path, entry_from);
  });
  check_entries(file, entries, "posture", [](const PostureEntry& entry, std::size_t i) {
    validate(entry.posture, static_cast<std::int64_t>(i));
  });
  return entries;
}

}  // namespace carom::io
