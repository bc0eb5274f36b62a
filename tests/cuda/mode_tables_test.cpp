// The kernels of tests are compiled where there is a device's compiler, or a host that plays it.
#if defined(CAROM_TEST_KERNELS)

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <carom/impact.hpp>

#include "cuda/cuda_test.hpp"
#include "cuda/impact/host_problems.hpp"
#include "cuda/impact/problem_store.hpp"
#include "cuda/impact/sample_policy.hpp"
#include "support/bits.hpp"
#include "support/random_problems.hpp"

// Tables that the device makes are those of the host bit for bit.
namespace carom {
namespace {

using test::Flavour;
using test::Generator;

/// Random problems of one shape.
ImpactBatch random_batch(Generator& random, Flavour flavour, int contacts, int count) {
  std::vector<ImpactProblem> problems{test::random_problem(random, flavour, 2, contacts)};
  while (static_cast<int>(problems.size()) < count) {
    ImpactProblem next = test::random_problem(random, flavour, 2, contacts);
    if (next.velocities == problems[0].velocities) problems.push_back(std::move(next));
  }
  return make_batch(problems);
}

template <class T>
std::vector<T> fetch(const T* from, std::int64_t size) {
  std::vector<T> values(static_cast<std::size_t>(size));
  cuda::download(values.data(), from, values.size(), nullptr);
  cuda::check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  return values;
}

/// As the public function leaves them.
ImpactSettings settings_of(std::int64_t samples) {
  ImpactSettings settings;
  settings.samples = samples;
  settings.max_steps = kDerivedSteps;
  settings.epsilon = 0.0;
  return settings;
}

class CudaModeTables : public test::CudaTest {
 protected:
  /// Problems with a table; `mixed` counts those whose steps have several v'.
  static int compare(const ImpactBatch& batch, const ImpactSettings& settings, int& mixed) {
    const kernels::ImpactRun run = impact_run(batch, settings, {});
    cuda::SamplePolicy policy;
    policy.device_tables = 1;
    policy.table_bytes = 1;  // one warp for all
    const cuda::HostProblems piece(batch, settings, run, policy, 0, batch.problems);
    EXPECT_TRUE(piece.tables_left());
    cuda::ProblemStore store;
    store.take(piece, policy, nullptr);
    const PreparedImpacts& prepared = piece.prepared();
    const kernels::ImpactProblemView view = prepared.view(0);
    const cuda::PackedTables host =
        cuda::build_tables({2, run, prepared.valid(), view.delassus, view.scale, view.friction,
                            view.contact_velocity, prepared.step_size().data()},
                           TableBreadth::narrow, 1);
    const cuda::ProblemArrays device = store.arrays(TableBreadth::narrow);
    EXPECT_EQ(device.table_reals, host.reals);
    EXPECT_EQ(device.table_ints, host.ints);
    if (device.tables == nullptr) return 0;
    const int rows = batch.contact_rows();
    const std::vector<cuda::TableSlot> slots = fetch(device.tables, batch.problems);
    int tables = 0;
    for (std::size_t p = 0; p < slots.size(); ++p) {
      SCOPED_TRACE("problem " + std::to_string(p));
      const cuda::TableSlot& slot = slots[p];
      const cuda::TableSlot& own = host.slots[p];
      EXPECT_EQ(slot.table.count, own.table.count);
      if (slot.table.count != own.table.count || own.table.count == 0) continue;
      EXPECT_EQ(slot.table.mixed, own.table.mixed);
      EXPECT_EQ(slot.table.beside, own.table.beside);
      const std::vector<int> first = fetch(device.table_first + slot.first, own.table.count + 1);
      const auto* const known = host.first.data() + own.first;
      EXPECT_TRUE(std::equal(first.begin(), first.end(), known));
      if (first.back() != known[own.table.count]) continue;
      const std::vector<double> numbers = fetch(
          device.table_numbers + slot.numbers,
          kernels::ModeTableView::size(rows, rows + batch.contacts, own.table.count, first.back()));
      const std::span<const double> of_host(host.numbers.data() + own.numbers, numbers.size());
      EXPECT_EQ(test::first_difference(std::span<const double>(numbers), of_host), -1);
      mixed += own.table.mixed ? 1 : 0;
      ++tables;
    }
    return tables;
  }
};

TEST_F(CudaModeTables, AreTheHostsBitForBit) {
  Generator random(161);
  int tables = 0;
  int mixed = 0;
  for (int m = 1; m <= 3; ++m) {
    for (const Flavour flavour : test::kFlavours) {
      SCOPED_TRACE(std::string(test::to_string(flavour)) + ", m " + std::to_string(m));
      const int count = m == 2 ? 40 : test::some(37, 5);
      const ImpactBatch batch = random_batch(random, flavour, m, count);
      const ImpactSettings settings = settings_of(200);
      tables += compare(batch, settings, mixed);
    }
  }
  EXPECT_GT(tables, 400);
  EXPECT_GT(mixed, 0);
}

TEST_F(CudaModeTables, LeaveOutWhatIsRefused) {
  Generator random(162);
  ImpactBatch batch = random_batch(random, Flavour::generic, 2, 70);
  batch.mass_matrix.data()[0] = std::numeric_limits<double>::quiet_NaN();
  ImpactSettings settings = settings_of(20);
  settings.bad_problem = BadProblem::isolate;
  int mixed = 0;
  EXPECT_EQ(compare(batch, settings, mixed), 69);
}

/// Problems that lie on the device: the host's tables are built from what was prepared there.
TEST_F(CudaModeTables, OfADeviceBatchToo) {
  Generator random(164);
  const ImpactBatch batch = random_batch(random, Flavour::generic, 2, 50).to(MemorySpace::device);
  ImpactSettings settings = settings_of(100);
  settings.keep_samples = -1;
  cuda::SamplePolicy on_device, on_host;
  on_device.device_tables = 1;
  on_host.device_tables = 51;
  test::expect_same(cuda::sample_impacts_with(batch, settings, on_device),
                    cuda::sample_impacts_with(batch, settings, on_host));
}

TEST_F(CudaModeTables, OutcomesAreTheCpus) {
  Generator random(163);
  for (const Flavour flavour : test::kFlavours) {
    SCOPED_TRACE(test::to_string(flavour));
    const ImpactBatch batch = random_batch(random, flavour, 2, test::some(300, 30));
    ImpactSettings settings = settings_of(150);
    settings.keep_samples = -1;
    cuda::SamplePolicy policy;
    policy.device_tables = 1;
    test::expect_same(cuda::sample_impacts_with(batch, settings, policy),
                      sample_impacts(batch, settings, Backend::cpu));
  }
}

}  // namespace
}  // namespace carom

#endif
