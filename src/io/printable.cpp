#include "io/printable.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace carom::io {

namespace {

unsigned byte_at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
}

// Bytes of the UTF-8 character at `i`; 0 where there is none: stray, overlong or surrogate.
std::size_t length_of_character(std::string_view text, std::size_t i) {
  const unsigned first = byte_at(text, i);
  if (first < 0x80) return 1;
  const std::size_t length = first < 0xC2   ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte_at(text, i + k) & 0xC0U) != 0x80U) return 0;
  }
  const unsigned second = byte_at(text, i + 1);
  const bool outside = (first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) ||
                       (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90);
  return outside ? 0 : length;
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = length_of_character(text, i);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = length_of_character(text, i);
    const unsigned first = byte_at(text, i);
    // C0 and DEL are one byte; U+0080 to U+009F, which terminals obey too, begin with C2
    const bool control = (length == 1 && (first < 0x20 || first == 0x7F)) ||
                         (length == 2 && first == 0xC2 && byte_at(text, i + 1) < 0xA0);
    if (length == 0 || control) {
      const std::size_t end = i + (length == 0 ? 1 : length);
      for (; i < end; ++i) result += fmt::format("\\x{:02x}", byte_at(text, i));
      continue;
    }
    result.append(text.substr(i, length));
    i += length;
  }
  return result;
}

}  // namespace carom::io
