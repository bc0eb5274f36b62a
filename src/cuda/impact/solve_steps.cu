#include <algorithm>
#include <limits>

#include <carom/certificate.hpp>
#include <carom/impact.hpp>

#include "core/pointers.hpp"
#include "cuda/device_scratch.hpp"
#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"
#include "cuda/runtime.hpp"
#include "cuda/staging.hpp"
#include "impact/backends.hpp"
#include "impact/body/contact_path_body.hpp"
#include "impact/body/step_lcp.hpp"
#include "impact/friction_polygon.hpp"
#include "programs/lcp/body/lemke_body.hpp"

namespace carom::cuda {

namespace {

constexpr int kCorrections = 3;

struct StepLaunch : StepBatchArrays<ConstPointer> {
  int problems;
  int contacts;
  kernels::FrictionPolygon polygon;
  Selection selection;
  double tolerance;
  StepResultArrays<Pointer> result;
  double* lemke_work;  ///< for each block; null where it lies in shared memory
  int* lemke_int_work;
};

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
            rows * rows + 2 * rows + 2 * m,
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
        scaled_u_(scaled_ + static_cast<long>(rows_) * rows_),
        scaled_impulse_(scaled_u_ + rows_),
        scaled_limit_(scaled_impulse_ + rows_),
        scale_(scaled_limit_ + m_),
        reals_(scale_ + m_),
        ints_(reinterpret_cast<int*>(reals_ + size_.solver_reals(launch.lemke_work == nullptr))) {}

