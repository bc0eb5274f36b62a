#include <algorithm>
#include <limits>

#include "cuda/device_scratch.hpp"
#include "cuda/impact/step_task.cuh"
#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"
#include "cuda/runtime.hpp"
#include "cuda/staging.hpp"
#include "impact/backends.hpp"
#include "impact/friction_polygon.hpp"
#include "impact/kernels/contact_path.hpp"
#include "programs/lcp/kernels/lemke.hpp"

namespace carom::cuda {

namespace {

constexpr int kCorrections = 3;

/// Scratch of one warp: the scaled problem, then the path, over which Lemke's tableau may lie.
template <int Dim>
struct StepSize {
  int order;
  long scaled;
  long path_reals, path_ints;
  long lemke_reals, lemke_ints;

  CAROM_HOST_DEVICE static StepSize of(int m, int directions) {
    const long rows = static_cast<long>(Dim) * m;
    const int order = kernels::step_lcp_order<Dim>(m, directions);
    return {order,
            rows * rows + kernels::values_of<StepVectors>(rows, static_cast<long>(m)),
            kernels::path_real_workspace(Dim, m),
            kernels::path_int_workspace(Dim, m),
            order + kernels::lemke_real_workspace(order),
            kernels::lemke_int_workspace(order)};
  }
  /// Solver memory in shared memory, where it holds Lemke's tableau or only the path's.
  CAROM_HOST_DEVICE long solver_reals(bool with_lemke) const {
    return with_lemke && lemke_reals > path_reals ? lemke_reals : path_reals;
  }
  CAROM_HOST_DEVICE long solver_ints(bool with_lemke) const {
    return with_lemke && lemke_ints > path_ints ? lemke_ints : path_ints;
  }
  [[nodiscard]] std::size_t shared_bytes(bool with_lemke) const {
    return static_cast<std::size_t>(scaled + solver_reals(with_lemke)) * sizeof(double) +
           static_cast<std::size_t>(solver_ints(with_lemke)) * sizeof(int);
  }
};

/// One problem of the batch on one warp.
template <int Dim>
class StepSolver {
 public:
  __device__ StepSolver(const WarpLanes& lanes, const StepLaunch& launch)
      : lanes_(lanes),
        launch_(launch),
        m_(launch.contacts),
        rows_(Dim * launch.contacts),
        size_(StepSize<Dim>::of(launch.contacts, launch.polygon.count)),
        scaled_(shared_memory()),
        task_(lanes, launch, m_, scaled_ + static_cast<long>(rows_) * rows_),
        reals_(scaled_ + size_.scaled),
        ints_(reinterpret_cast<int*>(reals_ + size_.solver_reals(launch.lemke_work == nullptr))) {}

  __device__ void solve(int p) {
    task_.take(p);
    impulse_ = task_.impulse_of(p);
    next_ = task_.next_u_of(p);
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    Status status = Status::invalid_input;
    double residual = kNan;
    int pivots = 0;
    bool fallback = false;
    if (task_.acceptable()) {
      task_.scale();
      const kernels::ScaledDelassus<Dim> scaled{task_.delassus, task_.vectors.scale, m_};
      lanes_.for_each_2d(rows_, rows_, [&](int i, int j) {
        scaled_[static_cast<long>(i) * rows_ + j] = entry(scaled, rows_, i, j);
      });
      status = Status::iteration_limit;
      if (launch_.selection == Selection::any && by_path(pivots, residual)) {
        status = Status::solved;
      }
      if (status != Status::solved) {
        fallback = launch_.selection == Selection::any;
        status = by_lemke(pivots, residual);
      }
      // What rounding kept Lemke from is tried along other paths.
      for (int attempt = 1; status != Status::solved && attempt <= kernels::kPathAttempts;
           ++attempt) {
        fallback = true;
        if (by_path(pivots, residual, attempt)) {
          status = Status::solved;
        } else {
          if (status == Status::inaccurate) status = Status::iteration_limit;
          residual = kNan;
        }
      }
    }
    if (status != Status::solved && status != Status::inaccurate) task_.store_no_answer(p);
    task_.store(p, status, pivots, fallback, residual);
  }

 private:
  __device__ bool by_path(int& pivots, double& residual, int attempt = 0) {
    const StepVectors<double*>& at = task_.vectors;
    kernels::ContactPath<Dim, double, WarpLanes> path(lanes_, m_, launch_.polygon, task_.friction,
                                                      reals_, ints_);
    const kernels::PathOutcome outcome = path.run(scaled_, at.scaled_u, at.scaled_limit,
                                                  12 * rows_ + 20, at.scaled_impulse, attempt);
    pivots += outcome.pivots;
    for (int correction = 0; outcome.found && correction <= kCorrections; ++correction) {
      if (correction > 0 && !path.correct(scaled_, at.scaled_u, at.scaled_impulse)) break;
      task_.unscale(impulse_);
      residual = task_.certify(launch_.polygon, impulse_, next_);
      if (certificate::within(residual, launch_.tolerance)) return true;
    }
    return false;
  }

