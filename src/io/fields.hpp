#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include <carom/types/array_field.hpp>

#include "core/words.hpp"
#include "io/member_values.hpp"
#include "io/problem_file.hpp"
#include "run/numbers.hpp"

/// Writes the members of a result by their names, in HDF5 and JSON files.
namespace carom::io {

/// Calls visit(field, extents of the array) for everything that the list of a result describes;
/// without extents for members of results of one problem.
template <class Result, class Visit>
void each_described(Visit&& visit) {
  if constexpr (requires { typename Result::Sizes; }) {
    Result::each_array({}, [&]<class Name>(const Name& name, const Extents& extents) {
      if constexpr (std::is_same_v<Name, ArrayField>) visit(name, extents);
    });
  } else {
    Result::each_field([&](const Field& field) { visit(field, Extents{0}); });
  }
}

/// Adds every field to a JSON object; NaN becomes null.
template <class Result>
void add_fields(nlohmann::ordered_json& object, const Result& result) {
  Result::each_field(
      [&](const Field& field, const auto& value) {
        std::string path = "/" + std::string(field.name);
        std::replace(path.begin(), path.end(), '.', '/');
        object[nlohmann::ordered_json::json_pointer(path)] = json_value(value);
      },
      result);
}
inline void add_fields(nlohmann::ordered_json& object, const run::Numbers& numbers) {
  for (const run::Number& number : numbers) {
    std::visit([&](const auto& value) { object[number.field.name] = json_value(value); },
               number.value);
  }
}

/// One attribute of `object` for every field.
template <class Result>
void write_fields(Hdf5Writer& writer, std::string_view object, const Result& result) {
  Result::each_field(
      [&](const Field& field, const auto& value) {
        std::string name = field.name;
        std::replace(name.begin(), name.end(), '.', '_');
        write_value(writer, object, name, value);
      },
      result);
}

/// One data set of `group` for each number that some of the problems have; the others get NaN, 0
/// or an empty text.
inline void write_columns(Hdf5Writer& writer, const std::string& group,
                          const std::vector<run::Numbers>& rows) {
  std::vector<run::Number> columns;  // the first of each name
  for (const run::Numbers& row : rows) {
    for (const run::Number& own : row) {
      const auto same = [&](const run::Number& other) {
        return std::string_view(other.field.name) == own.field.name;
      };
      if (std::none_of(columns.begin(), columns.end(), same)) columns.push_back(own);
    }
  }
  for (const run::Number& column : columns) {
    const std::string path = group + "/" + column.field.name;
    std::visit(
        [&]<class Value>(const Value&) {
          using Stored =
              std::conditional_t<std::is_same_v<Value, std::string_view>, std::string, Value>;
          std::vector<Stored> values(rows.size(), run::no_number<Stored>());
          for (std::size_t p = 0; p < rows.size(); ++p) {
            for (const run::Number& own : rows[p]) {
              if (std::string_view(own.field.name) == column.field.name) {
                values[p] = Stored(std::get<Value>(own.value));
              }
            }
          }
          if constexpr (std::is_same_v<Stored, std::string>) {
            writer.dataset(path, values);
          } else {
            writer.dataset(path, values, {values.size()});
          }
        },
        column.value);
  }
}

/// A data set of numbers; enumerations as their numbers, with an attribute that explains them.
template <class Values>
void write_array(Hdf5Writer& writer, const std::string& path, const Values& values,
                 const Shape& shape) {
  using Value = std::remove_cvref_t<decltype(*values.data())>;
  const std::span<const Value> own(values.data(), values.size());
  if constexpr (std::is_enum_v<Value>) {
    std::vector<std::uint8_t> codes;
    codes.reserve(own.size());
    for (const Value value : own) codes.push_back(static_cast<std::uint8_t>(value));
    writer.dataset(path, codes, shape);
    writer.attribute(path, "meaning", codes_meaning<Value>());
  } else if constexpr (std::is_same_v<Value, std::uint32_t>) {
    const std::vector<std::uint64_t> wide(own.begin(), own.end());
    writer.dataset(path, wide, shape);
  } else {
    writer.dataset(path, own, shape);
  }
}

/// One data set of `group` for each array of a table; none for what its problems do not have.
template <class Table>
void write_table(Hdf5Writer& writer, const std::string& group, const Table& table,
                 const typename Table::Sizes& sizes) {
  writer.group(group);
  Table::each_array(
      sizes,
      [&](const char* name, const Extents& extents, const auto& values) {
        if (values.empty() && extents[0] > 0) return;
        write_array(writer, group + "/" + name, values, shape_of(extents));
      },
      table);
}

}  // namespace carom::io
