#include "core/settings.hpp"

#include <cfloat>
#include <charconv>
#include <cmath>

#include "core/message.hpp"
#include "core/require.hpp"

namespace carom::settings {

namespace {

std::string bound(double value, bool whole) {
  return whole ? shown(static_cast<std::int64_t>(value)) : shown(value);
}

}  // namespace

std::string words_of(const SettingRange& range, bool whole) {
  const std::string least = bound(range.least, whole);
  if (std::isinf(range.most)) return ">= " + least;
  if (whole) return "in " + least + ".." + bound(range.most, whole);
  if (range.most == DBL_MAX) {
    if (!range.open_least) return ">= " + least + " and finite";
    return (range.least == 0.0 ? "positive" : "above " + least) + " and finite";
  }
  return (range.open_least ? "in (" : "in [") + least + ", " + shown(range.most) +
         (range.open_most ? ")" : "]");
}

std::string shown(std::int64_t value) {
  constexpr std::int64_t kEasilyRead = 1 << 14;  // larger powers of two are shown as such
  if (value >= kEasilyRead && (value & (value - 1)) == 0) {
    return "2^" + std::to_string(__builtin_ctzll(static_cast<std::uint64_t>(value)));
  }
  return std::to_string(value);
}

std::string shown(std::uint64_t value) { return std::to_string(value); }

std::string shown(double value) {
  char digits[64];
  const auto written = [&](std::chars_format format) {
    const auto result = std::to_chars(digits, digits + sizeof digits, value, format);
    return std::string(digits, result.ptr);
  };
  std::string powers = written(std::chars_format::scientific);  // 1e-09
  if (const std::size_t e = powers.find('e'); e != std::string::npos) {
    std::size_t first = powers.find_first_not_of("+-0", e + 1);
    if (first == std::string::npos) first = powers.size() - 1;
    const std::string sign = powers[e + 1] == '-' ? "-" : "";
    powers = powers.substr(0, e + 1) + sign + powers.substr(first);
  }
  if (std::abs(value) >= 1e15) return powers;
  const std::string plain = written(std::chars_format::fixed);
  return plain.size() <= powers.size() ? plain : powers;
}

}  // namespace carom::settings

namespace carom::require {

void in_range(std::string_view field, const SettingRange& range, std::int64_t value) {
  if (range.holds(static_cast<double>(value))) return;
  refuse({}, field, {}, std::to_string(value), "must be " + settings::words_of(range, true));
}

void in_range(std::string_view field, const SettingRange& range, double value) {
  if (range.holds(value)) return;
  refuse({}, field, {}, message::number(value), "must be " + settings::words_of(range, false));
}

}  // namespace carom::require
