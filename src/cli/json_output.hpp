#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace carom::cli {

/// The command line that every document names as its origin, with version and commit.
void set_origin(const std::string& command_line);

/// One document on standard output, lists of plain values on one line each. Objects, or those of an
/// array, end with `carom`: version, commit and command. Bytes of names that are not UTF-8 are
/// replaced, as JSON has no way to write them.
void print_document(nlohmann::ordered_json document);

/// The same of what to_json makes of the elements of a list: an array, but for a single one.
template <class List, class ToJson>
void print_documents(const List& list, ToJson&& to_json) {
  nlohmann::ordered_json result = nlohmann::ordered_json::array();
  for (const auto& element : list) result.push_back(to_json(element));
  if (result.size() == 1) {
    print_document(std::move(result[0]));
  } else {
    print_document(std::move(result));
  }
}

}  // namespace carom::cli
