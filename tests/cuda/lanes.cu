#include "cuda/lanes.hpp"

#include <carom/batch.hpp>
#include <carom/device/packed.hpp>

#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"
#include "cuda/runtime.hpp"

namespace carom::test {

namespace {

struct LanesLaunch {
  const double* numbers;
  int count, columns;
  double* rows;
  LanesSay* say;
};

__global__ void lanes_kernel(const __grid_constant__ LanesLaunch launch) {
  const cuda::WarpLanes lanes;
  const double* x = launch.numbers;
  const int n = launch.count;
  const kernels::ArgMin<double> best =
      kernels::argmin_packed(lanes, n, [&](auto, int i) { return x[i]; });
  const double largest = kernels::largest_packed(lanes, n, [&](auto, int i) { return x[i]; });
  const bool any = kernels::any_packed(lanes, n, [&](auto, int i) { return x[i] < -1.0; });
  const int padded = n / kernels::kPackPadding * kernels::kPackPadding;
  const double sum = kernels::sum_of_all(lanes, padded, [&](auto, int i) { return x[i]; });
  const int columns = launch.columns;
  const int rows = n / columns;
  kernels::each_row_sum(
      lanes, rows, columns, [&](auto, int i, int j) { return x[i * columns + j]; },
      [&](int i, double total) { launch.rows[i] = total; });
  kernels::each_row_dot(
      lanes, rows, columns, [&](int i) { return x + i * columns; }, x,
      [&](int i, const kernels::DotAndSize& sums) {
        launch.rows[rows + i] = sums.dot;
        launch.rows[2 * rows + i] = sums.size;
      });
  lanes.for_each(1, [&](int) { *launch.say = {best.key, best.index, largest, any ? 1 : 0, sum}; });
}

}  // namespace

LanesSay lanes_on_device(const std::vector<double>& numbers, int columns,
                         std::vector<double>& rows) {
  const int n = static_cast<int>(numbers.size());
  const Buffer<double> x = Buffer<double>::from(numbers).to(MemorySpace::device);
  Buffer<double> out(static_cast<std::size_t>(3 * (n / columns) + 1), MemorySpace::device);
  Buffer<LanesSay> say(1, MemorySpace::device);
  const cuda::Stream stream;
  cuda::launch_kernel("lanes_kernel", lanes_kernel, {1, 32}, stream.get(),
                      LanesLaunch{x.data(), n, columns, out.data(), say.data()});
  stream.synchronize();
  rows = out.to_vector();
  rows.pop_back();
  return say.to_vector().front();
}

}  // namespace carom::test
