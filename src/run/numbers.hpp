#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include <carom/types/array_field.hpp>
#include <carom/types/words.hpp>

/// Numbers of one problem for files and reports: those that the lists of its result describe
/// (carom/types/array_field.hpp, carom/types/fields.hpp).
namespace carom::run {

struct Number {
  Field field;
  std::variant<double, std::int32_t, std::int64_t, std::string_view> value;
};
using Numbers = std::vector<Number>;

/// What is stored in place of an absent number.
template <class Value>
Value no_number() {
  if constexpr (std::is_same_v<Value, double>) return std::numeric_limits<double>::quiet_NaN();
  return Value{};
}

template <class Value>
auto plain_number(Value value) {
  if constexpr (std::is_enum_v<Value>) {
    return word_of(value);
  } else {
    return value;
  }
}

/// Of problem `row` of a result, from the arrays with one number for each problem. Where nothing
/// was computed, NaN or 0; optional arrays that are empty are left out.
template <class Result, class Sizes>
Numbers numbers_of(const Result& result, const Sizes& sizes, std::size_t row) {
  Numbers numbers;
  Result::each_array(
      sizes,
      [&]<class Name>(const Name& name, const auto& extents, const auto& values) {
        if constexpr (std::is_same_v<Name, ArrayField>) {
          using Value = std::remove_cvref_t<decltype(*values.data())>;
          if (name.kind[0] == '\0' || extents.stride() != 1) return;
          if (values.empty() && extents.optional()) return;
          numbers.push_back(
              {name, plain_number(values.empty() ? no_number<Value>() : values.data()[row])});
        }
      },
      result);
  return numbers;
}

/// The same of a result of one problem, from its `each_field`; nullopt and empty texts are left
/// out.
template <class Result>
Numbers numbers_of(const Result& result) {
  Numbers numbers;
  Result::each_field(
      [&]<class Value>(const Field& field, const Value& value) {
        if constexpr (std::is_same_v<Value, std::optional<double>>) {
          if (value) numbers.push_back({field, *value});
        } else if constexpr (std::is_same_v<Value, std::string_view>) {
          if (!value.empty()) numbers.push_back({field, value});
        } else {
          numbers.push_back({field, plain_number(value)});
        }
      },
      result);
  return numbers;
}

/// The number of that name; NaN if there is none.
inline double number_named(const Numbers& numbers, std::string_view name) {
  const auto at = std::find_if(numbers.begin(), numbers.end(),
                               [&](const Number& own) { return own.field.name == name; });
  if (at == numbers.end()) return no_number<double>();
  return std::visit(
      [](const auto& value) {
        if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(value)>>) {
          return static_cast<double>(value);
        } else {
          return no_number<double>();
        }
      },
      at->value);
}

}  // namespace carom::run
