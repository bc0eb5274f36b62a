#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <CLI/CLI.hpp>

#include "cli/choices.hpp"
#include "cli/numbers.hpp"
#include "core/settings.hpp"

/// Options of the command for settings, made from their lists (carom/settings.hpp).
namespace carom::cli {

/// What an option has otherwise than its setting's list would give it. Without a form the setting
/// step_size has the option --step-size, and the help says the list's help, unit, meaning of 0,
/// words of an enumeration, and the default.
struct OptionForm {
  const char* setting;            ///< in the list
  const char* option = nullptr;   ///< kNoOption: the command does not set it
  const char* type = nullptr;     ///< of the value, in the help; N of whole numbers
  const char* text = nullptr;     ///< instead of the help; {} is the enumeration's words or range
  const char* note = "";          ///< ends the help; {} is the default
  bool open = false;              ///< not given, it is left to others; the help shows no default
  std::int64_t most = INT64_MAX;  ///< less than the setting takes
  std::string_view without = "";  ///< word that is not taken
};
inline constexpr const char* kNoOption = "";

/// Texts of the options for settings, by the settings' names; they are read once the whole line is
/// known. Copies go their own ways.
class SettingOptions {
 public:
  explicit SettingOptions(std::span<const OptionForm> forms) : forms_(forms) {}

  /// Adds an option for every setting of the list, `defaults` being shown, that `wanted(name)`; it
  /// is asked in the order of the list and may add other options before.
  template <class Settings, class Wanted>
  void add(CLI::App& command, const Settings& defaults, Wanted&& wanted) {
    Settings::each_setting(
        [&](const Setting& setting, const auto& value) {
          if (wanted(std::string_view(setting.name))) add_one(command, setting, value);
        },
        defaults);
  }
  template <class Settings>
  void add(CLI::App& command, const Settings& defaults) {
    add(command, defaults, [](std::string_view) { return true; });
  }

  /// Reads every setting of the list that has a text. Errors: InvalidInput naming the option.
  template <class Settings>
  void read(Settings& settings) const {
    Settings::each_setting(
        [&](const Setting& setting, auto& value) {
          const std::string& text = (*this)[setting.name];
          if (!text.empty()) read_one(setting, text, value);
        },
        settings);
  }

  /// Empty where it was not given and has no default of its own.
  const std::string& operator[](std::string_view setting) const;
  void set(std::string_view setting, std::string text) {
    texts_[std::string(setting)] = std::move(text);
  }

 private:
  [[nodiscard]] OptionForm form_of(const Setting& setting) const;
  /// "--step-size", or "--no-mode-table" of what is true by default.
  [[nodiscard]] std::string option_of(const Setting& setting, bool negated = false) const;

  template <class Value>
  static std::string values_of(const Setting& setting, const OptionForm& form) {
    if constexpr (std::is_enum_v<Value>) {
      return listed<Value>(" or ", form.without);
    } else {
      return "from " + settings::shown(setting.range.least) + " to " +
             settings::shown(setting.range.most);
    }
  }
  /// values: what {} in the form's text stands for, and what the help of an enumeration ends with.
  static std::string help_of(const Setting& setting, const OptionForm& form,
                             const std::string& values, bool enumeration,
                             const std::string& standard);

  template <class Value>
  void add_one(CLI::App& command, const Setting& setting, const Value& standard) {
    const OptionForm form = form_of(setting);
    if (form.option != nullptr && std::string_view(form.option) == kNoOption) return;
    const std::string shown = settings::text_of(standard);
    const std::string help =
        help_of(setting, form, values_of<Value>(setting, form), std::is_enum_v<Value>, shown);
    if constexpr (std::same_as<Value, bool>) {
      std::string& text = texts_[setting.name];
      command.add_flag_function(
          option_of(setting, standard),
          [&text, standard](std::int64_t) { text = settings::text_of(!standard); }, help);
    } else {
      // What a command has set before stays: its own default.
      std::string& text = texts_.try_emplace(setting.name, form.open ? "" : shown).first->second;
      CLI::Option* option = command.add_option(option_of(setting), text, help);
      if (form.type != nullptr) {
        option->type_name(form.type);
      } else if (std::integral<Value>) {
        option->type_name("N");
      } else if (std::floating_point<Value>) {
        option->type_name("X");
      } else {
        option->type_name("WORD");
      }
      if (!text.empty()) option->capture_default_str();
    }
  }

  template <class Value>
  void read_one(const Setting& setting, const std::string& text, Value& value) const {
    const OptionForm form = form_of(setting);
    const std::string option = option_of(setting);
    if constexpr (std::is_enum_v<Value>) {
      value = choice<Value>(option, text, form.without);
    } else if constexpr (std::same_as<Value, bool>) {
      value = text == settings::text_of(true);
    } else if constexpr (std::unsigned_integral<Value>) {
      value = parse_seed(option, text);
    } else if constexpr (std::integral<Value>) {
      const SettingRange& range = setting.range;
      std::int64_t most = std::min<std::int64_t>(form.most, std::numeric_limits<Value>::max());
      if (range.most < 1e18) most = std::min(most, static_cast<std::int64_t>(range.most));
      value = static_cast<Value>(
          parse_count(option, text, static_cast<std::int64_t>(range.least), most));
    } else {
      value = parse_real(option, text);
      require::in_range(option, setting.range, value);
    }
  }

  std::span<const OptionForm> forms_;
  std::map<std::string, std::string, std::less<>> texts_;  // options hold on to its strings
};

/// An option that keeps its text; the help shows the one it has already.
inline CLI::Option* add_text(CLI::App& command, const char* name, std::string& value,
                             const char* type, const char* help) {
  CLI::Option* option = command.add_option(name, value, help)->type_name(type);
  if (!value.empty()) option->capture_default_str();
  return option;
}

}  // namespace carom::cli
