#pragma once

#include <nlohmann/json.hpp>

namespace carom::cli {

/// One document on standard output. Bytes of names that are not UTF-8 are replaced, as JSON has no
/// way to write them.
void print_document(const nlohmann::ordered_json& document);

}  // namespace carom::cli
