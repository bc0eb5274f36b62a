#pragma once

#include <carom/log.hpp>

namespace carom::logging {

/// Whether anybody wants messages of this level; texts are made only then.
bool wanted(LogLevel level);
void tell(LogLevel level, std::string_view text);

}  // namespace carom::logging
