#include <algorithm>
#include <vector>

#include <carom/certificate_qp.hpp>
#include <carom/kernels/admm_qp_body.hpp>
#include <carom/kernels/projected_qp_body.hpp>
#include <carom/kernels/qp_interior_point_body.hpp>

#include "cpu/qp_driver.hpp"
#include "cuda/lanes.cuh"
#include "cuda/runtime.hpp"
#include "cuda/solver_batch.hpp"
#include "qp_backends.hpp"
#include "qp_layout.hpp"

namespace carom::cuda {

namespace {

/// A thread has a problem to itself up to this many variables; a block shares a larger one.
constexpr int kThreadVariables = 24;
constexpr int kThreads = 64;
constexpr int kBlockThreads = 256;

struct QpLaunch {
  int problems;
  kernels::QpShape shape;  ///< its arrays in device memory
  int interval_rows;
  const std::uint8_t* row_kind;
  const double* hessian;
  const double* vector;
  const double* matrix;
  const double* lower;
  const double* upper;
  const double* cone_matrix;
  const double* cone_vector;
  const double* start_solution;
  const double* start_dual;
  const double* start_cone_dual;
  kernels::QpFirstOrderOptions options;
  double* solution;
  double* multiplier;
  double* objective;
  std::uint8_t* end;
  std::int32_t* iterations;
  double* residual;
  double* work;  ///< [qp_parts().end] for each thread, interleaved, or for each block
};

/// A block's threads on one problem. Bodies with argmin do not run on it.
struct QpBlockLanes : BlockLanes {
  template <class F>
  CAROM_INLINE void for_each_2d(int rows, int columns, F&& f) const {
    for_each(rows * columns, [&](int e) { f(e / columns, e % columns); });
  }
};

template <class Lanes, class Memory>
struct QpRun {
  const Lanes& lanes;
  const QpLaunch& launch;
  Memory memory;
  cpu::simd::QpParts parts;

  using View = kernels::QpView<Memory>;

  CAROM_HOST_DEVICE View view() const {
    return {memory + parts.hessian, memory + parts.gradient, memory + parts.matrix,
            memory + parts.lower, memory + parts.upper};
  }

  /// Copies problem p; false where a number is refused.
  CAROM_HOST_DEVICE bool load(long p) const {
    const kernels::QpShape& shape = launch.shape;
    const long n = shape.variables;
    const long m = launch.interval_rows;
    const long k = shape.rows - m;
    const View to = view();
    lanes.for_each(shape.variables, [&](int i) {
      for (int j = 0; j <= i; ++j) to.hessian[i * n + j] = launch.hessian[(p * n + i) * n + j];
      to.gradient[i] = launch.vector[p * n + i];
    });
    lanes.for_each(shape.rows, [&](int i) {
      const double* row =
          i < m ? launch.matrix + (p * m + i) * n : launch.cone_matrix + (p * k + i - m) * n;
      for (int j = 0; j < n; ++j) to.matrix[i * n + j] = row[j];
      if (i < m) {
        to.lower[i] = launch.lower[p * m + i];
        to.upper[i] = launch.upper[p * m + i];
      } else {
        const double b = launch.cone_vector[p * k + i - m];
        const bool equation = launch.row_kind[i] == static_cast<std::uint8_t>(QpRowKind::equation);
        to.lower[i] = equation ? b : -kernels::kInfinity;
        to.upper[i] = b;
      }
    });
    double sum = 0.0;  // NaN once something was refused
    for (int i = 0; i < shape.variables; ++i) {
      for (int j = 0; j <= i; ++j) sum += to.hessian[i * n + j] * 0.0;
      sum += to.gradient[i] * 0.0;
    }
    for (int i = 0; i < shape.rows; ++i) {
      for (int j = 0; j < n; ++j) sum += to.matrix[i * n + j] * 0.0;
      if (i >= m) sum += to.upper[i] * 0.0;
      if (!(to.lower[i] < kernels::kInfinity) || !(to.upper[i] > -kernels::kInfinity)) return false;
    }
    return sum == 0.0;
  }

