#pragma once

#include "enclosure/integer.hpp"

namespace carom::enclosure {

/// The greatest common divisor of two integers, not negative; gcd(x, 0) = |x|.
Integer common_divisor(const Integer& x, const Integer& y);

/// x / divisor, where divisor > 0 leaves no rest.
void divide_exactly(Integer& x, const Integer& divisor);

}  // namespace carom::enclosure
