#pragma once

#include <nlohmann/json.hpp>

#include "core/settings.hpp"
#include "io/member_values.hpp"

namespace carom::io {

/// Every setting of a list by its name, enumerations by their words.
template <class Settings>
nlohmann::ordered_json settings_json(const Settings& settings) {
  nlohmann::ordered_json result;
  Settings::each_setting(
      [&](const Setting& setting, const auto& value) { result[setting.name] = json_value(value); },
      settings);
  return result;
}

}  // namespace carom::io
