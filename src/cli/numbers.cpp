#include "cli/numbers.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

#include <carom/error.hpp>

#include "core/require.hpp"

namespace carom::cli {

namespace {

// The whole text as a number of type T, or nothing.
template <class T>
std::optional<T> whole(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::optional<std::int64_t> whole_or_power(std::string_view text) {
  const std::size_t caret = text.find('^');
  if (caret == std::string_view::npos) return whole<std::int64_t>(text);
  const auto base = whole<std::int64_t>(text.substr(0, caret));
  const auto exponent = whole<int>(text.substr(caret + 1));
  if (!base || !exponent || *base < 0 || *exponent < 0) return std::nullopt;
  std::int64_t value = 1;
  for (int i = 0; i < *exponent; ++i) {
    if (__builtin_mul_overflow(value, *base, &value)) return std::nullopt;
    if (value <= 1 && i > 0) break;  // 0^n and 1^n stay where they are
  }
  return value;
}

}  // namespace

std::int64_t parse_count(std::string_view option, std::string_view text, std::int64_t minimum,
                         std::int64_t maximum) {
  const auto value = whole_or_power(text);
  if (!value || *value < minimum || *value > maximum) {
    const std::string range = maximum == INT64_MAX ? fmt::format(">= {}", minimum)
                                                   : fmt::format("from {} to {}", minimum, maximum);
    constexpr std::int64_t kExample = 16384;
    const bool fits = minimum <= kExample && kExample <= maximum;
    throw InvalidInput(fmt::format("{} is {}: must be a whole number {}{}", option, text, range,
                                   fits ? ", e.g. 16384 or 2^14" : ""));
  }
  return *value;
}

std::uint64_t parse_seed(std::string_view option, std::string_view text) {
  const auto value = whole<std::uint64_t>(text);
  if (!value) {
    throw InvalidInput(
        fmt::format("{} is {}: must be a whole number from 0 to 2^64 - 1", option, text));
  }
  return *value;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

double parse_real(std::string_view option, std::string_view text) {
  const auto value = whole<double>(text);
  if (!value || !std::isfinite(*value)) {
    throw InvalidInput(fmt::format("{} is {}: must be a finite number", option, text));
  }
  return *value;
}

std::map<std::string, double> parse_assignments(std::string_view option,
                                                const std::vector<std::string>& texts) {
  std::map<std::string, double> values;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw InvalidInput(fmt::format("{} {}: must be NAME=VALUE, e.g. friction=0.5", option, text));
    }
    const std::string name = text.substr(0, equals);
    const double value =
        parse_real(fmt::format("{} {}", option, name), std::string_view(text).substr(equals + 1));
    if (!values.emplace(name, value).second) {
      throw InvalidInput(fmt::format("{} {}: {} is given twice", option, text, name));
    }
  }
  return values;
}

}  // namespace carom::cli