  __device__ Status by_lemke(int& pivots, double& residual) {
    bool finite = false;
    lanes_.for_each(m_, [&](int i) { finite = finite || kernels::is_finite(task_.limit[i]); });
    const bool bounded = lanes_.any(finite);
    const kernels::StepLcp<Dim> lcp{
        m_,          &launch_.polygon, scaled_, task_.vectors.scale, task_.friction,
        task_.limit, task_.u,          bounded};
    const int n = lcp.order();
    double* z = reals_;
    int* ints = ints_;
    if (launch_.lemke_work != nullptr) {
      z = launch_.lemke_work + Grid::block() * size_.lemke_reals;
      ints = launch_.lemke_int_work + Grid::block() * size_.lemke_ints;
    }
    kernels::Lemke<WarpLanes> lemke(lanes_, n, z + size_.order, ints);
    const kernels::LemkeOutcome outcome =
        lemke.run([&](int i, int j) { return lcp.entry(i, j); },
                  [&](int i) { return lcp.vector(i); }, 50 * (n + 1), z);
    pivots += outcome.pivots;
    residual = std::numeric_limits<double>::quiet_NaN();
    if (outcome.status != Status::solved) return outcome.status;
    lanes_.for_each(rows_, [&](int i) { impulse_[i] = lcp.impulse(z, i); });
    residual = task_.certify(launch_.polygon, impulse_, next_);
    if (certificate::within(residual, launch_.tolerance)) return Status::solved;
    return kernels::is_finite(residual) ? Status::inaccurate : Status::numerical_error;
  }

  const WarpLanes& lanes_;
  const StepLaunch& launch_;
  int m_;
  int rows_;
  StepSize<Dim> size_;
  double* scaled_;
  StepTask<Dim, WarpLanes> task_;
  double* reals_;
  int* ints_;
  double *impulse_ = nullptr, *next_ = nullptr;
};

/// A block is one warp and solves problems in turn, those that are open where groups came first.
template <int Dim>
__global__ void __launch_bounds__(WarpLanes::kWidth)
    step_problems(const __grid_constant__ StepLaunch launch) {
  const WarpLanes lanes;
  StepSolver<Dim> solver(lanes, launch);
  const int count = launch.open != nullptr ? *launch.open_count : launch.problems;
  for (int turn = Grid::block(); turn < count; turn += Grid::blocks()) {
    solver.solve(launch.open != nullptr ? launch.open[turn] : turn);
  }
}

template <int Dim>
StepResult solve(const StepBatch& batch, const StepSettings& settings, WorkspaceState* workspace) {
  const int m = batch.contacts;
  auto result = allocate<StepResult>(batch, batch.delassus.space());
  if (batch.problems == 0) return result;

  const DeviceScratch<> scratch(workspace);
  const Stream& stream = scratch->stream;
  const DeviceLimits limits = device_limits();
  StepLaunch launch{};
  launch.contacts = m;
  launch.polygon = friction_polygon(Dim, settings.friction_directions);
  launch.selection = settings.selection;
  launch.tolerance = settings.tolerance;
  const StepSize<Dim> size = StepSize<Dim>::of(m, launch.polygon.count);
  const bool together = size.shared_bytes(true) <= limits.shared_per_block;
  const std::size_t bytes = size.shared_bytes(together);
  std::int64_t blocks = std::min<std::int64_t>(
      batch.problems, resident_blocks(reinterpret_cast<const void*>(&step_problems<Dim>),
                                      WarpLanes::kWidth, bytes, limits));
  Staging staging(stream, batch.problems, &scratch->staging);
  if (!together) {
    const std::size_t each = static_cast<std::size_t>(size.lemke_reals) * sizeof(double);
    blocks =
        std::min(blocks, std::max<std::int64_t>(1, static_cast<std::int64_t>(kWorkBytes / each)));
    staging.memory(launch.lemke_work, blocks * size.lemke_reals);
    staging.memory(launch.lemke_int_work, blocks * size.lemke_ints);
  }
  StepGroupKernel groups{};
  if (settings.selection == Selection::any) groups = step_group_kernel(Dim, m);
  std::int64_t group_blocks = 0;
  if (groups.kernel != nullptr) {
    group_blocks = resident_blocks(reinterpret_cast<const void*>(groups.kernel), WarpLanes::kWidth,
                                   groups.shared_bytes, limits);
    staging.scratch(launch.open, 1);
    staging.memory(launch.open_count, 1);
  }
  staging.inputs(launch, batch, batch);
  staging.results(launch.result, result, batch);
  staging.alternate([&](std::int64_t, std::int64_t count) {
    launch.problems = static_cast<int>(count);
    if (groups.kernel != nullptr) {
      check(cudaMemsetAsync(launch.open_count, 0, sizeof(int), stream.get()), "cudaMemsetAsync");
      const std::int64_t wanted = (count + groups.problems - 1) / groups.problems;
      launch_kernel("step_groups", groups.kernel,
                    {std::min(group_blocks, wanted), WarpLanes::kWidth, groups.shared_bytes},
                    stream.get(), launch);
    }
    launch_kernel("step_problems", step_problems<Dim>,
                  {std::min(blocks, count), WarpLanes::kWidth, bytes}, stream.get(), launch);
  });
  return result;
}

}  // namespace

StepResult solve_steps(const StepBatch& batch, const StepSettings& settings,
                       WorkspaceState* workspace) {
  return batch.dimension == 2 ? solve<2>(batch, settings, workspace)
                              : solve<3>(batch, settings, workspace);
}

}  // namespace carom::cuda
