#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "core/settings.hpp"
#include "io/hdf5_file.hpp"

namespace carom::io {

/// One attribute of `object` for every setting of a list.
template <class Settings>
void write_settings(Hdf5Writer& writer, std::string_view object, const Settings& settings) {
  Settings::each_setting(
      [&](const Setting& setting, const auto& value) {
        using Value = std::remove_cvref_t<decltype(value)>;
        if constexpr (std::is_enum_v<Value>) {
          writer.attribute(object, setting.name, word_of(value));
        } else if constexpr (std::is_integral_v<Value> && !std::is_unsigned_v<Value>) {
          writer.attribute(object, setting.name, std::int64_t{value});
        } else if constexpr (std::is_same_v<Value, bool>) {
          writer.attribute(object, setting.name, std::int64_t{value ? 1 : 0});
        } else {
          writer.attribute(object, setting.name, value);
        }
      },
      settings);
}

}  // namespace carom::io
