#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "cuda/device_scratch.hpp"
#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"
#include "cuda/programs/qp_large_run.hpp"
#include "cuda/programs/qp_pivots.hpp"
#include "cuda/runtime.hpp"
#include "cuda/staging.hpp"
#include "programs/qp/backends.hpp"
#include "programs/qp/large.hpp"
#include "programs/qp/layout.hpp"
#include "programs/qp/task.hpp"

namespace carom::cuda {

namespace {

constexpr int kPatternThreads = 256;

struct PatternLaunch {
  long problems;
  int variables, rows, cone_rows;
  const double* matrix;
  const double* cone_matrix;
  const double* lower;
  const double* upper;
  std::uint8_t* nonzero;  ///< [rows + cone_rows, n]
  unsigned* sides;        ///< [rows]
};

/// mark(e, flags) with flags_of(p * each + e) of all problems p united, for e < each. Neighbouring
/// threads have neighbouring elements, a thread the same one of many problems.
template <class Flags, class Mark>
__device__ __forceinline__ void unite_elements(long each, long problems, Flags&& flags_of,
                                               Mark&& mark) {
  if (each == 0) return;
  const long threads = Grid::global_threads();
  const long together = threads > each ? threads / each : 1;
  for (long place = Grid::global_thread(); place < together * each; place += threads) {
    unsigned flags = 0;
#if defined(__CUDA_ARCH__)
#pragma unroll 8
#endif
    for (long p = place / each; p < problems; p += together) {
      flags |= flags_of(p * each + place % each);
    }
    if (flags != 0) mark(place % each, flags);
  }
}

/// QpPattern of a batch in device memory.
__global__ void __launch_bounds__(kPatternThreads)
    find_pattern(const __grid_constant__ PatternLaunch launch) {
  const long entries = static_cast<long>(launch.rows) * launch.variables;
  const long cone_entries = static_cast<long>(launch.cone_rows) * launch.variables;
  unite_elements(
      entries, launch.problems, [&](long at) { return launch.matrix[at] != 0.0 ? 1U : 0U; },
      [&](long e, unsigned) { launch.nonzero[e] = 1; });
  unite_elements(
      cone_entries, launch.problems,
      [&](long at) { return launch.cone_matrix[at] != 0.0 ? 1U : 0U; },
      [&](long e, unsigned) { launch.nonzero[entries + e] = 1; });
  unite_elements(
      launch.rows, launch.problems,
      [&](long at) {
        const double lower = launch.lower[at];
        const double upper = launch.upper[at];
        const bool same = lower == upper;
        const bool from_below = !same && kernels::presence(lower) > 0.0;
        const bool from_above = !same && kernels::presence(upper) > 0.0;
        return (same ? unsigned{QpPattern::kEqual} : 0U) |
               (from_below ? unsigned{QpPattern::kLower} : 0U) |
               (from_above ? unsigned{QpPattern::kUpper} : 0U);
      },
      [&](long i, unsigned flags) { Grid::unite(launch.sides + i, flags); });
}

QpPattern pattern_of(const QpBatch& batch, const Stream& stream) {
  if (batch.hessian.space() == MemorySpace::host) return QpPattern(batch);
  for (const Buffer<double>* values :
       {&batch.matrix, &batch.cone_matrix, &batch.lower, &batch.upper}) {
    require_current_device(values->data());
  }
  QpPattern pattern(batch.variables, batch.rows, batch.cone_rows());
  const cudaStream_t s = stream.get();
  DeviceArray<std::uint8_t> nonzero;
  DeviceArray<unsigned> sides;
  std::vector<unsigned> wide(pattern.sides.size(), 0U);
  PatternLaunch launch{batch.problems,
                       batch.variables,
                       batch.rows,
                       batch.cone_rows(),
                       batch.matrix.data(),
                       batch.cone_matrix.data(),
                       batch.lower.data(),
                       batch.upper.data(),
                       nonzero.upload(pattern.nonzero.data(), pattern.nonzero.size(), s),
                       sides.upload(wide.data(), wide.size(), s)};
  const int resident = resident_blocks(reinterpret_cast<const void*>(&find_pattern),
                                       kPatternThreads, 0, device_limits());
  const auto rows = static_cast<std::int64_t>(std::max(batch.rows, batch.cone_rows()));
  const std::int64_t elements = batch.problems * std::max<std::int64_t>(rows * batch.variables, 1);
  const std::int64_t blocks = (elements + kPatternThreads - 1) / kPatternThreads;
  launch_kernel("find_pattern", find_pattern,
                {std::min<std::int64_t>(resident, blocks), kPatternThreads}, s, launch);
  download(pattern.nonzero.data(), nonzero.data(), pattern.nonzero.size(), s);
  download(wide.data(), sides.data(), wide.size(), s);
  stream.synchronize();
  std::transform(wide.begin(), wide.end(), pattern.sides.begin(),
                 [](unsigned flags) { return static_cast<std::uint8_t>(flags); });
  return pattern;
}

struct QpBlock : DeviceBlock {
  using DeviceBlock::DeviceBlock;
  DeviceArray<int> indices;
  DeviceArray<kernels::QpConeSpan> cones;
  DeviceArray<std::uint8_t> kinds;
  DeviceArray<double> work;
  DeviceArray<int> rest, list, count;
};

/// The device's copy of a layout.
class DeviceShape {
 public:
  DeviceShape(const QpLayout& layout, QpBlock& block) : shape_(layout.shape()) {
    const Stream& stream = block.stream;
    const std::vector<int>& host = layout.indices();
    const int* device = block.indices.upload(host.data(), host.size(), stream.get());
    const auto move = [&](const int*& list) { list = device + (list - host.data()); };
    move(shape_.lower_row);
    move(shape_.upper_row);
    move(shape_.equation_row);
    move(shape_.inequality_row);
    move(shape_.cone_column);
    move(shape_.row_first);
    move(shape_.column);
    shape_.hessian_first = shape_.hessian_column = nullptr;
    shape_.cone = block.cones.upload(layout.cones().data(), layout.cones().size(), stream.get());
    equation_ = block.kinds.upload(layout.cone_equations().data(), layout.cone_equations().size(),
                                   stream.get());
    stream.synchronize();
  }
  [[nodiscard]] const kernels::QpShape& shape() const { return shape_; }
  [[nodiscard]] const std::uint8_t* equation() const { return equation_; }

