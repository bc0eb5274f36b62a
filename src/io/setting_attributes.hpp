#pragma once

#include <string_view>

#include "core/settings.hpp"
#include "io/member_values.hpp"

namespace carom::io {

/// One attribute of `object` for every setting of a list.
template <class Settings>
void write_settings(Hdf5Writer& writer, std::string_view object, const Settings& settings) {
  Settings::each_setting(
      [&](const Setting& setting, const auto& value) {
        write_value(writer, object, setting.name, value);
      },
      settings);
}

}  // namespace carom::io
