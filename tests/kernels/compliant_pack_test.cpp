#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <carom/compliant.hpp>

#include "support/bits.hpp"
#include "support/compliant_problems.hpp"
#include "support/compliant_range.hpp"

// Steps in packs (src/cpu/simd/impact/step_packs.hpp): what a step gets does not depend on the
// width of the pack, nor on who is in it.
namespace carom {
namespace {

using test::CompliantMix;
using test::first_difference;

CompliantResult solve_with(const cpu::simd::InstructionSet& set, const CompliantBatch& batch) {
  test::CompliantRangeRun run(batch);
  run.run(set);
  return std::move(run.result());
}

std::vector<CompliantProblem> drawn(const CompliantMix& mix, std::uint32_t count) {
  std::vector<CompliantProblem> problems;
  for (std::uint32_t i = 0; i < count; ++i) problems.push_back(random_compliant(mix, i, 11));
  return problems;
}

/// A body on four contacts (compiled by itself), fewer contacts, joints beside them, planar ones,
/// and shapes beyond what packs take.
std::vector<CompliantMix> mixes() {
  return {{.velocities = 6, .bilateral = 0, .unilateral = 0, .contacts = 4},
          {.velocities = 6, .bilateral = 0, .unilateral = 1, .contacts = 3},
          {.velocities = 8, .bilateral = 3, .unilateral = 2, .contacts = 2},
          {.dimension = 2, .velocities = 3, .bilateral = 0, .unilateral = 0, .contacts = 2},
          {.velocities = 6, .bilateral = 4, .unilateral = 0, .contacts = 0},
          {.velocities = 12, .bilateral = 0, .unilateral = 0, .contacts = 8, .duplicates = true},
          {.velocities = 12, .bilateral = 0, .unilateral = 0, .contacts = 9},
          {.velocities = 14, .bilateral = 0, .unilateral = 0, .contacts = 2}};
}

TEST(CompliantPacks, AllInstructionSetsGiveTheSameBits) {
  for (const CompliantMix& mix : mixes()) {
    const CompliantBatch batch = make_batch(drawn(mix, 45));
    const CompliantResult first = solve_with(*cpu::simd::instruction_sets().front(), batch);
    for (const cpu::simd::InstructionSet* other : cpu::simd::instruction_sets()) {
      SCOPED_TRACE(other->name);
      test::expect_identical(first, solve_with(*other, batch));
    }
  }
}

TEST(CompliantPacks, AloneOrTogetherIsTheSame) {
  for (const CompliantMix& mix : mixes()) {
    const std::vector<CompliantProblem> problems = drawn(mix, 21);
    const CompliantBatch batch = make_batch(problems);
    const auto nv = static_cast<std::size_t>(batch.velocities);
    const auto rows = static_cast<std::size_t>(batch.rows);
    for (const cpu::simd::InstructionSet* isa : cpu::simd::instruction_sets()) {
      const CompliantResult together = solve_with(*isa, batch);
      for (std::size_t p = 0; p < problems.size(); ++p) {
        const CompliantResult alone = solve_with(*isa, make_batch(std::span(&problems[p], 1)));
        EXPECT_EQ(first_difference(together.velocity, p * nv, alone.velocity, 0, nv), -1) << p;
        EXPECT_EQ(first_difference(together.force, p * rows, alone.force, 0, rows), -1) << p;
        EXPECT_EQ(first_difference(together.residual, p, alone.residual, 0, 1), -1) << p;
      }
    }
  }
}

// Numbers that CompliantPack refuses by itself, each in one lane of a full pack.
TEST(CompliantPacks, RefuseALaneAndKeepItsNeighbours) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  CompliantBatch batch = make_batch(drawn(mixes()[0], 16));
  const auto rows = static_cast<std::size_t>(batch.rows);
  const CompliantResult clean = solve_compliant(batch, {}, Backend::cpu);
  const std::size_t bad = 5;
  struct Spoilt {
    const char* name;
    double* value;
    double with;
  };
  for (const Spoilt& s : {Spoilt{"v", batch.velocity.data() + bad * 6, kNan},
                          Spoilt{"f", batch.force.data() + bad * 6 + 5, kInf},
                          Spoilt{"G", batch.jacobian.data() + bad * rows * 6 + 40, kInf},
                          Spoilt{"dG", batch.jacobian_dot_v.data() + bad * rows + 7, kNan},
                          Spoilt{"phi", batch.phi.data() + bad * rows, -kInf},
                          Spoilt{"K", batch.stiffness.data() + bad * rows, kInf},
                          Spoilt{"K < 0", batch.stiffness.data() + bad * rows + 1, -1.0},
                          Spoilt{"B < 0", batch.damping.data() + bad * rows + 3, -1e-3},
                          Spoilt{"mu", batch.friction.data() + bad * rows, kInf},
                          Spoilt{"mu < 0", batch.friction.data() + bad * rows + 3, -0.1},
                          Spoilt{"h", batch.step_size.data() + bad, -1e-3},
                          Spoilt{"asymmetric M", batch.mass_matrix.data() + bad * 36 + 1, 0.77},
                          Spoilt{"M < 0", batch.mass_matrix.data() + bad * 36 + 14, -3.0}}) {
    const double held = *s.value;
    *s.value = s.with;
    const CompliantResult result = solve_compliant(batch, {}, Backend::cpu);
    *s.value = held;
    for (std::size_t p = 0; p < 16; ++p) {
      if (p == bad) {
        EXPECT_EQ(result.status.data()[p], Status::invalid_input) << s.name;
      } else {
        EXPECT_EQ(first_difference(result.velocity, p * 6, clean.velocity, p * 6, 6), -1) << s.name;
      }
    }
  }
}

// mu of a tangent row and all numbers of an absent row are not read.
TEST(CompliantPacks, DoNotReadWhatIsNotThere) {
  std::vector<CompliantProblem> problems = drawn(mixes()[0], 9);
  problems[4].constraints.pop_back();
  CompliantBatch batch = make_batch(problems);
  const CompliantResult clean = solve_compliant(batch, {}, Backend::cpu);
  const auto rows = static_cast<std::size_t>(batch.rows);
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t i = 9; i < 12; ++i) {
    batch.phi.data()[4 * rows + i] = kNan;
    batch.stiffness.data()[4 * rows + i] = kNan;
    batch.jacobian.data()[(4 * rows + i) * 6] = kNan;
  }
  for (std::size_t p = 0; p < 9; ++p) batch.friction.data()[p * rows + 1] = kNan;
  test::expect_identical(clean, solve_compliant(batch, {}, Backend::cpu));
}

}  // namespace
}  // namespace carom
