#include "cuda/programs/qp_pivots.hpp"

#include <algorithm>
#include <limits>

#include "cuda/lanes.cuh"
#include "cuda/programs/qp_pivot_judge.cuh"
#include "cuda/programs/qp_pivot_warp.cuh"

/// Dual pivots on problems of the size of four spatial contacts: a warp has one in shared memory
/// and registers.
namespace carom::cuda {

namespace {

constexpr int kVariables = 12;
/// Of a block, where its shared memory has room for their problems.
constexpr int kWarps = 16;

template <int N, int R, bool TwoSided>
class QpPivotTask {
 public:
  CAROM_INLINE QpPivotTask(const QpKernelLaunch& launch, double* memory)
      : launch_(launch), arrays_(launch.arrays), body_(arrays_.shape, memory) {}

  /// Whether problem p, if there is one, is solved, its results written and no more to do. meet():
  /// called as often by all.
  template <class Meet>
  CAROM_INLINE bool run(bool there, long p, Meet&& meet) {
    const kernels::QpTaskSettings& settings = arrays_.settings;
    const int rows = arrays_.shape.rows;
    const bool good = there && load(p);
    const int limit = settings.limit(QpMethod::interior_point, N, rows);
    const int most = 4 * (N + rows);
    const bool solved = body_.solve(good, settings.tolerance, limit < most ? limit : most, meet);
    meet();
    if (!solved) return false;
    const double y = body_.dual();
    QpPivotJudge<N, R> judge(body_.memory(), rows, body_.lower, body_.upper);
    const double residual = judge.residual(y);
    if (!certificate::within(residual, settings.tolerance) ||
        kernels::qp_wants_refinement(WarpLanes(), arrays_, p, residual)) {
      return false;
    }
    write(p, y, residual, judge.objective);
    return true;
  }

 private:
  static constexpr int kStride = QpPivotWarpLayout<N, R>::kStride;
  static constexpr int kWidth = WarpLanes::kWidth;

  CAROM_INLINE static int lane() { return WarpLanes::lane(); }

  /// False where a number is refused.
  CAROM_INLINE bool load(long p) {
    constexpr int kHessian = (N * N + kWidth - 1) / kWidth;
    constexpr int kMatrix = (R * N + kWidth - 1) / kWidth;
    const long m = arrays_.interval_rows;
    const int rows = arrays_.shape.rows;
    const long k = rows - m;
    const double* const of_p = arrays_.hessian + p * N * N;
    const double* const of_a = arrays_.matrix + p * m * N;
    const double* const of_c = arrays_.cone_matrix + p * k * N;
    double hessian[kHessian];
    double matrix[kMatrix];
    double bad = 0.0;  // NaN or infinite where a number is refused
    unrolled<kHessian>([&](auto t) {
      const int e = lane() + kWidth * t;
      const double entry = of_p[e < N * N ? e : N * N - 1];
      hessian[t] = e < N * N ? entry : 0.0;
    });
    const int interval = static_cast<int>(m) * N;
    const int entries = rows * N;
    unrolled<kMatrix>([&](auto t) {  // without branches: all are on their way at the same time
      const int e = lane() + kWidth * t;
      const int there = e < entries ? e : entries - 1;
      const double entry = *(there < interval ? of_a + there : of_c + (there - interval));
      matrix[t] = e < entries ? entry : 0.0;
    });
    const double q = lane() < N ? arrays_.vector[p * N + lane()] : 0.0;
    double lower = -kernels::kInfinity;
    double upper = kernels::kInfinity;
    if (lane() < m) {
      lower = arrays_.lower[p * m + lane()];
      upper = arrays_.upper[p * m + lane()];
      if (!(lower < kernels::kInfinity) || !(upper > -kernels::kInfinity)) bad = kernels::kInfinity;
    } else if (lane() < rows) {
      const double b = arrays_.cone_vector[p * k + lane() - m];
      lower = arrays_.equation[lane()] != 0 ? b : -kernels::kInfinity;
      upper = b;
      bad += b * 0.0;
    }
    body_.lower = lower;
    body_.upper = upper;
    bad += q * 0.0;
    unrolled<kHessian>([&](auto t) { bad += hessian[t] * 0.0; });
    unrolled<kMatrix>([&](auto t) { bad += matrix[t] * 0.0; });
    const auto& to = body_.memory();
    WarpLanes::barrier();
    unrolled<kHessian>([&](auto t) {
      const int e = lane() + kWidth * t;
      const int j = e / N;
      const int i = e % N;
      if (j < N && i <= j) {
        to.hessian[j * kStride + i] = hessian[t];
        to.hessian[i * kStride + j] = hessian[t];
      }
    });
    unrolled<kMatrix>([&](auto t) {
      const int e = lane() + kWidth * t;
      if (e < R * N) to.matrix[e / N * kStride + e % N] = matrix[t];
    });
    if (lane() < N) to.gradient[lane()] = q;
    WarpLanes::barrier();
    return !WarpLanes::any(!(bad == 0.0));
  }

