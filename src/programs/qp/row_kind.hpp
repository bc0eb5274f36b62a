#pragma once

#include <cstdint>

namespace carom {

/// What a row of a quadratic program is among the bodies' rows.
enum class QpRowKind : std::uint8_t { interval, half_line, equation, second_order };

}  // namespace carom
