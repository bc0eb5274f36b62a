#include "cuda/group_slots.cuh"
#include "cuda/impact/path_group.cuh"
#include "cuda/impact/step_task.cuh"
#include "cuda/lanes.cuh"
#include "cuda/quotient.cuh"

/// Steps of a few contacts: as many lanes a problem as contacts, all of its numbers in shared
/// memory, sizes known.
namespace carom::cuda {

namespace {

constexpr int kGroupBlocks = 8;  // resident ones, for the register limit

template <int Dim, int Contacts>
struct StepGroup {
  static constexpr int kDim = Dim;
  static constexpr int kContacts = Contacts;
  static constexpr int kRows = Dim * Contacts;
  using Lanes = PathLanes<Contacts>;
  using Path = PathGroup<Dim, Contacts>;
  static constexpr int kWidth = Lanes::kWidth;
  static constexpr int kProblems = WarpLanes::kWidth / kWidth;

  using Slots = GroupSlots<Lanes>;

  static constexpr long kSlotStride = apart(kernels::values_of<Path::template Layout>(), kWidth);
  static constexpr long kRowStride = apart(Path::kColumns, kWidth);
  /// In front of the slots: the friction polygon, the covering vector, the groups' pivot rows.
  static constexpr long kWeights = (sizeof(kernels::FrictionPolygon) + 7) / 8;
  static constexpr long kPivotRows = (kWeights + kRows + 1) / 2 * 2;
  static constexpr long kSlots = kPivotRows + kProblems * kRowStride;
  static constexpr std::size_t kBytes =
      static_cast<std::size_t>(kSlots + Slots::kSlots * kSlotStride) * sizeof(double);
};

/// The problem of a slot before and behind its path; all groups of a warp make the calls at once,
/// those that are not `on` change nothing.
template <class Size>
class SlotTask {
  using Lanes = typename Size::Lanes;
  using Path = typename Size::Path;
  using Together = typename Lanes::Together;
  static constexpr int kDim = Size::kDim;
  static constexpr int kContacts = Size::kContacts;
  static constexpr int kRows = Size::kRows;

 public:
  using Progress = typename Path::Progress;

  __device__ SlotTask(const StepLaunch& launch, const kernels::FrictionPolygon& polygon, Path& path)
      : launch_(launch),
        polygon_(polygon),
        path_(path),
        contact_(Lanes::lane()),
        owns_(contact_ < kContacts) {}

  /// Problem p up to its path; lost where there is nothing to follow.
  __device__ Progress begin(bool on, int p) {
    double limit = 0.0;
    double friction = 0.0;
    double scale = 1.0;
    double poison = 0.0;  // NaN where a number is not finite
    bool good = true;
    if (on) {
      problem_ = p;
      if (owns_) {
        limit = launch_.max_impulse[own()];
        friction = launch_.friction[own()];
        good = (limit >= 0.0) & (friction >= 0.0) & kernels::is_finite(friction);
        scale = kernels::contact_scale<kDim>(matrix_row(0), kContacts, contact_);
        limit = limit * (1.0 / scale);  // a power of two
        for (int r = 0; r < kDim; ++r) {
          const double u = velocity(Path::row_of(contact_, r));
          poison = kernels::fused(u, 0.0, poison);
          path_.u(r) = u * scale;
        }
      }
      if (contact_ == 0) path_.record() = {p, 0};
    }
    double scales[kContacts];
    for (int j = 0; j < kContacts; ++j) scales[j] = Together::from(scale, j);
    const auto block = [&](int j, double(&entries)[kDim][kDim]) {
      for (int r = 0; r < kDim; ++r) {
        const double* const row = matrix_row(Path::row_of(contact_, r));
        for (int c = 0; c < kDim; ++c) {
          const double entry = row[Path::row_of(j, c)];
          poison = kernels::fused(entry, 0.0, poison);
          entries[r][c] = entry * scale * scales[j];
        }
      }
    };
    const Progress progress = path_.begin(on, block, limit, friction);
    const bool bad = Together::any(!(good & (poison == 0.0)));
    if (on && bad) refuse();
    return on && !bad ? progress : Progress::lost;
  }

