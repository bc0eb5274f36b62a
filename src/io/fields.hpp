#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <nlohmann/json.hpp>

#include <carom/types/fields.hpp>
#include <carom/types/words.hpp>

#include "io/hdf5_file.hpp"

/// Members of a result by their names, in both kinds of files.
namespace carom::io {

/// Adds every field to a JSON object; NaN becomes null.
template <class Result>
void add_fields(nlohmann::ordered_json& object, const Result& result) {
  Result::each_field(
      [&](const Field& field, const auto& value) {
        std::string path = "/" + std::string(field.name);
        std::replace(path.begin(), path.end(), '.', '/');
        auto& place = object[nlohmann::ordered_json::json_pointer(path)];
        if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(value)>>) {
          place = to_string(value);
        } else {
          place = value;
        }
      },
      result);
}

/// One attribute of `object` for every field.
template <class Result>
void write_fields(Hdf5Writer& writer, std::string_view object, const Result& result) {
  Result::each_field(
      [&](const Field& field, const auto& value) {
        using Value = std::remove_cvref_t<decltype(value)>;
        std::string name = field.name;
        std::replace(name.begin(), name.end(), '.', '_');
        if constexpr (std::is_enum_v<Value>) {
          writer.attribute(object, name, to_string(value));
        } else if constexpr (std::is_integral_v<Value>) {
          writer.attribute(object, name, static_cast<std::int64_t>(value));
        } else {
          writer.attribute(object, name, value);
        }
      },
      result);
}

}  // namespace carom::io
