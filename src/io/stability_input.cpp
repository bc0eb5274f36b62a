#include "io/stability_input.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/buffer_slice.hpp"
#include "io/problem_file.hpp"

namespace carom::io {

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 5> kStanceKeys = {"name", "contacts", "force", "angle",
                                                         "torque"};
constexpr std::array<std::string_view, 5> kStanceContactKeys = {"l", "h", "slope", "friction",
                                                                "restitution"};

constexpr std::array<std::string_view, 9> kStanceSets = {
    "name", "l", "h", "slope", "friction", "restitution", "force", "angle", "torque"};
constexpr std::array<std::string_view, 4> kNeededStanceSets = {"l", "h", "friction", "angle"};

double number_or(const json& object, const char* key, double absent, const std::string& where) {
  return object.contains(key) ? read_number(object, key, where) : absent;
}

}  // namespace

Stance stance_from_json(const json& object, const std::string& file, std::size_t index) {
  Stance stance;
  const std::string where = begin_entry(object, kStanceKeys, file, "stance", index, stance.name);
  const json& contacts = required(object, "contacts", where);
  if (!contacts.is_array()) {
    throw InvalidInput(
        fmt::format("{}: contacts is {}: must be a list of objects", where, shown(contacts)));
  }
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const std::string place = fmt::format("{}: contacts[{}]", where, i);
    if (!contacts[i].is_object()) throw InvalidInput(place + ": must be an object");
    require_known_keys(contacts[i], kStanceContactKeys, place);
    stance.contacts.push_back(
        {read_number(contacts[i], "l", place), read_number(contacts[i], "h", place),
         number_or(contacts[i], "slope", 0.0, place), read_number(contacts[i], "friction", place),
         number_or(contacts[i], "restitution", 0.0, place)});
  }
  stance.force = number_or(object, "force", 1.0, where);
  stance.angle = read_number(object, "angle", where);
  stance.torque = number_or(object, "torque", 0.0, where);
  return stance;
}

std::vector<Stance> stances_from_hdf5(const Hdf5Reader& reader, const std::string& group,
                                      const std::string& file) {
  const Shape shape = required_shape(reader, group + "l", 2, "stances, contacts", file);
  if (shape[1] == 0 || shape[1] > static_cast<std::uint64_t>(kMaxStanceContacts)) {
    throw InvalidInput(fmt::format("{}: l has shape {}: a stance has 1 to {} contacts", file, shape,
                                   kMaxStanceContacts));
  }
  const StanceSizes sizes{static_cast<std::int64_t>(shape[0]), static_cast<std::int64_t>(shape[1])};
  StanceBatchArrays<Values> sets;
  StanceBatch::each_array(
      sizes,
      [&](const std::string& name, const Extents& extents, std::vector<double>& values) {
        const std::string path = group + name;
        if (std::find(kNeededStanceSets.begin(), kNeededStanceSets.end(), name) ==
                kNeededStanceSets.end() &&
            !reader.has(path)) {
          values.assign(static_cast<std::size_t>(extents.count()), name == "force" ? 1.0 : 0.0);
          return;
        }
        const char* axes = extents.rank() == 2 ? "stances, contacts" : "stances";
        require_shape(required_shape(reader, path, extents.rank(), axes, file), path,
                      shape_of(extents), file);
        values = reader.doubles(path);
      },
      sets);
  std::vector<Stance> stances(shape[0]);
  for (std::size_t p = 0, at = 0; p < stances.size(); ++p) {
    Stance& stance = stances[p];
    for (std::uint64_t i = 0; i < shape[1]; ++i, ++at) {
      stance.contacts.push_back(
          {sets.l[at], sets.h[at], sets.slope[at], sets.friction[at], sets.restitution[at]});
    }
    stance.force = sets.force[p], stance.angle = sets.angle[p], stance.torque = sets.torque[p];
  }
  return stances;
}

namespace {

std::vector<Stance> stances_of_file(const std::filesystem::path& path) {
  const std::string file = path.string();
  const Hdf5Reader reader(path);
  const bool output =
      reader.has_attribute("/", "kind") && reader.text_attribute("/", "kind") == "stability";
  if (output) return stances_from_hdf5(reader, "/stance/", file);
  require_known_sets(reader, kStanceSets, file);
  std::vector<Stance> stances = stances_from_hdf5(reader, "/", file);
  std::vector<std::string> names = read_names(reader, stances.size(), "stances", file);
  for (std::size_t p = 0; p < stances.size(); ++p) stances[p].name = std::move(names[p]);
  return stances;
}

}  // namespace

std::vector<Stance> read_stances(const std::filesystem::path& file) {
  auto stances = read_either(file, stances_of_file, [](const auto& path) {
    return read_json_entries(path, stance_from_json);
  });
  check_entries(file, stances, "stance", [&](const Stance& stance, std::size_t index) {
    validate(stance, stances.size() > 1 ? static_cast<std::int64_t>(index) : -1);
  });
  return stances;
}

}  // namespace carom::io
