#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <carom/types/fields.hpp>

#include "io/member_values.hpp"

/// Writes and reads the members of a result by their names, in HDF5 and JSON files.
namespace carom::io {

/// Adds every field that is there to a JSON object; NaN becomes null.
template <class Result>
void add_fields(nlohmann::ordered_json& object, const Result& result) {
  Result::each_field(
      [&](const Field& field, const auto& value) {
        if (!is_there(value)) return;
        std::string path = "/" + std::string(field.name);
        std::replace(path.begin(), path.end(), '.', '/');
        object[nlohmann::ordered_json::json_pointer(path)] = json_value(value);
      },
      result);
}

/// One attribute of `object` for every field.
template <class Result>
void write_fields(Hdf5Writer& writer, std::string_view object, const Result& result) {
  Result::each_field(
      [&](const Field& field, const auto& value) {
        std::string name = field.name;
        std::replace(name.begin(), name.end(), '.', '_');
        write_value(writer, object, name, value);
      },
      result);
}

}  // namespace carom::io
