#include "cuda/lanes.cuh"
#include "cuda/programs/qp_kernels.hpp"

namespace carom::cuda {

namespace {

constexpr int kFinishThreads = 64;
constexpr int kFinishBlockThreads = 256;
constexpr int kFinishWarpVariables = 64;

/// The active set's paths through the rows differ from problem to problem, so that threads of a
/// warp wait for one another: only where there are so many small ones that nothing stands idle.
constexpr int kFinishThreadVariables = 8;
#if defined(CAROM_CUDA_ON_HOST)  // within the reach of tests
constexpr std::int64_t kFinishThreadProblems = 128;
#else
constexpr std::int64_t kFinishThreadProblems = 1 << 16;
#endif

template <class Lanes, class Memory>
CAROM_INLINE void run_finish(const Lanes& lanes, const QpKernelLaunch& launch,
                             const kernels::QpTaskParts& parts, const Memory& memory, int begin,
                             int step) {
  const kernels::QpTask<Lanes, Memory> task(lanes, launch.arrays, parts, memory);
  for (int i = begin; i < launch.count; i += step) {
    task.finish(launch.list == nullptr ? i : launch.list[i], launch.tried);
  }
}

CAROM_INLINE kernels::QpTaskParts parts_of(const kernels::QpShape& shape) {
  return kernels::qp_finish_parts(shape.variables, shape.rows, shape.cones > 0);
}

__global__ void __launch_bounds__(kFinishThreads)
    qp_finish_threads(const __grid_constant__ QpKernelLaunch launch) {
  const kernels::SingleLane lane;
  run_finish(lane, launch, parts_of(launch.arrays.shape),
             kernels::InterleavedMemory<double>{launch.work + Grid::global_thread(),
                                                Grid::global_threads()},
             Grid::global_thread(), Grid::global_threads());
}

/// Of one warp or more.
__global__ void __launch_bounds__(kFinishBlockThreads)
    qp_finish_blocks(const __grid_constant__ QpKernelLaunch launch) {
  const BlockLanes lanes;
  const kernels::QpTaskParts parts = parts_of(launch.arrays.shape);
  double* memory =
      launch.work == nullptr ? shared_memory() : launch.work + Grid::block() * parts.end;
  run_finish(lanes, launch, parts, kernels::PlainMemory<double>{memory}, Grid::block(),
             Grid::blocks());
}

}  // namespace

QpPlan plan_finish(const kernels::QpShape& shape, std::int64_t problems,
                   std::size_t shared_per_block) {
  const long doubles = parts_of(shape).end;
  if (shape.variables <= kFinishThreadVariables && problems >= kFinishThreadProblems) {
    return {qp_finish_threads, kFinishThreads, true, doubles, 0};
  }
  if (shape.variables <= kFinishWarpVariables) {
    // Where several warps of a multiprocessor find room in it at the same time.
    return {qp_finish_blocks, WarpLanes::kWidth, false, doubles, shared_per_block / 4};
  }
  return {qp_finish_blocks, kFinishBlockThreads, false, doubles, 0};
}

}  // namespace carom::cuda
