#include "io/json_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>

#include <carom/error.hpp>

namespace carom::io {

using nlohmann::json;

namespace {

constexpr std::size_t kShownCharacters = 40;

double number(const json& value, const std::string& where, const std::string& position) {
  if (!value.is_number()) {
    throw InvalidInput(
        fmt::format("{}: {} is {}: must be a number", where, position, shown(value)));
  }
  const double result = value.get<double>();
  if (!std::isfinite(result)) {
    throw InvalidInput(fmt::format("{}: {} is {}: must be {}", where, position, result,
                                   std::isnan(result) ? "a number" : "finite"));
  }
  return result;
}

const json& array(const json& object, const char* key, const std::string& where,
                  std::string_view wanted) {
  const json& value = required(object, key, where);
  if (!value.is_array()) {
    throw InvalidInput(fmt::format("{}: {} is {}: must be {}", where, key, shown(value), wanted));
  }
  return value;
}

}  // namespace

std::string shown(const json& value) {
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > kShownCharacters) text = text.substr(0, kShownCharacters) + "...";
  return text;
}

namespace {

// What collections of problems say of where a problem is from and what is known of it.
constexpr std::string_view kFreeKeys[] = {"all_basic_solutions",
                                          "author",
                                          "comment",
                                          "comments",
                                          "convention",
                                          "date",
                                          "description",
                                          "doi",
                                          "licence",
                                          "license",
                                          "max_eig_P",
                                          "min_eig_P",
                                          "note",
                                          "notes",
                                          "redundant_equality_rows",
                                          "reference",
                                          "references",
                                          "relative_asymmetry",
                                          "solvable",
                                          "source",
                                          "strictly_convex",
                                          "symptom",
                                          "tags",
                                          "title",
                                          "tolerance_in_source",
                                          "url",
                                          "version"};
constexpr std::string_view kFreeBeginnings[] = {"_", "checked", "exact_", "expected", "shipped_"};

// Letters to insert, leave out, replace or exchange with the next, case aside.
std::size_t distance(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  };
  std::vector<std::vector<std::size_t>> far(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) far[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) far[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      far[i][j] = std::min({far[i - 1][j] + 1, far[i][j - 1] + 1,
                            far[i - 1][j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1)});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1])) {
        far[i][j] = std::min(far[i][j], far[i - 2][j - 2] + 1);
      }
    }
  }
  return far[a.size()][b.size()];
}

}  // namespace

bool is_free_key(std::string_view key) {
  const auto begins = [key](std::string_view start) { return key.starts_with(start); };
  return std::any_of(std::begin(kFreeBeginnings), std::end(kFreeBeginnings), begins) ||
         std::find(std::begin(kFreeKeys), std::end(kFreeKeys), key) != std::end(kFreeKeys);
}

std::string nearest_key(std::string_view key, std::span<const std::string_view> known) {
  std::string_view nearest;
  std::size_t least = std::max<std::size_t>(1, key.size() / 3) + 1;
  for (const std::string_view other : known) {
    // of a name of one or two letters another letter makes another name
    const std::size_t far = distance(key, other);
    if (far < least && far < std::min(key.size(), other.size())) {
      least = far;
      nearest = other;
    }
  }
  return std::string(nearest);
}

void require_known_keys(const json& object, std::span<const std::string_view> known,
                        const std::string& where) {
  for (const auto& item : object.items()) {
    const std::string& key = item.key();
    if (std::find(known.begin(), known.end(), key) != known.end() || is_free_key(key)) continue;
    const std::string nearest = nearest_key(key, known);
    throw InvalidInput(fmt::format("{}: unknown key \"{}\"{}; known are {}", where, key,
                                   nearest.empty() ? "" : ": is \"" + nearest + "\" meant?",
                                   fmt::join(known, ", ")));
  }
}