  /// Stores a certified answer, or lists the problem.
  __device__ void finish(bool on) {
    const auto record = path_.record();
    if (on) problem_ = record.problem;
    double* const impulse = path_.spare(0);
    const bool arrived = on && path_.extract(impulse);
    if (arrived && owns_) {
      const double scale = kernels::contact_scale<kDim>(matrix_row(0), kContacts, contact_);
      for (int r = 0; r < kDim; ++r) {
        double& own = impulse[Path::row_of(contact_, r)];
        own = own * scale;
      }
    }
    const double residual = certify(arrived, impulse, path_.spare(1));
    if (!on) return;
    if (arrived && certificate::within(residual, launch_.tolerance)) {
      if (owns_) hand_out(impulse, path_.spare(1));
      if (contact_ == 0) store(Status::solved, record.pivots, residual);
    } else if (contact_ == 0) {
      launch_.open[Grid::claim(launch_.open_count)] = problem_;
    }
  }

 private:
  [[nodiscard]] __device__ const double* matrix_row(int i) const {
    return launch_.delassus + (static_cast<long>(problem_) * kRows + i) * kRows;
  }
  [[nodiscard]] __device__ double velocity(int i) const {
    return launch_.contact_velocity[static_cast<long>(problem_) * kRows + i];
  }
  [[nodiscard]] __device__ long own() const {
    return static_cast<long>(problem_) * kContacts + contact_;
  }

  __device__ void refuse() {
    if (owns_) {
      for (int r = 0; r < kDim; ++r) {
        const long i = static_cast<long>(problem_) * kRows + Path::row_of(contact_, r);
        launch_.result.impulse[i] = std::numeric_limits<double>::quiet_NaN();
        launch_.result.contact_velocity[i] = std::numeric_limits<double>::quiet_NaN();
      }
    }
    if (contact_ == 0) {
      store(Status::invalid_input, 0, std::numeric_limits<double>::quiet_NaN());
    }
  }

  /// As StepTask::certify, a lane its contact's rows.
  [[nodiscard]] __device__ double certify(bool on, const double* from, double* next_u) const {
    Together::barrier();
    certificate::MaxAbs<> worst;
    certificate::MaxAbs<> scale;
    if (on && owns_) {
      double impulse[kRows];
      for (int j = 0; j < kRows; ++j) impulse[j] = from[j];
      for (int r = 0; r < kDim; ++r) {
        const int i = Path::row_of(contact_, r);
        const double* const row = matrix_row(i);
        double sum = velocity(i);
        scale.add(sum);
        for (int j = 0; j < kRows; ++j) sum = kernels::fused(row[j], impulse[j], sum);
        next_u[i] = sum;
      }
      const double* const limit = launch_.max_impulse + own() - contact_;
      const double mobility = certificate::contact_mobility(
          kernels::contact_scale<kDim>(matrix_row(0), kContacts, contact_));
      const auto residual = [&] {
        return certificate::contact_residual<kDim, double>(
            polygon_, launch_.friction[own()], mobility, contact_, Path::row_of(contact_, 1), limit,
            from, static_cast<const double*>(next_u));
      };
      // Twice the same: loops over four directions, the usual number, come apart.
      worst.add(kDim == 3 && polygon_.count == 4 ? residual() : residual());
    }
    const auto largest = [](certificate::MaxAbs<> own_value) {
      return Together{}.reduce(own_value.value, [](double a, double b) {
        certificate::MaxAbs<> both{a};
        both.add(b);
        return both.value;
      });
    };
    const double size = largest(scale);
    const double most = largest(worst);
    return on ? quotient(most, size < certificate::kTiny ? certificate::kTiny : size) : 0.0;
  }

