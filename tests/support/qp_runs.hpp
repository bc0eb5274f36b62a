#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include <carom/qp.hpp>

#include "core/arrays.hpp"
#include "support/bits.hpp"
#include "support/random_qps.hpp"

/// Runs of the QP methods that several tests share.
namespace carom::test {

/// One thread.
inline QpSettings with(QpMethod method) {
  QpSettings settings;
  settings.method = method;
  settings.threads = 1;
  return settings;
}

inline QpFlavour with_cones() {
  QpFlavour flavour;
  flavour.equations = 1;
  flavour.cones = {{ConeKind::second_order, 3}, {ConeKind::nonnegative, 1}};
  return flavour;
}

/// Problems [first, first + count).
inline QpBatch part_of(const QpBatch& batch, std::size_t first, std::size_t count) {
  return arrays::slice(batch, static_cast<std::int64_t>(first),
                       static_cast<std::int64_t>(first + count));
}

/// Problems [first, first + count) by themselves have the bits that they have in the whole batch.
inline void expect_part(const QpBatch& batch, const QpSettings& settings, const QpResult& whole,
                        std::size_t first, std::size_t count) {
  const QpResult part = solve_qp(part_of(batch, first, count), settings, Backend::cpu);
  QpResult::each_array(
      {},
      [&](const char* name, const Extents&, const auto& one, const auto& all) {
        const std::size_t width = all.size() / whole.status.size();
        ASSERT_EQ(one.size(), count * width) << name;
        EXPECT_EQ(first_difference(one, 0, all, first * width, count * width), -1) << name;
      },
      part, whole);
}

/// Results of the cpu and of a backend with the same text, bit for bit, but for problems whose
/// answer or proof the cpu has from QpWideActiveSet, which the other one lacks: those have the same
/// status and objective. Returns how many those are.
inline int expect_same_bits_but_wide(const QpResult& cpu, const QpResult& other) {
  const auto problems = cpu.status.size();
  int wide = 0;
  for (std::size_t p = 0; p < problems; ++p) {
    SCOPED_TRACE("problem " + std::to_string(p));
    const bool proven = cpu.status.host()[p] == Status::infeasible;
    if (cpu.method.host()[p] == QpMethod::active_set &&
        (proven || other.method.host()[p] != QpMethod::active_set)) {
      ++wide;
      EXPECT_EQ(to_string(cpu.status.host()[p]), to_string(other.status.host()[p]));
      EXPECT_LE(cpu.residual.host()[p], 1e-9);
      if (proven) continue;
      EXPECT_EQ(to_string(cpu.status.host()[p]), "solved");
      const double expected = other.objective.host()[p];
      EXPECT_NEAR(cpu.objective.host()[p], expected, 1e-7 * (1.0 + std::abs(expected)));
      continue;
    }
    QpResult::each_array(
        {},
        [&](const char* name, const Extents&, const auto& one, const auto& two) {
          ASSERT_EQ(one.size(), two.size()) << name;
          const std::size_t count = one.size() / problems;
          EXPECT_EQ(first_difference(one, p * count, two, p * count, count), -1) << name;
        },
        cpu, other);
  }
  return wide;
}

}  // namespace carom::test
