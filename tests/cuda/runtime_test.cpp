#include <numeric>
#include <vector>

#include <carom/batch.hpp>
#include <carom/error.hpp>

#include "cuda/cuda_test.hpp"

namespace carom {
namespace {

class CudaRuntime : public test::CudaTest {};

TEST_F(CudaRuntime, DevicesAreDescribed) {
  for (const DeviceInfo& device : cuda_devices()) {
    EXPECT_FALSE(device.name.empty());
    EXPECT_GE(device.compute_capability_major, 7);
    EXPECT_GT(device.memory_bytes, std::size_t{1} << 28);
  }
  EXPECT_EQ(resolve(Backend::automatic), Backend::cuda);
  EXPECT_TRUE(build_info().cuda_compiled);
}

TEST_F(CudaRuntime, BuffersMakeTheRoundTrip) {
  std::vector<double> values(100'003);
  std::iota(values.begin(), values.end(), 0.5);
  const Buffer<double> host = Buffer<double>::from(values);
  const Buffer<double> device = host.to(MemorySpace::device);
  EXPECT_EQ(device.space(), MemorySpace::device);
  EXPECT_THROW(static_cast<void>(device.host()), InvalidInput);
  const Buffer<double> second = device.to(MemorySpace::device);
  EXPECT_EQ(second.to_vector(), values);
}

TEST_F(CudaRuntime, AllocationFailureIsAnErrorAndPasses) {
  EXPECT_THROW(Buffer<double>(std::size_t{1} << 55, MemorySpace::device), CudaError);
  const Buffer<double> small = Buffer<double>::from(std::vector<double>{1, 2, 3});
  EXPECT_EQ(small.to(MemorySpace::device).to_vector(), (std::vector<double>{1, 2, 3}));
}

}  // namespace
}  // namespace carom
