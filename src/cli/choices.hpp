#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <carom/backend.hpp>
#include <carom/error.hpp>

namespace carom::cli {

/// The value of the word `text`. Errors: InvalidInput naming the option and the known words.
template <class Value>
Value choice(std::string_view option, const std::string& text,
             const std::vector<std::pair<std::string_view, Value>>& known) {
  std::vector<std::string_view> words;
  for (const auto& [word, value] : known) {
    if (word == text) return value;
    words.push_back(word);
  }
  throw InvalidInput(
      fmt::format("{} is {}: must be one of {}", option, text, fmt::join(words, ", ")));
}

/// The backend of an option value, `auto` resolved. Errors: InvalidInput, BackendUnavailable.
Backend backend_named(std::string_view option, const std::string& name);

}  // namespace carom::cli
