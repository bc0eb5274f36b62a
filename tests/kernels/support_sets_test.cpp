#include <gtest/gtest.h>

#include "cpu/equilibrium/support_driver.hpp"
#include "cpu/simd/dispatch.hpp"
#include "support/bits.hpp"
#include "support/spatial_postures.hpp"

// equilibrium/kernels/support_*_body.hpp in every instruction set that this machine has.
namespace carom {
namespace {

/// Directions of each posture by itself, or of all together in packs of postures.
SupportResult searched_supports(const SupportCode& code, const PostureBatch& batch,
                                std::span<const double> directions, const SpatialSettings& settings,
                                bool together) {
  const std::size_t n = directions.size() / 2;
  const SupportRules rules = support_rules(settings);
  PreparedSupport prepared(code, rules, settings, batch.contacts);
  std::vector<double> work(support_work(n));
  auto result = allocate<SupportResult>({batch.problems, static_cast<int>(n), batch.contacts});
  if (together) {
    prepared.run_postures(batch, directions, 0, static_cast<int>(batch.problems), result);
    return result;
  }
  for (std::int64_t p = 0; p < batch.problems; ++p) {
    prepared.prepare(batch, p);
    support_of(prepared, directions, result, static_cast<std::size_t>(p) * n, work.data());
  }
  return result;
}

TEST(SupportBody, InstructionSetsGiveTheSameBits) {
  const auto wide = cpu::simd::instruction_sets().subspan(1);
  if (wide.empty()) GTEST_SKIP() << "SKIP_ONE_INSTRUCTION_SET: this machine has no other";
  for (const ConeModel cones : {ConeModel::exact, ConeModel::inscribed, ConeModel::pair}) {
    for (const test::SpatialKind& kind :
         {test::SpatialKind{3}, {4, 1.4}, {7, 0.6, 0.1, 0.8, true}}) {
      const std::vector<Posture> postures = test::random_spatials(31, kSupportLanes, kind);
      const PostureBatch batch = make_batch(postures);
      const SpatialSettings settings{.cones = cones};
      for (const int n : {1, 5, 64}) {
        const std::vector<double> directions = equal_directions(n);
        const SupportResult plain = searched_supports(
            cpu::simd::instruction_sets().front()->support, batch, directions, settings, false);
        for (const cpu::simd::InstructionSet* set : wide) {
          test::expect_identical(
              plain, searched_supports(set->support, batch, directions, settings, false));
          if (n <= kernels::kSupportArcs) {
            test::expect_identical(
                plain, searched_supports(set->support, batch, directions, settings, true));
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace carom
