#pragma once

#include <type_traits>

#include <nlohmann/json.hpp>

#include "core/settings.hpp"

namespace carom::io {

/// Every setting of a list by its name, enumerations by their words.
template <class Settings>
nlohmann::ordered_json settings_json(const Settings& settings) {
  nlohmann::ordered_json result;
  Settings::each_setting(
      [&](const Setting& setting, const auto& value) {
        using Value = std::remove_cvref_t<decltype(value)>;
        if constexpr (std::is_enum_v<Value>) {
          result[setting.name] = word_of(value);
        } else {
          result[setting.name] = value;
        }
      },
      settings);
  return result;
}

}  // namespace carom::io