  template <class Body>
  CAROM_HOST_DEVICE void keep(const Body& body) const {
    const Memory x = memory + parts.x;
    const Memory y = memory + parts.y;
    lanes.for_each(launch.shape.variables, [&](int j) { x[j] = body.solution(j); });
    lanes.for_each(launch.shape.rows, [&](int i) { y[i] = body.dual(i); });
  }

  template <QpMethod Method>
  CAROM_HOST_DEVICE kernels::QpOutcome<double> run(long p) const {
    const kernels::QpShape& shape = launch.shape;
    if constexpr (Method == QpMethod::interior_point) {
      kernels::QpInteriorPoint<double, Lanes, Memory> body(lanes, shape, memory + parts.body);
      const auto outcome =
          body.solve(view(), {launch.options.tolerance, launch.options.max_iterations, true});
      keep(body);
      return outcome;
    } else {
      const long n = shape.variables;
      const long m = launch.interval_rows;
      const long k = shape.rows - m;
      const Memory x = memory + parts.x;
      const Memory y = memory + parts.y;
      lanes.for_each(shape.variables, [&](int j) {
        x[j] = launch.start_solution == nullptr ? 0.0 : launch.start_solution[p * n + j];
      });
      lanes.for_each(shape.rows, [&](int i) {
        const bool cone = i >= m;
        const double* from = cone ? launch.start_cone_dual : launch.start_dual;
        y[i] = from == nullptr ? 0.0 : from[cone ? p * k + i - m : p * m + i];
      });
      if constexpr (Method == QpMethod::admm) {
        kernels::AdmmQp<double, Lanes, Memory> body(lanes, shape, memory + parts.body);
        const auto outcome = body.solve(view(), launch.options, x, y);
        keep(body);
        return outcome;
      } else {
        kernels::ProjectedQp<double, Lanes, Memory> body(lanes, shape, memory + parts.body);
        const auto outcome = body.solve(view(), launch.options, x, y);
        keep(body);
        return outcome;
      }
    }
  }

