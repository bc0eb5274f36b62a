#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <carom/backend.hpp>
#include <carom/batch.hpp>
#include <carom/impact.hpp>
#include <carom/lcp.hpp>
#include <carom/models/models.hpp>

#include "support/message.hpp"

namespace carom {
namespace {

TEST(Buffer, OwnsAlignedStorage) {
  Buffer<double> buffer(7);
  EXPECT_EQ(buffer.size(), 7U);
  EXPECT_FALSE(buffer.empty());
  EXPECT_EQ(buffer.space(), MemorySpace::host);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0U);
  buffer.host()[6] = 3.0;
  EXPECT_EQ(std::as_const(buffer).host()[6], 3.0);
  const Buffer<double> none;
  EXPECT_TRUE(none.empty());
  EXPECT_TRUE(none.host().empty());
  EXPECT_TRUE(Buffer<int>(0).to_vector().empty());
}

TEST(Buffer, CopiesByNameOnly) {
  static_assert(!std::is_copy_constructible_v<Buffer<int>>);
  static_assert(!std::is_copy_assignable_v<Buffer<int>>);
  const std::vector<int> values = {1, 2, 3};
  Buffer<int> buffer = Buffer<int>::from(values);
  const Buffer<int> copy = buffer.to(MemorySpace::host);
  buffer.host()[0] = 9;
  EXPECT_EQ(copy.to_vector(), values);
  EXPECT_EQ(buffer.to_vector(), (std::vector<int>{9, 2, 3}));
}

TEST(Buffer, Moves) {
  Buffer<int> buffer = Buffer<int>::from(std::vector<int>{4, 5});
  const int* data = buffer.data();
  Buffer<int> moved = std::move(buffer);
  EXPECT_EQ(moved.data(), data);
  Buffer<int> assigned(10);
  assigned = std::move(moved);
  EXPECT_EQ(assigned.data(), data);
  EXPECT_EQ(assigned.to_vector(), (std::vector<int>{4, 5}));
}

TEST(Buffer, BorrowsWithoutOwning) {
  std::vector<double> values = {1.0, 2.0};
  {
    Buffer<double> view = Buffer<double>::borrow(values.data(), values.size(), MemorySpace::host);
    EXPECT_EQ(view.data(), values.data());
    view.host()[1] = 7.0;
    const Buffer<double> moved = std::move(view);
    EXPECT_EQ(moved.host()[1], 7.0);
  }
  EXPECT_EQ(values[1], 7.0);  // still there after the views have gone
}

TEST(Buffer, DeviceValuesAreNotReadFromTheHost) {
  double value = 0.0;
  Buffer<double> view = Buffer<double>::borrow(&value, 1, MemorySpace::device);
  EXPECT_EQ(view.space(), MemorySpace::device);
  test::expect_names(test::refusal([&] { (void)view.host(); }), {"device memory"});
  test::expect_names(test::refusal([&] { (void)std::as_const(view).host(); }), {"device memory"});
}

// A borrowed batch is read in place: nothing is copied behind the caller's back.
TEST(Buffer, BorrowedBatchGivesTheSameSamples) {
  ImpactProblem problem = models::build("compass_gait");
  ImpactBatch batch;
  batch.problems = 1;
  batch.velocities = problem.velocities;
  batch.contacts = problem.contacts;
  const auto view = [](std::vector<double>& values) {
    return Buffer<double>::borrow(values.data(), values.size(), MemorySpace::host);
  };
  batch.mass_matrix = view(problem.mass_matrix);
  batch.normal_jacobian = view(problem.normal_jacobian);
  batch.tangent_jacobian = view(problem.tangent_jacobian);
  batch.friction = view(problem.friction);
  batch.velocity = view(problem.velocity);
  ImpactSettings settings;
  settings.samples = 100;
  settings.keep_samples = -1;
  const ImpactResult borrowed = sample_impacts(batch, settings, Backend::cpu);
  const ImpactResult owned = sample_impacts(make_batch({&problem, 1}), settings, Backend::cpu);
  EXPECT_EQ(borrowed.samples.velocity.to_vector(), owned.samples.velocity.to_vector());
}

class WithoutDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_devices().empty()) GTEST_SKIP() << "a CUDA device is present";
  }
};

TEST_F(WithoutDevice, CudaIsRefusedByName) {
  const ImpactProblem problem = models::build("rocking_block");
  const ImpactBatch batch = make_batch({&problem, 1});
  test::expect_names(
      test::refusal<BackendUnavailable>([&] { sample_impacts(batch, {}, Backend::cuda); }),
      {"cuda", "cpu"});
  test::expect_names(test::refusal<BackendUnavailable>([] { (void)resolve(Backend::cuda); }),
                     {"cuda"});
  EXPECT_EQ(resolve(Backend::automatic), Backend::cpu);
  EXPECT_EQ(resolve(Backend::reference), Backend::reference);
}

TEST_F(WithoutDevice, DeviceMemoryIsRefused) {
  if (build_info().cuda_compiled) GTEST_SKIP() << "built with CUDA";
  test::expect_names(
      test::refusal<BackendUnavailable>([] { Buffer<double>(3, MemorySpace::device); }), {"cuda"});
  const Buffer<double> host = Buffer<double>::from(std::vector<double>{1.0});
  test::expect_names(test::refusal<BackendUnavailable>([&] { (void)host.to(MemorySpace::device); }),
                     {"cuda"});
}

// Host backends do not touch a batch or a result on a device.
TEST(MemorySpaces, HostBackendsRefuseDeviceBatches) {
  const ImpactProblem problem = models::build("rocking_block");
  for (const Backend backend : {Backend::cpu, Backend::reference}) {
    ImpactSettings settings;
    settings.result_space = MemorySpace::device;
    const ImpactBatch host = make_batch({&problem, 1});
    test::expect_names(test::refusal([&] { sample_impacts(host, settings, backend); }),
                       {std::string(to_string(backend)).c_str(), "device"});
    ImpactBatch mixed = make_batch({&problem, 1});
    mixed.velocity = Buffer<double>::borrow(mixed.velocity.data(), 3, MemorySpace::device);
    test::expect_names(test::refusal([&] { sample_impacts(mixed, {}, backend); }),
                       {"one memory space"});
    double value = 1.0;
    LcpBatch lcp;
    lcp.problems = 1;
    lcp.order = 1;
    lcp.matrix = Buffer<double>::borrow(&value, 1, MemorySpace::device);
    lcp.vector = Buffer<double>::borrow(&value, 1, MemorySpace::device);
    test::expect_names(test::refusal([&] { solve_lcp(lcp, {}, backend); }),
                       {std::string(to_string(backend)).c_str(), "device"});
  }
}

}  // namespace
}  // namespace carom
