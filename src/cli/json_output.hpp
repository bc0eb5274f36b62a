#pragma once

#include <nlohmann/json.hpp>

namespace carom::cli {

/// One document on standard output. Bytes of names that are not UTF-8 are replaced, as JSON has no
/// way to write them.
void print_document(const nlohmann::ordered_json& document);

/// The same of what to_json makes of the elements of a list: an array, but for a single one.
template <class List, class ToJson>
void print_documents(const List& list, ToJson&& to_json) {
  nlohmann::ordered_json result = nlohmann::ordered_json::array();
  for (const auto& element : list) result.push_back(to_json(element));
  print_document(result.size() == 1 ? result[0] : result);
}

}  // namespace carom::cli