  __device__ void solve(int p) {
    delassus_ = launch_.delassus + static_cast<long>(p) * rows_ * rows_;
    u_ = launch_.contact_velocity + static_cast<long>(p) * rows_;
    friction_ = launch_.friction + static_cast<long>(p) * m_;
    limit_ = launch_.max_impulse + static_cast<long>(p) * m_;
    impulse_ = launch_.result.impulse + static_cast<long>(p) * rows_;
    next_ = launch_.result.contact_velocity + static_cast<long>(p) * rows_;
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    Status status = Status::invalid_input;
    double residual = kNan;
    int pivots = 0;
    bool fallback = false;
    if (acceptable()) {
      scale();
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
    if (status != Status::solved && status != Status::inaccurate) {
      lanes_.for_each(rows_, [&](int i) {
        impulse_[i] = kNan;
        next_[i] = kNan;
      });
    }
    lanes_.for_each(1, [&](int) {
      launch_.result.status[p] = status;
      launch_.result.pivots[p] = pivots;
      launch_.result.fallback[p] = fallback ? 1 : 0;
      launch_.result.residual[p] = residual;
    });
  }

 private:
  template <class Good>
  __device__ bool all(const double* values, int count, Good&& good) const {
    return lanes_
               .argmin(count, kernels::kInfinity,
                       [&](int i) { return good(values[i]) ? kernels::kInfinity : 0.0; })
               .index < 0;
  }

  __device__ bool acceptable() const {
    const auto finite = [](double x) { return kernels::is_finite(x); };
    return all(delassus_, rows_ * rows_, finite) && all(u_, rows_, finite) &&
           all(limit_, m_, [](double x) { return x >= 0.0; }) &&
           all(friction_, m_, [](double x) { return x >= 0.0 && kernels::is_finite(x); });
  }

  __device__ int contact_of(int row) const { return row < m_ ? row : (row - m_) / (Dim - 1); }

  __device__ void scale() {
    lanes_.for_each(m_, [&](int i) {
      scale_[i] = kernels::contact_scale<Dim>(delassus_, m_, i);
      scaled_limit_[i] = limit_[i] / scale_[i];
    });
    lanes_.for_each(rows_, [&](int i) { scaled_u_[i] = u_[i] * scale_[contact_of(i)]; });
    lanes_.for_each_2d(rows_, rows_, [&](int i, int j) {
      const long at = static_cast<long>(i) * rows_ + j;
      scaled_[at] = delassus_[at] * scale_[contact_of(i)] * scale_[contact_of(j)];
    });
  }

  /// Largest natural residual at impulse_, relative to max|w|; fills next_.
  __device__ double certify() const {
    lanes_.for_each(rows_, [&](int i) {
      double sum = u_[i];
      for (int j = 0; j < rows_; ++j) {
        sum = kernels::fused(delassus_[static_cast<long>(i) * rows_ + j], impulse_[j], sum);
      }
      next_[i] = sum;
    });
    certificate::MaxAbs<> worst;
    certificate::MaxAbs<> scale;
    for (int i = 0; i < rows_; ++i) scale.add(u_[i]);
    for (int i = 0; i < m_; ++i) {
      const int t = m_ + (Dim - 1) * i;
      if (limit_[i] < kernels::kInfinity) scale.add(limit_[i]);
      worst.add(certificate::contact_residual<Dim, double>(launch_.polygon, friction_[i], i, t,
                                                           limit_, impulse_, next_));
    }
    return worst.value / (scale.value < certificate::kTiny ? certificate::kTiny : scale.value);
  }

  __device__ bool by_path(int& pivots, double& residual, int attempt = 0) {
    kernels::ContactPath<Dim, double, WarpLanes> path(lanes_, m_, launch_.polygon, friction_,
                                                      reals_, ints_);
    const kernels::PathOutcome outcome =
        path.run(scaled_, scaled_u_, scaled_limit_, 12 * rows_ + 20, scaled_impulse_, attempt);
    pivots += outcome.pivots;
    for (int correction = 0; outcome.found && correction <= kCorrections; ++correction) {
      if (correction > 0 && !path.correct(scaled_, scaled_u_, scaled_impulse_)) break;
      lanes_.for_each(rows_,
                      [&](int i) { impulse_[i] = scaled_impulse_[i] * scale_[contact_of(i)]; });
      residual = certify();
      if (certificate::within(residual, launch_.tolerance)) return true;
    }
    return false;
  }

  __device__ Status by_lemke(int& pivots, double& residual) {
    const bool bounded = !all(limit_, m_, [](double x) { return !kernels::is_finite(x); });
    const kernels::StepLcp<Dim> lcp{m_,        &launch_.polygon, scaled_, scale_,
                                    friction_, limit_,           u_,      bounded};
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
    residual = certify();
    if (certificate::within(residual, launch_.tolerance)) return Status::solved;
    return kernels::is_finite(residual) ? Status::inaccurate : Status::numerical_error;
  }

  const WarpLanes& lanes_;
  const StepLaunch& launch_;
  int m_;
  int rows_;
  StepSize<Dim> size_;
  double *scaled_, *scaled_u_, *scaled_impulse_, *scaled_limit_, *scale_, *reals_;
  int* ints_;
  const double *delassus_ = nullptr, *u_ = nullptr, *friction_ = nullptr, *limit_ = nullptr;
  double *impulse_ = nullptr, *next_ = nullptr;
};

/// A block is one warp and solves problems in turn.
template <int Dim>
__global__ void __launch_bounds__(WarpLanes::kWidth)
    step_problems(const __grid_constant__ StepLaunch launch) {
  const WarpLanes lanes;
  StepSolver<Dim> solver(lanes, launch);
  for (int p = Grid::block(); p < launch.problems; p += Grid::blocks()) solver.solve(p);
}

template <int Dim>
StepResult solve(const StepBatch& batch, const StepSettings& settings, WorkspaceState* workspace) {
  const int m = batch.contacts;
  const std::int64_t rows = static_cast<std::int64_t>(Dim) * m;
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
  staging.inputs(launch, batch, batch);
  staging.results(launch.result, result, batch);
  staging.run([&](std::int64_t, std::int64_t count) {
    launch.problems = static_cast<int>(count);
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
