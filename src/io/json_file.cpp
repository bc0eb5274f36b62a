#include "io/json_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstddef>
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
    throw InvalidInput(fmt::format("{}: {} is {}: must be finite", where, position, result));
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

void require_known_keys(const json& object, std::span<const std::string_view> known,
                        const std::string& where) {
  for (const auto& item : object.items()) {
    bool found = false;
    for (const std::string_view key : known) found = found || key == item.key();
    if (!found) {
      throw InvalidInput(fmt::format("{}: unknown key \"{}\"; known are {}", where, item.key(),
                                     fmt::join(known, ", ")));
    }
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
  const json& all = required(object, key, where);
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
