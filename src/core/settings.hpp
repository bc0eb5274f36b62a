#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <carom/types/settings.hpp>

#include "core/words.hpp"

/// Validation and text of settings, from their lists (carom/settings.hpp).
namespace carom::settings {

/// What a number must be: "in 4..16", ">= 0" of whole ones, "positive and finite", "in (0, 2)".
std::string words_of(const SettingRange& range, bool whole);

/// Numbers as help and documents show them: 2^14 and 4096, 1e-9 and 0.5.
std::string shown(std::int64_t value);
std::string shown(std::uint64_t value);
std::string shown(double value);

/// The value of any setting; truth values as yes and no.
template <class Value>
std::string text_of(const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    return std::string(word_of(value));
  } else if constexpr (std::same_as<Value, bool>) {
    return value ? "yes" : "no";
  } else if constexpr (std::signed_integral<Value>) {
    return shown(std::int64_t{value});
  } else {
    return shown(value);
  }
}

}  // namespace carom::settings

namespace carom::require {

/// `field` may be the member's name or an option's. Errors: InvalidInput.
void in_range(std::string_view field, const SettingRange& range, std::int64_t value);
void in_range(std::string_view field, const SettingRange& range, double value);

/// Every number of a struct of settings is in its range. Errors: InvalidInput naming the member.
template <class Settings>
void settings(const Settings& settings) {
  Settings::each_setting(
      [](const Setting& setting, const auto& value) {
        using Value = std::remove_cvref_t<decltype(value)>;
        if constexpr (std::signed_integral<Value>) {
          in_range(setting.name, setting.range, std::int64_t{value});
        } else if constexpr (std::floating_point<Value>) {
          in_range(setting.name, setting.range, value);
        }
      },
      settings);
}

}  // namespace carom::require