  template <QpMethod Method>
  CAROM_HOST_DEVICE void solve(long p) const {
    const kernels::QpShape& shape = launch.shape;
    if (!load(p)) {
      lanes.for_each(1, [&](int) {
        launch.end[p] = cpu::simd::kInvalidEnd;
        launch.iterations[p] = 0;
      });
      return;
    }
    const kernels::QpOutcome<double> outcome = run<Method>(p);
    const certificate::QpUnits<Memory> units{memory + parts.column_unit, memory + parts.row_unit};
    // One lane judges: the certificate knows nothing of lanes.
    lanes.for_each(1, [&](int) {
      certificate::qp_units<double>(shape, view(), units);
      const auto judged = certificate::qp_residual<double>(shape, view(), units, memory + parts.x,
                                                           memory + parts.y, memory + parts.work);
      launch.end[p] = static_cast<std::uint8_t>(outcome.end);
      launch.iterations[p] = static_cast<std::int32_t>(outcome.iterations);
      launch.residual[p] = judged.value();
      launch.objective[p] = judged.objective;
    });
    const Memory x = memory + parts.x;
    const Memory y = memory + parts.y;
    lanes.for_each(shape.variables,
                   [&](int j) { launch.solution[p * shape.variables + j] = x[j]; });
    lanes.for_each(shape.rows, [&](int i) { launch.multiplier[p * shape.rows + i] = y[i]; });
  }
};

template <QpMethod Method>
__global__ void __launch_bounds__(kThreads) qp_threads(const __grid_constant__ QpLaunch launch) {
  using Memory = kernels::InterleavedMemory<double>;
  const kernels::SingleLane lane;
  const long threads = Grid::global_threads();
  const QpRun<kernels::SingleLane, Memory> run{
      lane, launch, Memory{launch.work + Grid::global_thread(), threads},
      cpu::simd::qp_parts(launch.shape.variables, launch.shape.rows)};
  for (long p = Grid::global_thread(); p < launch.problems; p += threads) {
    run.template solve<Method>(p);
  }
}

template <QpMethod Method>
__global__ void __launch_bounds__(kBlockThreads)
    qp_blocks(const __grid_constant__ QpLaunch launch) {
  using Memory = kernels::PlainMemory<double>;
  const QpBlockLanes lanes;
  const cpu::simd::QpParts parts = cpu::simd::qp_parts(launch.shape.variables, launch.shape.rows);
  const QpRun<QpBlockLanes, Memory> run{lanes, launch,
                                        Memory{launch.work + Grid::block() * parts.end}, parts};
  for (long p = Grid::block(); p < launch.problems; p += Grid::blocks()) {
    run.template solve<Method>(p);
  }
}

using Kernel = void (*)(const QpLaunch);
Kernel kernel_of(QpMethod method, bool threads) {
  switch (method) {
    case QpMethod::admm:
      return threads ? qp_threads<QpMethod::admm> : qp_blocks<QpMethod::admm>;
    case QpMethod::projected:
      return threads ? qp_threads<QpMethod::projected> : qp_blocks<QpMethod::projected>;
    default:
      return threads ? qp_threads<QpMethod::interior_point> : qp_blocks<QpMethod::interior_point>;
  }
}

/// The device's copy of a layout.
class DeviceShape {
 public:
  kernels::QpShape upload(const cpu::simd::QpRange& range, cudaStream_t stream) {
    const kernels::QpShape& host = *range.shape;
    kernels::QpShape shape = host;
    const auto rows = static_cast<std::size_t>(host.rows);
    std::vector<int> values;
    std::vector<std::size_t> starts;
    const auto add = [&](const int* from, std::size_t count) {
      starts.push_back(values.size());
      values.insert(values.end(), from, from + count);
    };
    add(host.lower_row, static_cast<std::size_t>(host.lowers));
    add(host.upper_row, static_cast<std::size_t>(host.uppers));
    add(host.equation_row, static_cast<std::size_t>(host.equations));
    const int columns = host.cones > 0 ? host.cone[host.cones - 1].column_last : 0;
    add(host.cone_column, static_cast<std::size_t>(columns));
    add(host.row_first, rows + 1);
    add(host.column, static_cast<std::size_t>(host.row_first[rows]));
    const int* device = indices_.upload(values.data(), values.size(), stream);
    shape.lower_row = device + starts[0];
    shape.upper_row = device + starts[1];
    shape.equation_row = device + starts[2];
    shape.cone_column = device + starts[3];
    shape.row_first = device + starts[4];
    shape.column = device + starts[5];
    shape.cone = cones_.upload(host.cone, static_cast<std::size_t>(host.cones), stream);
    // The lists leave this function's scope.
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    return shape;
  }
  const std::uint8_t* kinds(const cpu::simd::QpRange& range, cudaStream_t stream) {
    return kinds_.upload(range.row_kind, static_cast<std::size_t>(range.shape->rows), stream);
  }

 private:
  DeviceArray<int> indices_;
  DeviceArray<kernels::QpConeSpan> cones_;
  DeviceArray<std::uint8_t> kinds_;
};

/// All problems of a range, piece by piece.
void solve_range(const cpu::simd::QpRange& range) {
  const Stream stream;
  const cudaStream_t s = stream.get();
  const kernels::QpShape& shape = *range.shape;
  const std::int64_t n = shape.variables;
  const std::int64_t m = range.interval_rows;
  const std::int64_t rows = shape.rows;
  const std::int64_t k = rows - m;
  QpLaunch launch{};
  DeviceShape device_shape;
  launch.shape = device_shape.upload(range, s);
  launch.row_kind = device_shape.kinds(range, s);
  launch.interval_rows = range.interval_rows;
  launch.options.tolerance = range.tolerance;
  launch.options.max_iterations = range.max_iterations;
  launch.options.polish = range.polish;
  launch.options.over_relaxation = range.over_relaxation;
  launch.options.penalty = range.penalty;

  const bool threads = shape.variables <= kThreadVariables;
  const int width = threads ? kThreads : kBlockThreads;
  const Kernel kernel = kernel_of(range.method, threads);
  const DeviceLimits limits = device_limits();
  const std::int64_t each = cpu::simd::qp_parts(n, rows).end;
  const std::int64_t per_block = threads ? each * width : each;
  std::int64_t blocks = resident_blocks(reinterpret_cast<const void*>(kernel), width, 0, limits);
  blocks = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(kWorkBytes / sizeof(double)) / per_block, 1, blocks);
  const std::int64_t problems = range.end - range.begin;
  const std::int64_t wanted = threads ? (problems + width - 1) / width : problems;
  blocks = std::min(blocks, wanted);
  DeviceArray<double> work;
  launch.work = work.reserve(static_cast<std::size_t>(blocks * per_block));

