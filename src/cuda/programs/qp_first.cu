#include "cuda/lanes.cuh"
#include "cuda/programs/qp_kernels.hpp"

namespace carom::cuda {

namespace {

constexpr int kFirstThreadVariables = 24;
constexpr int kFirstThreads = 64;
constexpr int kFirstBlockThreads = 256;

/// Pivots: whether a problem may be so small that dual pivots are tried.
template <QpMethod Method, bool Pivots, class Lanes, class Memory>
CAROM_INLINE void run_first(const Lanes& lanes, const QpKernelLaunch& launch, const Memory& memory,
                            int begin, int step) {
  const kernels::QpShape& shape = launch.arrays.shape;
  const kernels::QpTask<Lanes, Memory> task(
      lanes, launch.arrays, kernels::qp_first_parts(Method, shape.variables, shape.rows), memory);
  for (int i = begin; i < launch.count; i += step) {
    const int p = launch.list == nullptr ? i : launch.list[i];
    if (task.template first<Method, Pivots>(p)) continue;
    lanes.for_each(1, [&](int) { launch.rest[Grid::claim(launch.rest_count)] = p; });
  }
}

template <QpMethod Method>
__global__ void __launch_bounds__(kFirstThreads)
    qp_first_threads(const __grid_constant__ QpKernelLaunch launch) {
  const kernels::SingleLane lane;
  run_first<Method, true>(lane, launch,
                          kernels::InterleavedMemory<double>{launch.work + Grid::global_thread(),
                                                             Grid::global_threads()},
                          Grid::global_thread(), Grid::global_threads());
}

template <QpMethod Method>
__global__ void __launch_bounds__(kFirstBlockThreads)
    qp_first_blocks(const __grid_constant__ QpKernelLaunch launch) {
  const BlockLanes lanes;
  const long each =
      kernels::qp_first_parts(Method, launch.arrays.shape.variables, launch.arrays.shape.rows).end;
  static_assert(kFirstThreadVariables >= kernels::kLargestPivotTableVariables);
  run_first<Method, false>(lanes, launch,
                           kernels::PlainMemory<double>{launch.work + Grid::block() * each},
                           Grid::block(), Grid::blocks());
}

}  // namespace

QpPlan plan_first(QpMethod method, const kernels::QpShape& shape) {
  const bool each = shape.variables <= kFirstThreadVariables;
  QpPlan plan{nullptr, each ? kFirstThreads : kFirstBlockThreads, each,
              kernels::qp_first_parts(method, shape.variables, shape.rows).end, 0};
  switch (method) {
    case QpMethod::admm:
      plan.kernel = each ? qp_first_threads<QpMethod::admm> : qp_first_blocks<QpMethod::admm>;
      break;
    case QpMethod::projected:
      plan.kernel =
          each ? qp_first_threads<QpMethod::projected> : qp_first_blocks<QpMethod::projected>;
      break;
    default:
      plan.kernel = each ? qp_first_threads<QpMethod::interior_point>
                         : qp_first_blocks<QpMethod::interior_point>;
  }
  return plan;
}

}  // namespace carom::cuda
