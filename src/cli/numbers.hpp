#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Strict reading of option values: the whole text must be a number in range. Every refusal is an
/// InvalidInput that names the option and the text.
namespace carom::cli {

/// Largest value of --threads.
inline constexpr std::int64_t kMostThreads = 4096;

/// Whole number, also as a power ("2^20").
std::int64_t parse_count(std::string_view option, std::string_view text, std::int64_t minimum,
                         std::int64_t maximum = INT64_MAX);
std::uint64_t parse_seed(std::string_view option, std::string_view text);
/// The pieces between separators, empty ones included.
std::vector<std::string> split(std::string_view text, char separator);
/// Finite number.
double parse_real(std::string_view option, std::string_view text);
/// NAME=VALUE pairs; a name given twice is refused.
std::map<std::string, double> parse_assignments(std::string_view option,
                                                const std::vector<std::string>& texts);

}  // namespace carom::cli
