#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "io/json_document.hpp"

/// Strict reading of JSON: every refusal is an InvalidInput that names the field, the position and
/// the value. `where` is what messages start with, e.g. `a.json: problem 1 ("block")`.
namespace carom::io {

/// Dense row-major matrix; `columns` may be -1 where there are no rows.
struct Matrix {
  int rows = 0;
  int columns = -1;
  std::vector<double> values;
};

/// The value as messages show it: JSON, cut short where it is long.
std::string shown(const nlohmann::json& value);

/// Whether any object may have the key: it says something to readers, nothing to carom.
/// docs/reference/files.md lists them.
bool is_free_key(std::string_view key);
/// That of `known` which a mistyped key was meant to be; empty where none is near.
std::string nearest_key(std::string_view key, std::span<const std::string_view> known);
/// Refuses keys of `object` that are neither in `known` nor free.
void require_known_keys(const nlohmann::json& object, std::span<const std::string_view> known,
                        const std::string& where);
/// The value of a key that must be there.
const nlohmann::json& required(const nlohmann::json& object, const char* key,
                               const std::string& where);

std::string read_text(const nlohmann::json& object, const char* key, const std::string& where);
int read_count(const nlohmann::json& object, const char* key, const std::string& where);
double read_number(const nlohmann::json& object, const char* key, const std::string& where);
std::vector<double> read_numbers(const nlohmann::json& object, const char* key,
                                 const std::string& where);
/// The same of `count` numbers; a single number stands for as many. `words` say what is counted,
/// e.g. "one per contact".
std::vector<double> read_numbers(const nlohmann::json& object, const char* key, std::size_t count,
                                 std::string_view words, const std::string& where);
/// Array of `count` numbers in which null stands for `absent`; a single one stands for all.
std::vector<double> read_bounds(const nlohmann::json& object, const char* key, double absent,
                                std::size_t count, const std::string& where);
/// Array of arrays of one length. Ragged ones are refused.
Matrix read_matrix(const nlohmann::json& object, const char* key, const std::string& where);

}  // namespace carom::io
