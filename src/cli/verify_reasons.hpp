#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "cli/text_options.hpp"

namespace carom::cli {

/// Checks statements i < count on all threads with a progress bar. why(i): the reason why one is
/// refuted, empty if it is proven. things: the noun of the progress bar, e.g. "samples".
std::vector<std::string> reasons(std::size_t count, const std::string& things,
                                 const TextOptions& text,
                                 const std::function<std::string(std::size_t)>& why);

}  // namespace carom::cli
