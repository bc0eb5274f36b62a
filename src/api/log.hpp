#pragma once

#include <carom/log.hpp>

namespace carom::logging {

/// Whether messages of this level are enabled; message texts are formatted only then.
bool wanted(LogLevel level);
void tell(LogLevel level, std::string_view text);

}  // namespace carom::logging
