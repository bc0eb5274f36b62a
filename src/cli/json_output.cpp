#include "cli/json_output.hpp"

#include <fmt/format.h>

namespace carom::cli {

void print_document(const nlohmann::ordered_json& document) {
  constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;
  fmt::print("{}\n", document.dump(2, ' ', false, kReplace));
}

}  // namespace carom::cli
