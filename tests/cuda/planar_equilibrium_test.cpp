#include <vector>

#include "cuda/cuda_test.hpp"
#include "equilibrium/planar_backends.hpp"
#include "support/planar_batches.hpp"

// One thread a posture against the cpu backend's packs, bit for bit.
namespace carom {
namespace {

using test::PostureKind;
using test::random_batch;

using CudaPlanar = test::CudaTest;

TEST_F(CudaPlanar, EqualsTheCpuBitForBit) {
  for (const PostureKind kind : {PostureKind::upward, PostureKind::any, PostureKind::lattice}) {
    for (const int contacts : {1, 3, 11}) {
      for (const bool patches : {false, true}) {
        const PostureBatch batch = random_batch(31, kind, contacts, 1001, patches, true);
        test::expect_identical(planar_equilibrium(batch, {}, Backend::cuda),
                               cpu::planar_equilibrium(batch, {}));
      }
    }
  }
}

TEST_F(CudaPlanar, MarginsEqualTheCpu) {
  const PostureBatch batch = random_batch(32, PostureKind::upward, 4, 1001, false, true);
  std::vector<double> centre(2002, 0.1);
  const Buffer<double> x = Buffer<double>::from(centre);
  test::expect_identical(planar_margins(batch, x, {}, Backend::cuda),
                         cpu::planar_margins(batch, x, {}));
}

TEST_F(CudaPlanar, DeviceBatchesStayOnTheDevice) {
  const PostureBatch host = random_batch(33, PostureKind::upward, 5, 257);
  const PlanarResult there = planar_equilibrium(host.to(MemorySpace::device), {}, Backend::cuda);
  ASSERT_EQ(there.upper.space(), MemorySpace::device);
  const PlanarResult here = cpu::planar_equilibrium(host, {});
  test::expect_identical(there, here);
}

}  // namespace
}  // namespace carom
