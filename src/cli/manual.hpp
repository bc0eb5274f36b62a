#pragma once

#include "cli/commands.hpp"

namespace carom::cli {

/// `carom man [COMMAND]`, manual pages, and `carom completion SHELL`; both from the tables of the
/// options of all commands, so they follow every change of those.
void add_man(Program& program);
void add_completion(Program& program);

}  // namespace carom::cli
