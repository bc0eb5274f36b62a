#include <type_traits>

#include "cuda/device_scratch.hpp"
#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"
#include "cuda/runtime.hpp"
#include "cuda/staging.hpp"
#include "programs/lp/kernels/lp_finish.hpp"
#include "programs/lp/task.hpp"

namespace carom::cuda {

namespace {

/// Arguments of the kernels for linear programs.
struct LpLaunch {
  kernels::LpArrays arrays;
  int problems;
  double* work;  ///< a workspace for each block; null where it lies in shared memory
  int* int_work;
  double* finish_work;  ///< lp_finish_workspace for each block of finish_lps
};

/// A place in the block's shared memory by its number of values. Functions that are called then
/// know where they read; a pointer that they are handed may be to anything.
class SharedReals {
 public:
  CAROM_INLINE constexpr SharedReals operator+(long count) const {
    return SharedReals(first_ + static_cast<int>(count));
  }
  CAROM_INLINE double& operator[](long i) const { return static_cast<double*>(*this)[i]; }
  CAROM_INLINE operator double*() const {
#if defined(CAROM_DEVICE_CODE)
    return shared_memory() + first_;
#else
    return nullptr;
#endif
  }

  SharedReals() = default;

 private:
  CAROM_INLINE constexpr explicit SharedReals(int first) : first_(first) {}
  int first_ = 0;
};

/// WarpLanes with a workspace in shared memory.
struct SharedWarpLanes : WarpLanes {
  using Reals = SharedReals;
};

constexpr int kFewRows = 8;      // padded; then the loops over rows are known
constexpr int kFewColumns = 40;  // at most so many, too: then all places are
constexpr int kLpBlocks = 16;    // for whose registers is compiled, where it keeps from spilling

/// A block is one warp and solves problems in turn, all objectives of a problem one after another.
/// kShared: the workspace lies in shared memory, as the compiler then knows. PaddedRows,
/// PaddedColumns: as of LpSolver.
template <bool kShared, int PaddedRows, int PaddedColumns>
__global__ void __launch_bounds__(WarpLanes::kWidth, kShared ? kLpBlocks : 0)
    solve_lps(const __grid_constant__ LpLaunch launch) {
  using Lanes = std::conditional_t<kShared, SharedWarpLanes, WarpLanes>;
  const Lanes lanes;
  const int m = launch.arrays.rows;
  const int n = launch.arrays.columns;
  const long size = PaddedColumns > 0 ? kernels::lp_real_workspace(PaddedRows, PaddedColumns)
                                      : kernels::lp_real_workspace(m, n);
  kernels::WorkspaceReals<Lanes> reals{};
  int* ints = nullptr;
  if constexpr (kShared) {
    ints = reinterpret_cast<int*>(shared_memory() + size);
  } else {
    reals = launch.work + Grid::block() * size;
    ints = launch.int_work + Grid::block() * kernels::lp_int_workspace(m);
  }
  kernels::LpSolver<Lanes, PaddedRows, PaddedColumns> solver(lanes, launch.arrays, reals, ints);
  for (int p = Grid::block(); p < launch.problems; p += Grid::blocks()) solver.solve(p);
}

/// The same for what solve_lps leaves without a verdict.
__global__ void __launch_bounds__(WarpLanes::kWidth, kLpBlocks)
    finish_lps(const __grid_constant__ LpLaunch launch) {
  const WarpLanes lanes;
  const long size = kernels::lp_finish_workspace(launch.arrays.rows, launch.arrays.columns);
  kernels::LpFinish<WarpLanes> body(lanes, launch.arrays,
                                    launch.finish_work + Grid::block() * size);
  for (int p = Grid::block(); p < launch.problems; p += Grid::blocks()) body.finish(p);
}

}  // namespace

LpResult solve_lp(const LpBatch& batch, const LpSettings& settings,
                  const Buffer<BasisStatus>* start, WorkspaceState* workspace) {
  const int m = batch.rows;
  const int n = batch.columns;
  auto result = allocate<LpResult>(batch, batch.matrix.space(), settings.certificates);
  if (batch.problems == 0) return result;

  const DeviceScratch<> scratch(workspace);
  const Stream& stream = scratch->stream;
  const DeviceLimits limits = device_limits();
  const bool few = kernels::padded(m, kernels::kPackPadding) == kFewRows;
  const bool known = few && n <= kFewColumns;
  const long reals =
      known ? kernels::lp_real_workspace(kFewRows, kFewColumns) : kernels::lp_real_workspace(m, n);
  const long ints = kernels::lp_int_workspace(m);
  const std::size_t bytes = static_cast<std::size_t>(reals) * sizeof(double) +
                            static_cast<std::size_t>(ints) * sizeof(int);
  // Shared memory where several warps of a multiprocessor find room in it at the same time.
  const bool shared = bytes <= limits.shared_per_block / 4;
  const auto kernel = !shared ? &solve_lps<false, 0, 0>
                      : known ? &solve_lps<true, kFewRows, kFewColumns>
                      : few   ? &solve_lps<true, kFewRows, 0>
                              : &solve_lps<true, 0, 0>;
  std::int64_t blocks = std::min<std::int64_t>(
      batch.problems, resident_blocks(reinterpret_cast<const void*>(kernel), WarpLanes::kWidth,
                                      shared ? bytes : 0, limits));
  Staging staging(stream, batch.problems, &scratch->staging);
  LpLaunch launch{};
  if (!shared) {
    blocks =
        std::min(blocks, std::max<std::int64_t>(1, static_cast<std::int64_t>(kWorkBytes / bytes)));
    staging.memory(launch.work, blocks * reals);
    staging.memory(launch.int_work, blocks * ints);
  }
  const long finish_size = kernels::lp_finish_workspace(m, n);
  const std::int64_t finishing = finish_blocks(reinterpret_cast<const void*>(&finish_lps),
                                               finish_size, batch.problems, limits);
  staging.memory(launch.finish_work, finishing * finish_size);
  kernels::LpArrays& arrays = launch.arrays;
  arrays = lp_task(batch, settings);
  staging.inputs(arrays, batch, batch);
  if (start != nullptr) staging.input(arrays.start, *start, m + n);
  staging.results(arrays, result, batch);
  staging.alternate([&](std::int64_t, std::int64_t count) {
    launch.problems = static_cast<int>(count);
    launch_kernel("solve_lps", kernel,
                  {std::min(blocks, count), WarpLanes::kWidth, shared ? bytes : 0}, stream.get(),
                  launch);
    launch_kernel("finish_lps", finish_lps, {std::min(finishing, count), WarpLanes::kWidth, 0},
                  stream.get(), launch);
  });
  return result;
}

}  // namespace carom::cuda
