#pragma once

#include <fmt/format.h>

#include <string>

#include <carom/types/error.hpp>

#include "core/words.hpp"

namespace carom::io {

/// The value of a word in a file. Errors: InvalidInput naming it and all allowed words.
template <class Word>
Word word_of(const std::string& text, const char* name, const std::string& where) {
  if (const auto value = value_of<Word>(text)) return *value;
  throw InvalidInput(
      fmt::format("{}: {} is \"{}\": must be one of {}", where, name, text, listed<Word>()));
}

}  // namespace carom::io
