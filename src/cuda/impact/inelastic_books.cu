#include "cuda/impact/sample_store.cuh"
#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"

namespace carom::cuda {

namespace {

constexpr int kBookThreads = 256;

/// Losses of samples without stores are not booked.
__global__ void __launch_bounds__(kBookThreads)
    write_inelastic_books(const __grid_constant__ SampleLaunch launch) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const int m = launch.run.contacts;
  const int count = launch.chunk.slots();
  for (int slot = Grid::global_thread(); slot < count; slot += Grid::global_threads()) {
    const SlotAddress address = address_of(launch.chunk, slot);
    const double* const friction =
        launch.problems.friction + (address.problem - launch.problems.first) * m;
    kernels::StoreBooks books{};
    for (int i = 0; i < m; ++i) {
      books.friction[i] = friction[i];
      books.lost_compression[i] = books.lost_friction[i] = kNan;
    }
    kernels::TrajectoryEnd end{};
    end.status = launch.out.status[slot];
    store_books(launch, slot, end, books);
  }
}

}  // namespace

void fill_inelastic_books(const SampleLaunch& launch, cudaStream_t stream) {
  launch_kernel("write_inelastic_books", write_inelastic_books,
                {(launch.chunk.slots() + kBookThreads - 1) / kBookThreads, kBookThreads}, stream,
                launch);
}

}  // namespace carom::cuda
