#include "io/stability_input.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "io/problem_file.hpp"

namespace carom::io {

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 5> kStanceKeys = {"name", "contacts", "force", "angle",
                                                         "torque"};
constexpr std::array<std::string_view, 5> kStanceContactKeys = {"l", "h", "slope", "friction",
                                                                "restitution"};

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

std::vector<Stance> read_stances(const std::filesystem::path& file) {
  auto stances = with_memory_for(file, [&] { return read_json_entries(file, stance_from_json); });
  check_entries(file, stances, "stance", [](const Stance& stance, std::size_t index) {
    try {
      validate(stance);
    } catch (const InvalidInput& error) {
      throw error.with_problem(static_cast<std::int64_t>(index));
    }
  });
  return stances;
}

}  // namespace carom::io
