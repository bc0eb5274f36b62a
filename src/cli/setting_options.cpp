#include "cli/setting_options.hpp"

#include <fmt/format.h>

namespace carom::cli {

const std::string& SettingOptions::operator[](std::string_view setting) const {
  static const std::string kNone;
  const auto found = texts_.find(setting);
  return found == texts_.end() ? kNone : found->second;
}

OptionForm SettingOptions::form_of(const Setting& setting) const {
  for (const OptionForm& form : forms_) {
    if (std::string_view(form.setting) == setting.name) return form;
  }
  return {setting.name};
}

std::string SettingOptions::option_of(const Setting& setting, bool negated) const {
  if (const char* option = form_of(setting).option) return option;
  std::string name = std::string(negated ? "--no-" : "--") + setting.name;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string SettingOptions::help_of(const Setting& setting, const OptionForm& form,
                                    const std::string& values, bool enumeration,
                                    const std::string& standard) {
  std::string help;
  if (form.text != nullptr) {
    help = fmt::format(fmt::runtime(form.text), values);
  } else {
    help = setting.help;
    if (*setting.unit != '\0') help += fmt::format(" [{}]", setting.unit);
    if (*setting.zero != '\0') help += fmt::format(", 0: {}", setting.zero);
    if (enumeration) help += ": " + values;
  }
  return help + fmt::format(fmt::runtime(form.note), standard);
}

}  // namespace carom::cli
