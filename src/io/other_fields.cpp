#include "io/other_fields.hpp"

#include <algorithm>
#include <cctype>

namespace carom::io {

namespace {

using nlohmann::json;

void add_once(std::vector<std::string>& fields, const std::string& field) {
  if (std::find(fields.begin(), fields.end(), field) == fields.end()) fields.push_back(field);
}

bool holds(std::span<const std::string_view> judged, std::string_view field) {
  return std::find(judged.begin(), judged.end(), field) != judged.end();
}

/// Whether something below `field` is judged.
bool holds_below(std::span<const std::string_view> judged, const std::string& field,
                 char separator) {
  return std::any_of(judged.begin(), judged.end(), [&](std::string_view name) {
    return name.size() > field.size() && name.starts_with(field) && name[field.size()] == separator;
  });
}

void collect_json(const json& value, const std::string& at,
                  std::span<const std::string_view> judged, std::vector<std::string>& fields) {
  if (value.is_array()) {
    for (const json& element : value) collect_json(element, at, judged, fields);
    return;
  }
  if (!value.is_object()) return;
  for (const auto& [key, inner] : value.items()) {
    const std::string field = at.empty() ? key : at + "." + key;
    if (holds(judged, field)) continue;
    if (holds_below(judged, field, '.')) {
      collect_json(inner, field, judged, fields);
    } else {
      add_once(fields, field);
    }
  }
}

/// "impact_12" and "12" as the page has them.
std::string starred(const std::string& name) {
  std::size_t end = name.size();
  while (end > 0 && std::isdigit(static_cast<unsigned char>(name[end - 1])) != 0) --end;
  if (end == name.size() || (end > 0 && name[end - 1] != '_')) return name;
  return name.substr(0, end) + "*";
}

void collect_hdf5(const Hdf5Reader& reader, const std::string& group, const std::string& shown,
                  std::span<const std::string_view> judged, std::vector<std::string>& fields) {
  const auto attributes = [&](const std::string& object, const std::string& name, bool set) {
    for (const std::string& attribute : reader.attributes(object)) {
      const bool note =
          set && (attribute == "axes" || attribute == "unit" || attribute == "meaning");
      const std::string field =
          note ? "axes, unit and meaning of data sets" : name + "@" + attribute;
      if (!holds(judged, field)) add_once(fields, field);
    }
  };
  attributes(group.empty() ? "/" : group, shown.empty() ? "/" : shown, false);
  for (const std::string& name : reader.names(group.empty() ? "/" : group)) {
    const std::string path = group + "/" + name;
    const std::string field = shown + "/" + starred(name);
    const bool inner = reader.is_group(path);
    if (inner && (holds_below(judged, field, '/') || holds_below(judged, field, '@'))) {
      collect_hdf5(reader, path, field, judged, fields);
      continue;
    }
    if (!inner) attributes(path, field, true);
    if (!holds(judged, field)) add_once(fields, field);
  }
}

}  // namespace

void add_other_json_fields(const json& object, std::span<const std::string_view> judged,
                           std::vector<std::string>& fields) {
  collect_json(object, "", judged, fields);
}

std::vector<std::string> other_hdf5_fields(const Hdf5Reader& reader,
                                           std::span<const std::string_view> judged) {
  std::vector<std::string> fields;
  collect_hdf5(reader, "", "", judged, fields);
  return fields;
}

}  // namespace carom::io
