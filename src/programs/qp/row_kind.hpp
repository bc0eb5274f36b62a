#pragma once

#include <cstdint>

namespace carom {

/// Kinds of rows of a quadratic program in the kernels.
enum class QpRowKind : std::uint8_t { interval, half_line, equation, second_order };

}  // namespace carom
