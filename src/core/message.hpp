#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

/// Pieces of error messages: every refusal names the field, the index and the value.
namespace carom::message {

/// Shortest of %.17g forms that a reader needs: up to 9 digits where they suffice.
inline std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

/// ' of problem 3 ("block")'.
inline std::string of_problem(std::int64_t index, const std::string& name) {
  std::string text = " of problem " + std::to_string(index);
  if (!name.empty()) text += " (\"" + name + "\")";
  return text;
}

}  // namespace carom::message
