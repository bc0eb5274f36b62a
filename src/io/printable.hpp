#pragma once

#include <string>
#include <string_view>

namespace carom::io {

/// The text as it may be shown on a terminal: control characters and what is not UTF-8 become
/// escapes such as \x1b, so that a name from a file cannot control the terminal.
std::string printable(std::string_view text);

bool is_utf8(std::string_view text);

}  // namespace carom::io
