#pragma once

#include <vector>

#include <carom/impact.hpp>

namespace carom::test {

/// e in [low, high] of every contact.
inline void set_restitution(ImpactProblem& problem, double low, double high) {
  const auto m = static_cast<std::size_t>(problem.contacts);
  problem.restitution_low.assign(m, low);
  problem.restitution_high.assign(m, high);
}

}  // namespace carom::test
