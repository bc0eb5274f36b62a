#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <carom/error.hpp>
#include <carom/settings.hpp>

#include "core/require.hpp"
#include "core/words.hpp"

/// Settings between Python's keywords and the library's structs, by their lists (each_setting).
namespace carom::python {

namespace nb = nanobind;

/// repr(value), as the message of a refusal shows it.
std::string shown(nb::handle value);
[[noreturn]] void refuse_setting(const char* name, nb::handle value, const std::string& rule);
/// Refuses the first key of `given` that is not in `known`, and lists those.
[[noreturn]] void refuse_unknown(const nb::dict& given, const std::vector<std::string>& known);

std::int64_t whole_number(const char* name, nb::handle value);
std::uint64_t natural_number(const char* name, nb::handle value);
double number(const char* name, nb::handle value);
bool truth(const char* name, nb::handle value);
std::string word(const char* name, nb::handle value);

template <class Enum>
Enum enumerator(const char* name, nb::handle value) {
  const auto found = value_of<Enum>(word(name, value));
  if (!found) refuse_setting(name, value, "must be " + listed<Enum>(" or "));
  return *found;
}

template <class Value>
Value value_from(const char* name, nb::handle given) {
  if constexpr (std::is_enum_v<Value>) {
    return enumerator<Value>(name, given);
  } else if constexpr (std::same_as<Value, bool>) {
    return truth(name, given);
  } else if constexpr (std::same_as<Value, std::uint64_t>) {
    return natural_number(name, given);
  } else if constexpr (std::integral<Value>) {
    const std::int64_t value = whole_number(name, given);
    if (!std::in_range<Value>(value)) refuse_setting(name, given, "is out of range");
    return static_cast<Value>(value);
  } else {
    return number(name, given);
  }
}

/// The struct with what `given` names. Errors: InvalidInput for an unknown name, another type or a
/// value out of range.
template <class Settings>
Settings settings_from(const nb::dict& given) {
  Settings settings;
  std::vector<std::string> known;
  std::size_t taken = 0;
  Settings::each_setting(
      [&](const Setting& setting, auto& value) {
        using Value = std::remove_cvref_t<decltype(value)>;
        known.emplace_back(setting.name);
        if (!given.contains(setting.name)) return;
        value = value_from<Value>(setting.name, given[setting.name]);
        ++taken;
      },
      settings);
  if (taken != given.size()) refuse_unknown(given, known);
  if constexpr (requires { settings.validate(); }) settings.validate();
  return settings;
}

/// What Python makes signatures and documentation of: name, help, unit, zero, type, default,
/// words, in the list's order.
template <class Settings>
nb::list described() {
  nb::list result;
  const Settings defaults;
  Settings::each_setting(
      [&](const Setting& setting, const auto& value) {
        using Value = std::remove_cvref_t<decltype(value)>;
        nb::dict entry;
        entry["name"] = setting.name;
        entry["help"] = setting.help;
        entry["unit"] = setting.unit;
        entry["zero"] = setting.zero;
        if constexpr (std::is_enum_v<Value>) {
          entry["type"] = "str";
          entry["default"] = std::string(word_of(value));
          nb::list all;
          for (const auto& known : words<Value>) all.append(std::string(known.word));
          entry["words"] = all;
        } else if constexpr (std::same_as<Value, bool>) {
          entry["type"] = "bool";
          entry["default"] = value;
        } else if constexpr (std::integral<Value>) {
          entry["type"] = "int";
          entry["default"] = value;
        } else {
          entry["type"] = "float";
          entry["default"] = value;
        }
        result.append(entry);
      },
      defaults);
  return result;
}

template <class Enum>
nb::list enumeration() {
  nb::list result;
  for (const auto& [value, name] : words<Enum>) {
    result.append(nb::make_tuple(std::string(name), static_cast<int>(value)));
  }
  return result;
}

}  // namespace carom::python
