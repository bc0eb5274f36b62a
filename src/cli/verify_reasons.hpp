#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "cli/text_options.hpp"

namespace carom::cli {

/// why(i) of statements i < count, judged on all threads with a progress bar: why one is refuted,
/// empty where it is proven. things: what is counted, e.g. "samples".
std::vector<std::string> reasons(std::size_t count, const std::string& things,
                                 const TextOptions& text,
                                 const std::function<std::string(std::size_t)>& why);

}  // namespace carom::cli
