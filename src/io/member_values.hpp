#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <nlohmann/json.hpp>

#include "core/words.hpp"
#include "io/hdf5_file.hpp"

/// One member of a struct of settings or results as files have it: enumerations by their words.
namespace carom::io {

/// null for infinity and NaN, for which JSON has no word.
inline nlohmann::ordered_json json_number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

template <class Value>
nlohmann::ordered_json json_value(const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    return word_of(value);
  } else {
    return value;
  }
}

/// The attribute `name` of `object`; true is 1.
template <class Value>
void write_value(Hdf5Writer& writer, std::string_view object, std::string_view name,
                 const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    writer.attribute(object, name, word_of(value));
  } else if constexpr (std::is_same_v<Value, bool>) {
    writer.attribute(object, name, std::int64_t{value ? 1 : 0});
  } else if constexpr (std::is_integral_v<Value> && !std::is_unsigned_v<Value>) {
    writer.attribute(object, name, std::int64_t{value});
  } else {
    writer.attribute(object, name, value);
  }
}

}  // namespace carom::io
