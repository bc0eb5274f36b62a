#include "cuda/impact/step_task.cuh"
#include "cuda/lanes.cuh"
#include "impact/body/contact_path_body.hpp"

/// Steps of a few contacts: as many lanes a problem as contacts, all of its numbers in shared
/// memory, sizes known.
namespace carom::cuda {

namespace {

constexpr int kBanks = 16;   // of doubles
constexpr int kBlocks = 12;  // resident ones, for the register limit
/// Share of a warp's problems that end before new ones are taken: fewer would have the code behind
/// a path run for them alone, more would leave their lanes idle longer.
constexpr int kWaitingShare = 2;

template <int Dim, int Contacts>
struct StepGroup {
  static constexpr int kDim = Dim;
  static constexpr int kContacts = Contacts;
  static constexpr int kRows = Dim * Contacts;
  static constexpr int kWidth = Contacts <= 2 ? 2 : 4;
  static constexpr int kProblems = WarpLanes::kWidth / kWidth;
  using Lanes = GroupLanes<kWidth>;
  using Path = kernels::ContactPath<Dim, double, Lanes>;

  template <class Memory>
  struct Layout {
    Memory vectors;
    Memory impulse;
    Memory next_u;
    Memory friction;
    Memory path;
    Memory ints;

    CAROM_INLINE constexpr explicit Layout(kernels::Arena<Memory>& arena)
        : vectors(arena.take(kernels::values_of<StepVectors>(kRows, kContacts))),
          impulse(arena.take(kRows)),
          next_u(arena.take(kRows)),
          friction(arena.take(kContacts)),
          path(arena.take(kernels::path_real_workspace(Dim, kContacts))),
          ints(arena.take((kernels::path_int_workspace(Dim, kContacts) + 1) / 2)) {}
  };
  /// Doubles between two problems: their lanes then meet in no bank, be it that all read one
  /// element or each one of its own row (of an odd number of columns).
  static constexpr long kStride =
      (kernels::values_of<Layout>() - kWidth + kBanks - 1) / kBanks * kBanks + kWidth;
  static constexpr long kPolygon = (sizeof(kernels::FrictionPolygon) + 7) / 8;
  static constexpr std::size_t kBytes =
      static_cast<std::size_t>(kPolygon + kProblems * kStride) * sizeof(double);
};

/// The lanes of one problem after another.
template <class Size>
class GroupSolver {
  using Lanes = typename Size::Lanes;
  static constexpr int kMostPivots = 12 * Size::kRows + 20;

 public:
  __device__ GroupSolver(const Lanes& lanes, const StepLaunch& launch,
                         const kernels::FrictionPolygon& polygon, double* memory)
      : lanes_(lanes),
        launch_(launch),
        polygon_(polygon),
        at_(kernels::placed<Size::template Layout>(memory)),
        task_(lanes, launch, Size::kContacts, at_.vectors),
        path_(lanes, Size::kContacts, polygon, at_.friction, at_.path,
              reinterpret_cast<int*>(at_.ints)) {}

  [[nodiscard]] __device__ bool holds() const { return problem_ >= 0; }

  /// False where there is nothing to advance.
  __device__ bool begin(int p) {
    task_.take(p);
    if (!task_.acceptable()) {
      task_.store_no_answer(p);
      task_.store(p, Status::invalid_input, 0, false, std::numeric_limits<double>::quiet_NaN());
      return false;
    }
    problem_ = p;
    pivots_ = 0;
    task_.scale();
    lanes_.for_each(Size::kContacts, [&](int i) { at_.friction[i] = task_.friction[i]; });
    progress_ = path_.begin(scaled(), task_.vectors.scaled_u, task_.vectors.scaled_limit, 0);
    return progress_ == kernels::PathProgress::running;
  }

  __device__ bool advance() {
    progress_ = ++pivots_ > kMostPivots ? kernels::PathProgress::lost : path_.advance();
    return progress_ == kernels::PathProgress::running;
  }

  /// Stores a certified answer, or lists the problem.
  __device__ void finish() {
    if (progress_ == kernels::PathProgress::arrived) {
      path_.extract(task_.vectors.scaled_impulse);
      task_.unscale(at_.impulse);
      const double residual = task_.certify(polygon_, at_.impulse, at_.next_u);
      if (certificate::within(residual, launch_.tolerance)) {
        lanes_.for_each(Size::kRows, [&](int i) {
          task_.impulse_of(problem_)[i] = at_.impulse[i];
          task_.next_u_of(problem_)[i] = at_.next_u[i];
        });
        task_.store(problem_, Status::solved, pivots_, false, residual);
        problem_ = -1;
        return;
      }
    }
    lanes_.for_each(1, [&](int) { launch_.open[Grid::claim(launch_.open_count)] = problem_; });
    problem_ = -1;
  }

 private:
  [[nodiscard]] __device__ kernels::ScaledDelassus<Size::kDim> scaled() const {
    return {task_.delassus, task_.vectors.scale, Size::kContacts};
  }

  const Lanes& lanes_;
  const StepLaunch& launch_;
  const kernels::FrictionPolygon& polygon_;
  typename Size::template Layout<double*> at_;
  StepTask<Size::kDim, Lanes> task_;
  typename Size::Path path_;
  kernels::PathProgress progress_ = kernels::PathProgress::lost;
  int problem_ = -1;
  int pivots_ = 0;
};

/// A block is one warp, whose groups of lanes take problems in turn.
template <class Size>
__global__ void __launch_bounds__(WarpLanes::kWidth, kBlocks)
    step_groups(const __grid_constant__ StepLaunch launch) {
  const WarpLanes warp;
  auto* const polygon = reinterpret_cast<kernels::FrictionPolygon*>(shared_memory());
  warp.for_each(1, [&](int) { *polygon = launch.polygon; });
  const typename Size::Lanes lanes;
  GroupSolver<Size> solver(lanes, launch, *polygon,
                           shared_memory() + Size::kPolygon + Size::kStride * lanes.group());
  int next = Grid::block() * Size::kProblems + lanes.group();
  bool running = false;
  do {
    if (warp.count(running) <= WarpLanes::kWidth - WarpLanes::kWidth / kWaitingShare && !running) {
      if (solver.holds()) solver.finish();
      if (next < launch.problems) {
        running = solver.begin(next);
        next += Grid::blocks() * Size::kProblems;
      }
    }
    if (running) running = solver.advance();
  } while (warp.count(running || solver.holds() || next < launch.problems) > 0);
}

template <class Size>
StepGroupKernel kernel_of() {
  return {&step_groups<Size>, Size::kProblems, Size::kBytes};
}

}  // namespace

StepGroupKernel step_group_kernel(int dimension, int contacts) {
  if (dimension == 3 && contacts == 4) return kernel_of<StepGroup<3, 4>>();
  if (dimension == 3 && contacts == 3) return kernel_of<StepGroup<3, 3>>();
  if (dimension == 3 && contacts == 2) return kernel_of<StepGroup<3, 2>>();
  if (dimension == 2 && contacts == 4) return kernel_of<StepGroup<2, 4>>();
  if (dimension == 2 && contacts == 2) return kernel_of<StepGroup<2, 2>>();
  return {nullptr, 0, 0};
}

}  // namespace carom::cuda
