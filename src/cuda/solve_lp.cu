#include <carom/kernels/lp_body.hpp>

#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"
#include "cuda/runtime.hpp"
#include "cuda/solver_batch.hpp"
#include "lp_backends.hpp"

namespace carom::cuda {

namespace {

struct LpLaunch {
  kernels::LpArrays arrays;
  int problems;
  double* work;  ///< a workspace for each block; null where it lies in shared memory
  int* int_work;
};

/// A block is one warp and solves problems in turn, all objectives of a problem one after another.
__global__ void __launch_bounds__(WarpLanes::kWidth)
    solve_lps(const __grid_constant__ LpLaunch launch) {
  const WarpLanes lanes;
  const int m = launch.arrays.rows;
  const int n = launch.arrays.columns;
  double* reals = shared_memory();
  int* ints = reinterpret_cast<int*>(reals + kernels::lp_real_workspace(m, n));
  if (launch.work != nullptr) {
    reals = launch.work + Grid::block() * kernels::lp_real_workspace(m, n);
    ints = launch.int_work + Grid::block() * kernels::lp_int_workspace(m);
  }
  kernels::LpSolver<WarpLanes> solver(lanes, launch.arrays, reals, ints);
  for (int p = Grid::block(); p < launch.problems; p += Grid::blocks()) solver.solve(p);
}

/// An optional input or output of a batch.
const BasisStatus* start_piece(const Buffer<BasisStatus>* start, DeviceArray<BasisStatus>& staging,
                               std::int64_t first, std::int64_t count, std::int64_t stride,
                               cudaStream_t stream) {
  if (start == nullptr) return nullptr;
  const BasisStatus* begin = start->data() + first * stride;
  if (start->space() == MemorySpace::device) return begin;
  return staging.upload(begin, static_cast<std::size_t>(count * stride), stream);
}

}  // namespace

LpResult solve_lp(const LpBatch& batch, const LpSettings& settings,
                  const Buffer<BasisStatus>* start) {
  const int m = batch.rows;
  const int n = batch.columns;
  const std::int64_t k = batch.objectives;
  LpResult result = make_lp_result(batch, settings);
  if (batch.problems == 0) return result;

  const Stream stream;
  const DeviceLimits limits = device_limits();
  const long reals = kernels::lp_real_workspace(m, n);
  const long ints = kernels::lp_int_workspace(m);
  const std::size_t bytes = static_cast<std::size_t>(reals) * sizeof(double) +
                            static_cast<std::size_t>(ints) * sizeof(int);
  // Shared memory where several warps of a multiprocessor find room in it at the same time.
  const bool shared = bytes <= limits.shared_per_block / 4;
  const void* kernel = reinterpret_cast<const void*>(&solve_lps);
  int resident = resident_blocks(kernel, WarpLanes::kWidth, shared ? bytes : 0, limits);
  DeviceArray<double> work;
  DeviceArray<int> int_work;
  LpLaunch launch{};
  if (!shared) {
    resident = static_cast<int>(
        std::clamp<std::size_t>(kWorkBytes / bytes, 1, static_cast<std::size_t>(resident)));
    launch.work = work.reserve(static_cast<std::size_t>(resident * reals));
    launch.int_work = int_work.reserve(static_cast<std::size_t>(resident * ints));
  }
  const std::int64_t entries = static_cast<std::int64_t>(m) * n;
  Input cost(batch.cost, k * n);
  Input matrix(batch.matrix, entries);
  Input row_lower(batch.row_lower, m);
  Input row_upper(batch.row_upper, m);
  Input column_lower(batch.column_lower, n);
  Input column_upper(batch.column_upper, n);
  DeviceArray<BasisStatus> start_staging;
  Output<double> solution(result.solution, k * n);
  Output<double> dual(result.dual, k * m);
  Output<double> objective(result.objective, k);
  Output<Status> status(result.status, k);
  Output<std::int32_t> pivots(result.pivots, k);
  Output<double> residual(result.residual, k);
  Output<double> farkas(result.farkas, k * m);
  Output<double> ray(result.ray, k * n);
  Output<BasisStatus> basis(result.basis, m + n);
  const auto each =
      static_cast<std::size_t>(entries + 2 * (m + n) + k * (3 * n + 2 * m + 4)) * sizeof(double) +
      static_cast<std::size_t>(2 * (m + n));
  const std::int64_t piece = piece_size(batch.problems, batch.matrix.space(), each);
  for (std::int64_t first = 0; first < batch.problems; first += piece) {
    const std::int64_t count = std::min(piece, batch.problems - first);
    const auto in = [&](Input& input) { return input.piece(first, count, stream.get()); };
    launch.problems = static_cast<int>(count);
    launch.arrays =
        kernels::LpArrays{m,
                          n,
                          batch.objectives,
                          lp_pivot_limit(batch, settings),
                          settings.tolerance,
                          in(cost),
                          in(matrix),
                          in(row_lower),
                          in(row_upper),
                          in(column_lower),
                          in(column_upper),
                          start_piece(start, start_staging, first, count, m + n, stream.get()),
                          solution.piece(first, count),
                          dual.piece(first, count),
                          objective.piece(first, count),
                          status.piece(first, count),
                          pivots.piece(first, count),
                          residual.piece(first, count),
                          settings.certificates ? farkas.piece(first, count) : nullptr,
                          settings.certificates ? ray.piece(first, count) : nullptr,
                          basis.piece(first, count)};
    const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(resident, count));
    launch_kernel("solve_lps", solve_lps, {blocks, WarpLanes::kWidth, shared ? bytes : 0},
                  stream.get(), launch);
    const auto out = [&](auto& output) { output.finish(first, count, stream.get()); };
    out(solution);
    out(dual);
    out(objective);
    out(status);
    out(pivots);
    out(residual);
    if (settings.certificates) {
      out(farkas);
      out(ray);
    }
    out(basis);
    stream.synchronize();
  }
  return result;
}

}  // namespace carom::cuda