 private:
  kernels::QpShape shape_;
  const std::uint8_t* equation_;
};

/// Launches on the problems of one piece, with lists of what is still open.
class Launcher {
 public:
  Launcher(QpBlock& block, const DeviceLimits& limits)
      : block_(block), stream_(block.stream), limits_(limits) {}

  /// The problems that dual pivots in shared memory leave; all where the shape has none.
  std::optional<std::vector<int>> pivots(const kernels::QpTaskArrays& arrays, int problems) {
    const QpPlan plan = plan_pivots(arrays, limits_.shared_per_block);
    if (plan.kernel == nullptr) return std::nullopt;
    return left_by(plan, arrays, "qp_pivots", problems, nullptr);
  }

  /// The problems of `list` that the method leaves; all of `problems` where it is null.
  std::vector<int> first(const kernels::QpTaskArrays& arrays, QpMethod method, int problems,
                         const std::vector<int>* list) {
    return left_by(plan_first(method, arrays.shape), arrays, "qp_first", problems, list);
  }

  void finish(const kernels::QpTaskArrays& arrays, bool tried, int problems,
              const std::vector<int>* list) {
    QpKernelLaunch launch{};
    launch.arrays = arrays;
    launch.tried = tried;
    use(launch, problems, list);
    run(plan_finish(arrays.shape, launch.count, limits_.shared_per_block), launch, "qp_finish");
  }

 private:
  std::vector<int> left_by(const QpPlan& plan, const kernels::QpTaskArrays& arrays,
                           const char* name, int problems, const std::vector<int>* list) {
    QpKernelLaunch launch{};
    launch.arrays = arrays;
    use(launch, problems, list);
    if (launch.count == 0) return {};
    launch.rest = block_.rest.reserve(static_cast<std::size_t>(launch.count));
    const int none = 0;
    launch.rest_count = block_.count.upload(&none, 1, stream_.get());
    run(plan, launch, name);
    int left = 0;
    download(&left, launch.rest_count, 1, stream_.get());
    stream_.synchronize();
    std::vector<int> rest(static_cast<std::size_t>(left));
    download(rest.data(), launch.rest, rest.size(), stream_.get());
    stream_.synchronize();
    std::sort(rest.begin(), rest.end());  // neighbours in memory stay neighbours
    return rest;
  }

