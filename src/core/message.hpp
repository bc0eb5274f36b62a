#pragma once

#include <cstdio>
#include <string>

/// Numbers as error messages show them.
namespace carom::message {

/// Shortest of %.17g forms that a reader needs: up to 9 digits where they suffice.
inline std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

}  // namespace carom::message
