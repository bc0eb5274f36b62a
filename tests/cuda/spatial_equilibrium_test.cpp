#include <limits>
#include <vector>

#include "cuda/cuda_test.hpp"
#include "equilibrium/spatial_backends.hpp"
#include "support/spatial_postures.hpp"

// A thread an arc of directions against the cpu backend's packs, bit for bit.
namespace carom {
namespace {

using CudaSpatial = test::CudaTest;

TEST_F(CudaSpatial, SupportEqualsTheCpuBitForBit) {
  for (const ConeModel cones : {ConeModel::exact, ConeModel::inscribed, ConeModel::pair}) {
    for (const int contacts : {1, 3, 4, 9}) {
      const PostureBatch batch =
          make_batch(test::random_spatials(41, 257, {.contacts = contacts, .wrench = true}));
      const std::vector<double> directions = equal_directions(33);
      SpatialSettings settings;
      settings.cones = cones;
      test::expect_identical(support(batch, directions, settings, Backend::cuda),
                             cpu::support(batch, directions, settings));
    }
  }
}

TEST_F(CudaSpatial, PoisonedNeighbourChangesNothing) {
  std::vector<Posture> postures = test::random_spatials(42, 65, {});
  const std::vector<double> directions = equal_directions(16);
  const SupportResult clean = support(make_batch(postures), directions, {}, Backend::cuda);
  PostureBatch batch = make_batch(postures);
  batch.position.host()[12 * 30] = std::numeric_limits<double>::quiet_NaN();
  const SupportResult poisoned = support(batch, directions, {}, Backend::cuda);
  for (std::size_t p = 0; p < postures.size(); ++p) {
    if (p == 30) {
      EXPECT_EQ(poisoned.status.host()[16 * p], Status::invalid_input);
      continue;
    }
    EXPECT_EQ(test::first_difference(poisoned.upper, 16 * p, clean.upper, 16 * p, 16), -1);
  }
}

/// What one holds lies in the half-planes that the other proved.
void expect_inside(const SpatialRegion& held, const SpatialRegion& proved) {
  for (std::size_t v = 0; v < held.inner.size(); v += 2) {
    for (std::size_t h = 0; h < proved.half_plane.size(); h += 3) {
      const double* plane = proved.half_plane.data() + h;
      EXPECT_LE(plane[0] * held.inner[v] + plane[1] * held.inner[v + 1], plane[2] + 1e-9);
    }
  }
}

// The contours begin with the same directions, in another order of arithmetic: the same regions
// within their own bounds, not the same vertices.
TEST_F(CudaSpatial, RegionsAgreeWithTheCpus) {
  const PostureBatch batch = make_batch(test::random_spatials(43, 33, {}));
  const SpatialSettings settings;
  const std::vector<SpatialRegion> there = spatial_equilibrium(batch, settings, Backend::cuda);
  const std::vector<SpatialRegion> here = spatial_equilibrium(batch, settings, Backend::cpu);
  for (std::size_t p = 0; p < here.size(); ++p) {
    SCOPED_TRACE(p);
    EXPECT_EQ(there[p].status, here[p].status);
    EXPECT_EQ(there[p].dimension, here[p].dimension);
    expect_inside(there[p], here[p]);
    expect_inside(here[p], there[p]);
    if (here[p].status != Status::solved) continue;
    EXPECT_NEAR(there[p].area_inner, here[p].area_inner, settings.area_tolerance + 1e-9);
    EXPECT_NEAR(there[p].area_outer, here[p].area_outer, settings.area_tolerance + 1e-9);
  }
}

}  // namespace
}  // namespace carom