const json& required(const json& object, const char* key, const std::string& where) {
  const auto found = object.find(key);
  if (found == object.end()) throw InvalidInput(fmt::format("{}: {} is missing", where, key));
  return *found;
}

std::string read_text(const json& object, const char* key, const std::string& where) {
  const json& value = required(object, key, where);
  if (!value.is_string()) {
    throw InvalidInput(fmt::format("{}: {} is {}: must be a text", where, key, shown(value)));
  }
  return value.get<std::string>();
}

int read_count(const json& object, const char* key, const std::string& where) {
  const json& value = required(object, key, where);
  const bool fits = value.is_number_integer() && value.get<double>() >= 0.0 &&
                    value.get<double>() <= std::numeric_limits<int>::max();
  if (!fits) {
    throw InvalidInput(
        fmt::format("{}: {} is {}: must be a whole number >= 0", where, key, shown(value)));
  }
  return value.get<int>();
}

double read_number(const json& object, const char* key, const std::string& where) {
  return number(required(object, key, where), where, key);
}

std::vector<double> read_numbers(const json& object, const char* key, const std::string& where) {
  const json& value = array(object, key, where, "an array of numbers");
  std::vector<double> numbers;
  numbers.reserve(value.size());
  for (std::size_t i = 0; i < value.size(); ++i) {
    numbers.push_back(number(value[i], where, fmt::format("{}[{}]", key, i)));
  }
  return numbers;
}

std::vector<double> read_numbers(const json& object, const char* key, std::size_t count,
                                 std::string_view words, const std::string& where) {
  const json& value = required(object, key, where);
  if (value.is_number()) return std::vector<double>(count, number(value, where, key));
  std::vector<double> numbers = read_numbers(object, key, where);
  if (numbers.size() != count) {
    throw InvalidInput(fmt::format("{}: {} has {} numbers: must have {}, {}", where, key,
                                   numbers.size(), count, words));
  }
  return numbers;
}

std::vector<double> read_bounds(const json& object, const char* key, double absent,
                                std::size_t count, const std::string& where) {
  if (!object.contains(key)) {
    throw InvalidInput(
        fmt::format("{}: {} is missing: must be a list of length {}, a number, or null for none",
                    where, key, count));
  }
  const json& all = object[key];
  if (all.is_null()) return std::vector<double>(count, absent);
  if (all.is_number()) return std::vector<double>(count, number(all, where, key));
  const json& value = array(object, key, where, "an array of numbers or null");
  std::vector<double> bounds;
  bounds.reserve(value.size());
  for (std::size_t i = 0; i < value.size(); ++i) {
    bounds.push_back(value[i].is_null() ? absent
                                        : number(value[i], where, fmt::format("{}[{}]", key, i)));
  }
  if (bounds.size() != count) {
    throw InvalidInput(
        fmt::format("{}: {} has {} numbers: must have {}", where, key, bounds.size(), count));
  }
  return bounds;
}

Matrix read_matrix(const json& object, const char* key, const std::string& where) {
  const json& value = array(object, key, where, "an array of rows");
  Matrix matrix;
  matrix.rows = static_cast<int>(value.size());
  for (std::size_t i = 0; i < value.size(); ++i) {
    const json& row = value[i];
    if (!row.is_array()) {
      throw InvalidInput(
          fmt::format("{}: {}[{}] is {}: must be a row of numbers", where, key, i, shown(row)));
    }
    if (i == 0) matrix.columns = static_cast<int>(row.size());
    if (row.size() != static_cast<std::size_t>(matrix.columns)) {
      throw InvalidInput(
          fmt::format("{}: {}[{}] has {} numbers, {}[0] has {}: rows must have one length", where,
                      key, i, row.size(), key, matrix.columns));
    }
    for (std::size_t j = 0; j < row.size(); ++j) {
      matrix.values.push_back(number(row[j], where, fmt::format("{}[{}][{}]", key, i, j)));
    }
  }
  return matrix;
}

}  // namespace carom::io
