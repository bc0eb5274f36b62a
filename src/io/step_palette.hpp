#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

/// Colours and styles that the pictures of stepped worlds share.
namespace carom::io {

/// Of as many worlds, or bins of worlds, as a picture tells apart.
inline constexpr std::array<std::string_view, 8> kColours = {
    "#2f6fd0", "#c8281e", "#2e9e4f", "#f0a000", "#7d3fb2", "#12a5b0", "#8a5a2b", "#5f6b7a"};

/// A parameter's name as words.
inline std::string spoken(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

}  // namespace carom::io
