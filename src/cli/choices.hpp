#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <carom/backend.hpp>
#include <carom/error.hpp>

#include "core/words.hpp"

namespace carom::cli {

/// The value of the word `text`, of which `without` is not taken. Errors: InvalidInput naming the
/// option and the known words.
template <class Enum>
Enum choice(std::string_view option, const std::string& text, std::string_view without = {}) {
  const auto value = value_of<Enum>(text);
  if (value && word_of(*value) != without) return *value;
  throw InvalidInput(Refusal{.field = std::string(option),
                             .value = text,
                             .rule = "must be one of " + listed<Enum>(", ", without)});
}

/// The backend of an option value, `auto` resolved. Errors: InvalidInput, BackendUnavailable.
Backend backend_named(std::string_view option, const std::string& name);

/// Of this build and machine.
std::vector<Backend> available_backends();

}  // namespace carom::cli