  __device__ void hand_out(const double* impulse, const double* next_u) const {
    for (int r = 0; r < kDim; ++r) {
      const int i = Path::row_of(contact_, r);
      const long to = static_cast<long>(problem_) * kRows + i;
      launch_.result.impulse[to] = impulse[i];
      launch_.result.contact_velocity[to] = next_u[i];
    }
  }

  __device__ void store(Status status, int pivots, double residual) const {
    launch_.result.status[problem_] = status;
    launch_.result.pivots[problem_] = pivots;
    launch_.result.fallback[problem_] = 0;
    launch_.result.residual[problem_] = residual;
  }

  const StepLaunch& launch_;
  const kernels::FrictionPolygon& polygon_;
  Path& path_;
  int contact_;  ///< the lane's
  bool owns_;    ///< that there is one
  int problem_ = 0;
};

/// A block is one warp, whose groups of lanes follow the paths of some problems, all of them a line
/// at a time; what is before and after a path waits until all groups have something of it to do.
template <class Size>
__global__ void __launch_bounds__(WarpLanes::kWidth, kGroupBlocks)
    step_groups(const __grid_constant__ StepLaunch launch) {
  using Path = typename Size::Path;
  using Progress = typename Path::Progress;
  using Slots = typename Size::Slots;
  constexpr int kMostPivots = 12 * Size::kRows + 20;
  const WarpLanes warp;
  double* const memory = shared_memory();
  auto* const polygon = reinterpret_cast<kernels::FrictionPolygon*>(memory);
  double* const weights = memory + Size::kWeights;
  warp.for_each(1, [&](int) { *polygon = launch.polygon; });
  warp.for_each(Size::kRows, [&](int i) { weights[i] = Path::weight(i); });
  const typename Size::Lanes lanes;
  double* const pivot_row = memory + Size::kPivotRows + Size::kRowStride * lanes.group();
  const auto memory_of = [&](int slot) {
    return memory + Size::kSlots + Size::kSlotStride * (slot < 0 ? 0 : slot);
  };
  Slots slots;
  int next = Grid::block() * Size::kProblems + lanes.group();
  int slot = Slots::kNone;
  int pivots = 0;
  bool running = false;
  bool more = warp.any(next < launch.problems);
  Path path(lanes, *polygon, weights, memory_of(slot), pivot_row);
  do {
    if (warp.any(!running)) {
      if (running) path.pause();
      if (!slots.any_ready() && (more || !warp.any(running))) {
        warp.barrier();  // what ended is there for all lanes
        const int chosen = slots.choose(more);
        Path behind(lanes, *polygon, weights, memory_of(chosen), pivot_row);
        SlotTask<Size> task(launch, *polygon, behind);
        task.finish(slots.has_ended(chosen));
        warp.barrier();  // what finish reads is overwritten by begin
        const bool takes = chosen != Slots::kNone && next < launch.problems;
        const Progress progress = task.begin(takes, next);
        if (takes) next += Grid::blocks() * Size::kProblems;
        more = warp.any(next < launch.problems);
        slots.conclude(chosen, progress == Progress::running, progress == Progress::arrived);
      }
      const int given = slots.take(!running);
      if (given != Slots::kNone) {
        slot = given;
        pivots = 0;
        running = true;
      }
      path.look_at(memory_of(slot));
      path.recall(given != Slots::kNone);
      warp.barrier();  // what recall reads, a group without a problem too, is overwritten later
    }
    path.look_at(memory_of(slot));
    const bool patient = running && ++pivots <= kMostPivots;
    const Progress progress = path.advance(patient);
    const bool ends = running && !(patient && progress == Progress::running);
    if (ends) {
      if (lanes.lane() == 0) {
        path.record().pivots = pivots;
        path.leave(patient ? progress : Progress::lost);
      }
      running = false;
    }
    slots.end(ends, slot);
  } while (warp.any(running) || slots.any_ready() || slots.any_ended() || more);
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
