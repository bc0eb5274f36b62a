#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace carom {

template <class Enum>
struct Word {
  Enum value;
  std::string_view word;
};

/// The words of an enumeration, in the order in which messages list them; each is defined with its
/// enumeration. Options of the command, texts and codes of files, and messages come from them.
template <class Enum>
inline constexpr std::array<Word<Enum>, 0> words{};

/// "unknown" for what is no value of the enumeration.
template <class Enum>
constexpr std::string_view word_of(Enum value) {
  for (const auto& [known, word] : words<Enum>) {
    if (known == value) return word;
  }
  return "unknown";
}

/// The same, of enumerations that have words.
template <class Enum>
requires(!words<Enum>.empty()) constexpr std::string_view to_string(Enum value) {
  return word_of(value);
}

/// The value of a word, or nothing. The enumerations' own "automatic" is understood as "auto".
template <class Enum>
constexpr std::optional<Enum> value_of(std::string_view word) {
  if (word == "automatic") word = "auto";
  for (const auto& [value, known] : words<Enum>) {
    if (known == word) return value;
  }
  return std::nullopt;
}

}  // namespace carom
