#pragma once

#include <span>
#include <string_view>

namespace carom::cpu {

/// The instruction sets that this build has code for, narrowest first; this machine need not run
/// all of them.
std::span<const std::string_view> compiled_instruction_sets();

}  // namespace carom::cpu
