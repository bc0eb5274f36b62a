#pragma once

#include "cli/commands.hpp"

namespace carom::cli {

/// `carom man [COMMAND]`, manual pages, and `carom completion SHELL`. Both are generated from the
/// tables of options of all commands, so they are always up to date.
void add_man(Program& program);
void add_completion(Program& program);

}  // namespace carom::cli
