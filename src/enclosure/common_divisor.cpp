#include "enclosure/common_divisor.hpp"

#include "enclosure/integer_limbs.hpp"

namespace carom::enclosure {

Integer common_divisor(const Integer& x, const Integer& y) {
#if defined(__SIZEOF_INT128__)
  if (limbs::fits(x, limbs::kMost - 2) && limbs::fits(y, limbs::kMost - 2)) {
    limbs::Natural a = limbs::magnitude(x), b = limbs::magnitude(y);
    Integer result;
    limbs::assign(result, limbs::common_divisor(a, b), false);
    return result;
  }
#endif
  return gcd(x, y);
}

}  // namespace carom::enclosure
