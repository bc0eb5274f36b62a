#pragma once

#include <array>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <carom/equilibrium_planar.hpp>

#include "support/bits.hpp"
#include "support/random_postures.hpp"

namespace carom::test {

inline PostureBatch batch_of(const Posture& posture) { return make_batch(std::array{posture}); }

/// Postures [first, first + count) of one shape; with_region: a rectangle W of wrenches.
inline PostureBatch random_batch(std::uint64_t seed, PostureKind kind, int contacts, int count,
                                 bool patches = false, bool with_region = false) {
  std::vector<Posture> postures;
  for (int i = 0; i < count; ++i) {
    PostureSource source(seed, i);
    Posture posture = source.posture(kind, contacts, patches);
    if (source.below(2) == 0) posture.wrench = source.wrench();
    if (with_region) {
      const double p = source.uniform(-0.2, 0.1);
      const double q = source.uniform(-0.2, 0.1);
      posture.wrench_vertices =
          wrench_rectangle(p, p + source.uniform(0.0, 0.3), q, q + source.uniform(0.0, 0.3));
    }
    postures.push_back(posture);
  }
  return make_batch(postures);
}

}  // namespace carom::test