  CAROM_INLINE void write(long p, double y, double residual, double objective) const {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const long m = arrays_.interval_rows;
    const int rows = arrays_.shape.rows;
    const long k = rows - m;
    const int proof = rows > N ? rows : N;
    if (lane() < N) {
      arrays_.solution[p * N + lane()] = body_.memory().x[lane()];
      arrays_.point[p * N + lane()] = nan;
    }
    if (lane() < rows) {
      double* const to =
          lane() < m ? arrays_.dual + p * m + lane() : arrays_.cone_dual + p * k + lane() - m;
      *to = y;
    }
    if (lane() < proof) arrays_.certificate[p * proof + lane()] = nan;
    if (lane() == 0) {
      arrays_.end[p] = kernels::kQpFinal;
      arrays_.status[p] = Status::solved;
      arrays_.method[p] = QpMethod::active_set;
      arrays_.iterations[p] = body_.pivots();
      arrays_.residual[p] = residual;
      arrays_.objective[p] = objective;
    }
  }

  const QpKernelLaunch& launch_;
  const kernels::QpTaskArrays& arrays_;
  QpPivotWarp<N, R, TwoSided> body_;
};

/// A block's warps are at the same place of the text at the same time: one fetches it for all.
template <int N, int R, bool TwoSided>
__global__ void __launch_bounds__(WarpLanes::kWidth* kWarps, 1)
    qp_pivot_warps(const __grid_constant__ QpKernelLaunch launch) {
  const int warps = Grid::threads_per_block() / WarpLanes::kWidth;
  const int warp = Grid::thread() / WarpLanes::kWidth;
  QpPivotTask<N, R, TwoSided> task(launch,
                                   shared_memory() + warp * QpPivotWarpLayout<N, R>::kValues);
  const int each = Grid::blocks() * warps;
  for (int first = 0; first < launch.count; first += each) {
    const int p = first + warp * Grid::blocks() + Grid::block();
    const bool there = p < launch.count;
    const bool done = task.run(there, p, [] { BlockLanes::barrier(); });
    if (there && !done && WarpLanes::lane() == 0) {
      launch.rest[Grid::claim(launch.rest_count)] = p;
    }
  }
}

template <int R>
QpPlan plan_of(bool two_sided, std::size_t shared_per_block) {
  constexpr long kEach = QpPivotWarpLayout<kVariables, R>::kValues;
  const long fit = static_cast<long>(shared_per_block / sizeof(double)) / kEach;
  const int warps = static_cast<int>(std::clamp<long>(fit, 1, kWarps));
  return {two_sided ? qp_pivot_warps<kVariables, R, true> : qp_pivot_warps<kVariables, R, false>,
          WarpLanes::kWidth * warps, false, warps * kEach, std::numeric_limits<std::size_t>::max()};
}

}  // namespace

QpPlan plan_pivots(const kernels::QpTaskArrays& arrays, std::size_t shared_per_block) {
  const kernels::QpShape& shape = arrays.shape;
  if (!kernels::begins_with_pivots(arrays) || shape.variables != kVariables) return {};
  if (shape.equations > 0) return {};
  const bool two_sided = shape.uppers > 0;
  if (shape.rows <= 24) return plan_of<24>(two_sided, shared_per_block);
  if (shape.rows <= 32) return plan_of<32>(two_sided, shared_per_block);
  return {};
}

}  // namespace carom::cuda
