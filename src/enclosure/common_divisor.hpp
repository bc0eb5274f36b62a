#pragma once

#include "enclosure/integer.hpp"

namespace carom::enclosure {

/// The greatest common divisor of two integers, not negative; gcd(x, 0) = |x|.
Integer common_divisor(const Integer& x, const Integer& y);

}  // namespace carom::enclosure