  void use(QpKernelLaunch& launch, int problems, const std::vector<int>* list) {
    launch.count = list == nullptr ? problems : static_cast<int>(list->size());
    launch.list =
        list == nullptr ? nullptr : block_.list.upload(list->data(), list->size(), stream_.get());
  }

  void run(const QpPlan& plan, QpKernelLaunch& launch, const char* name) {
    if (launch.count == 0) return;
    const std::size_t bytes = static_cast<std::size_t>(plan.doubles) * sizeof(double);
    const bool shared = bytes <= plan.shared_limit;
    const std::size_t shared_bytes = shared ? bytes : 0;
    std::int64_t blocks = resident_blocks(reinterpret_cast<const void*>(plan.kernel), plan.threads,
                                          shared_bytes, limits_);
    const std::int64_t wide = plan.thread_each ? plan.threads : 1;
    blocks = std::min<std::int64_t>(blocks, (launch.count + wide - 1) / wide);
    if (!shared) {
      const std::int64_t each = plan.doubles * wide;
      blocks = std::clamp<std::int64_t>(
          static_cast<std::int64_t>(kWorkBytes / sizeof(double)) / each, 1, blocks);
      launch.work = block_.work.reserve(static_cast<std::size_t>(blocks * each));
    }
    launch_kernel(name, plan.kernel, {blocks, plan.threads, shared_bytes}, stream_.get(), launch);
  }

  QpBlock& block_;
  const Stream& stream_;
  DeviceLimits limits_;
};

}  // namespace

/// One method for all, then those that it leaves, proofs included; a batch in device memory stays
/// there.
QpResult solve_qp(const QpBatch& batch, const QpSettings& settings, const QpWarmStart& start,
                  WorkspaceState* workspace) {
  const DeviceScratch<QpBlock> scratch(workspace);
  const Stream& stream = scratch->stream;
  const cudaStream_t s = stream.get();
  const QpLayout layout(batch, batch.problems > 0
                                   ? pattern_of(batch, stream)
                                   : QpPattern(batch.variables, batch.rows, batch.cone_rows()));
  auto result = allocate<QpResult>(batch, batch.hessian.space());
  if (batch.problems == 0) return result;
  const DeviceShape shape(layout, *scratch);
  Launcher launcher(*scratch, device_limits());
  const QpMethod method = kernels::first_method(settings.method);
  const bool large = is_large_qp(batch, settings.method);
  const QpColumns columns = large ? columns_of(layout.shape()) : QpColumns{};

  kernels::QpTaskArrays arrays = qp_task(batch, layout, settings);
  arrays.shape = shape.shape();
  arrays.equation = shape.equation();
  Staging staging(stream, batch.problems, &scratch->staging);
  staging.inputs(arrays, batch, batch);
  staging.inputs(arrays.start, start, batch);
  staging.results(arrays, result, batch);
  staging.scratch(arrays.end, 1);
  std::vector<int> rest;  // until the stream has read it, at the end of the piece
  staging.run([&](std::int64_t, std::int64_t count) {
    const int problems = static_cast<int>(count);
    if (method == QpMethod::active_set || method == QpMethod::lemke) {
      launcher.finish(arrays, false, problems, nullptr);
      return;
    }
    if (large) {
      rest = solve_large_qps_on_device(arrays, columns, count, large_qp_limit(settings), s);
    }
    if (!large || method != QpMethod::admm) {
      const std::optional<std::vector<int>> left = large ? rest : launcher.pivots(arrays, problems);
      rest = launcher.first(arrays, method, problems, left ? &*left : nullptr);
    }
    launcher.finish(arrays, true, problems, &rest);
  });
  return result;
}

}  // namespace carom::cuda