  struct Staged {
    const double* host;
    std::int64_t stride;
    const double** device;
    DeviceArray<double> staging{};
  };
  Staged inputs[] = {{range.hessian, n * n, &launch.hessian},
                     {range.vector, n, &launch.vector},
                     {range.matrix, m * n, &launch.matrix},
                     {range.lower, m, &launch.lower},
                     {range.upper, m, &launch.upper},
                     {range.cone_matrix, k * n, &launch.cone_matrix},
                     {range.cone_vector, k, &launch.cone_vector},
                     {range.start_solution, n, &launch.start_solution},
                     {range.start_dual, m, &launch.start_dual},
                     {range.start_cone_dual, k, &launch.start_cone_dual}};
  DeviceArray<double> solution;
  DeviceArray<double> multiplier;
  DeviceArray<double> objective;
  DeviceArray<double> residual;
  DeviceArray<std::uint8_t> end;
  DeviceArray<std::int32_t> iterations;
  const std::int64_t piece =
      piece_size(problems, MemorySpace::host,
                 static_cast<std::size_t>(n * n + 3 * n + rows * n + 5 * rows) * sizeof(double));
  for (std::int64_t first = range.begin; first < range.end; first += piece) {
    const std::int64_t count = std::min(piece, range.end - first);
    const auto size = static_cast<std::size_t>(count);
    launch.problems = static_cast<int>(count);
    for (Staged& input : inputs) {
      *input.device = nullptr;
      if (input.host == nullptr) continue;
      *input.device = input.staging.upload(input.host + first * input.stride,
                                           size * static_cast<std::size_t>(input.stride), s);
    }
    launch.solution = solution.reserve(size * static_cast<std::size_t>(n));
    launch.multiplier = multiplier.reserve(size * static_cast<std::size_t>(rows));
    launch.objective = objective.reserve(size);
    launch.residual = residual.reserve(size);
    launch.end = end.reserve(size);
    launch.iterations = iterations.reserve(size);
    kernel<<<static_cast<unsigned>(std::min(blocks, threads ? (count + width - 1) / width : count)),
             static_cast<unsigned>(width), 0, s>>>(launch);
    check_launch("solve_qps");
    download(range.solution + first * n, solution.data(), size * static_cast<std::size_t>(n), s);
    download(range.multiplier + (first - range.begin) * rows, multiplier.data(),
             size * static_cast<std::size_t>(rows), s);
    download(range.objective + first, objective.data(), size, s);
    download(range.residual + first, residual.data(), size, s);
    download(range.end_code + (first - range.begin), end.data(), size, s);
    download(range.iterations + first, iterations.data(), size, s);
    stream.synchronize();
  }
}

QpWarmStart host_copy(const QpWarmStart& start) {
  return {start.solution.to(MemorySpace::host), start.dual.to(MemorySpace::host),
          start.cone_dual.to(MemorySpace::host)};
}

}  // namespace

/// The device solves and judges; the host proves what is infeasible, unbounded or nonconvex, and
/// takes what the first method leaves. A batch in device memory therefore passes through the host.
QpResult solve_qp(const QpBatch& batch, const QpSettings& settings, const QpWarmStart& start) {
  const std::int64_t all = std::max<std::int64_t>(batch.problems, 1);
  const auto no_workspace = [](const QpLayout&) { return 0L; };
  if (batch.hessian.space() == MemorySpace::host) {
    return cpu::drive_qp(batch, settings, start, solve_range, all, no_workspace);
  }
  const QpBatch host = batch.to(MemorySpace::host);
  QpResult result = cpu::drive_qp(host, settings, host_copy(start), solve_range, all, no_workspace);
  const auto back = [](auto& values) { values = values.to(MemorySpace::device); };
  back(result.solution);
  back(result.dual);
  back(result.cone_dual);
  back(result.objective);
  back(result.status);
  back(result.method);
  back(result.iterations);
  back(result.residual);
  back(result.certificate);
  return result;
}

}  // namespace carom::cuda
