#include "core/random.hpp"

#include <string>

#include <boost/random/sobol.hpp>

#include <carom/types/error.hpp>

namespace carom {

std::vector<std::uint64_t> sobol_directions(int dimensions) {
  if (dimensions < 1 || dimensions > kMaxSobolDimensions) {
    throw InvalidInput(
        Refusal{.field = "sampler",
                .relation = "",
                .value = "sobol",
                .rule = "needs contacts * max_steps = " + std::to_string(dimensions) +
                        " dimensions: must be in 1.." + std::to_string(kMaxSobolDimensions)});
  }
  // Gray code differs from zero only in bit b at index 2^(b+1) - 1: the point there is the
  // direction number itself. Boost drops the leading zero point, hence one less.
  using Engine = boost::random::sobol_engine<std::uint64_t, kSobolBits>;
  const auto count = static_cast<std::size_t>(dimensions);
  std::vector<std::uint64_t> directions(count * kSobolBits);
  Engine engine(count);
  for (int bit = 0; bit < kSobolBits; ++bit) {
    engine.seed((std::uint64_t{1} << (bit + 1)) - 2);
    for (std::size_t d = 0; d < count; ++d) {
      directions[d * kSobolBits + static_cast<std::size_t>(bit)] = engine();
    }
  }
  return directions;
}

}  // namespace carom
