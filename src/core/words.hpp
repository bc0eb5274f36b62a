#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <carom/types/words.hpp>

/// Names of enumeration values for messages, help and files (carom/types/words.hpp).
namespace carom {

/// "a, b" + last + "c".
std::string joined(const std::vector<std::string>& texts, std::string_view last);

/// All words but `without`, e.g. "lp, pairs, graphic or line_sweep" with last " or ".
template <class Enum>
std::string listed(std::string_view last = ", ", std::string_view without = {}) {
  std::vector<std::string> texts;
  for (const auto& [value, word] : words<Enum>) {
    if (word != without) texts.emplace_back(word);
  }
  return joined(texts, last);
}

/// What the numbers of an array in a file stand for: "0 solved, 1 inaccurate, ...".
template <class Enum>
std::string codes_meaning(std::string_view last = ", ") {
  std::vector<std::string> texts;
  texts.reserve(std::size(words<Enum>));
  for (const auto& [value, word] : words<Enum>) {
    texts.push_back(std::to_string(static_cast<int>(value)) + " " + std::string(word));
  }
  return joined(texts, last);
}

}  // namespace carom
