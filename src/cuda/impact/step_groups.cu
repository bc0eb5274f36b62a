#include "cuda/impact/path_group.cuh"
#include "cuda/impact/step_task.cuh"
#include "cuda/lanes.cuh"
#include "cuda/quotient.cuh"

/// Steps of a few contacts: as many lanes a problem as contacts, all of its numbers in shared
/// memory, sizes known.
namespace carom::cuda {

namespace {

constexpr int kBanks = 16;  // of doubles
constexpr int kBlocks = 8;  // resident ones, for the register limit
/// Lanes that go on while the others wait for new problems: fewer would idle along, more would have
/// what is before and behind a path run for few.
constexpr int kRunning = 12;

template <int Dim, int Contacts>
struct StepGroup {
  static constexpr int kDim = Dim;
  static constexpr int kContacts = Contacts;
  static constexpr int kRows = Dim * Contacts;
  using Lanes = PathLanes<Contacts>;
  using Path = PathGroup<Dim, Contacts>;
  static constexpr int kWidth = Lanes::kWidth;
  static constexpr int kProblems = WarpLanes::kWidth / kWidth;

  template <class Memory>
  struct Layout {
    Memory path;  ///< first: its rows are read two numbers at a time
    Memory u;
    Memory impulse;
    Memory next_u;
    Memory limit;
    Memory scale;
    Memory friction;
    Memory ints;

    CAROM_INLINE constexpr explicit Layout(kernels::Arena<Memory>& arena)
        : path(arena.take(kernels::path_real_workspace(Dim, kContacts, Lanes::kRowPadding))),
          u(arena.take(kRows)),
          impulse(arena.take(kRows)),
          next_u(arena.take(kRows)),
          limit(arena.take(kContacts)),
          scale(arena.take(kContacts)),
          friction(arena.take(kContacts)),
          ints(arena.take((kernels::path_int_workspace(Dim, kContacts) + 1) / 2)) {}
  };
  /// Doubles between two problems: their lanes then meet in no bank, be it that all read one
  /// element or each one of its own row.
  static constexpr long kStride =
      (kernels::values_of<Layout>() - kWidth + kBanks - 1) / kBanks * kBanks + kWidth;
  /// In front of the problems: the friction polygon and the covering vector.
  static constexpr long kWeights = (sizeof(kernels::FrictionPolygon) + 7) / 8;
  static constexpr long kCommon = (kWeights + kRows + 1) / 2 * 2;
  static constexpr std::size_t kBytes =
      static_cast<std::size_t>(kCommon + kProblems * kStride) * sizeof(double);
};

/// The lanes of one problem after another; all groups of a warp make the calls at once, those that
/// are not `on` change nothing.
template <class Size>
class GroupSolver {
  using Lanes = typename Size::Lanes;
  using Path = typename Size::Path;
  using Together = typename Lanes::Together;
  static constexpr int kDim = Size::kDim;
  static constexpr int kContacts = Size::kContacts;
  static constexpr int kRows = Size::kRows;
  static constexpr int kMostPivots = 12 * kRows + 20;

 public:
  __device__ GroupSolver(const Lanes& lanes, const StepLaunch& launch,
                         const kernels::FrictionPolygon& polygon, const double* weights,
                         double* memory)
      : launch_(launch),
        polygon_(polygon),
        at_(kernels::placed<Size::template Layout>(memory)),
        path_(lanes, polygon, at_.friction, weights, at_.path, reinterpret_cast<int*>(at_.ints)),
        contact_(lanes.lane()),
        owns_(contact_ < kContacts) {}

  [[nodiscard]] __device__ bool holds() const { return problem_ >= 0; }

  /// False where there is nothing to advance.
  __device__ bool begin(bool on, int p) {
    double matrix[kDim][kRows];
    bool bad = false;
    if (on) {
      problem_ = p;
      pivots_ = 0;
      if (owns_) bad = !load(matrix);
    }
    bad = Together::any(bad);
    if (bad) refuse();
    on = on && !bad;
    Together::barrier();  // the scales of all contacts are there
    if (on && owns_) {
      for (int r = 0; r < kDim; ++r) {
        for (int j = 0; j < kContacts; ++j) {
          for (int c = 0; c < kDim; ++c) {
            double& entry = matrix[r][Path::row_of(j, c)];
            entry = entry * at_.scale[contact_] * at_.scale[j];
          }
        }
      }
    }
    progress_ = path_.begin(on, matrix, at_.u, at_.limit);
    return on && progress_ == Path::Progress::running;
  }

  __device__ bool advance(bool on) {
    if (on && ++pivots_ > kMostPivots) {
      progress_ = Path::Progress::lost;
      on = false;
    }
    const typename Path::Progress progress = path_.advance(on);
    if (on) progress_ = progress;
    return on && progress_ == Path::Progress::running;
  }

  /// Stores a certified answer, or lists the problem.
  __device__ void finish(bool on) {
    const bool arrived = on && progress_ == Path::Progress::arrived;
    if (arrived && owns_) {
      path_.extract(at_.impulse);
      for (int r = 0; r < kDim; ++r) {
        double& impulse = at_.impulse[Path::row_of(contact_, r)];
        impulse = impulse * at_.scale[contact_];
      }
    }
    const double residual = certify(arrived);
    if (!on) return;
    if (arrived && certificate::within(residual, launch_.tolerance)) {
      if (owns_) hand_out();
      if (contact_ == 0) store(Status::solved, residual);
    } else if (contact_ == 0) {
      launch_.open[Grid::claim(launch_.open_count)] = problem_;
    }
    problem_ = -1;
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

  /// The lane's rows, and what is scaled of its contact. False where a number is refused.
  __device__ bool load(double (&matrix)[kDim][kRows]) const {
    double poison[kDim] = {};  // NaN where a number is not finite
    double u[kDim];
    for (int r = 0; r < kDim; ++r) {
      const int i = Path::row_of(contact_, r);
      u[r] = velocity(i);
      poison[r] = u[r] * 0.0;
      for (int j = 0; j < kRows; ++j) {
        matrix[r][j] = matrix_row(i)[j];
        poison[r] = kernels::fused(matrix[r][j], 0.0, poison[r]);
      }
    }
    bool good = true;
    for (double sum : poison) good = good & (sum == 0.0);
    const double limit = launch_.max_impulse[own()];
    const double friction = launch_.friction[own()];
    good = good & (limit >= 0.0) & (friction >= 0.0) & kernels::is_finite(friction);
    if (!good) return false;
    const double scale = kernels::contact_scale<kDim>(matrix_row(0), kContacts, contact_);
    at_.scale[contact_] = scale;
    at_.friction[contact_] = friction;
    at_.limit[contact_] = limit * (1.0 / scale);  // a power of two
    for (int r = 0; r < kDim; ++r) at_.u[Path::row_of(contact_, r)] = u[r] * scale;
    return true;
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
      store(Status::invalid_input, std::numeric_limits<double>::quiet_NaN());
    }
    problem_ = -1;
  }

  /// As StepTask::certify, a lane its contact's rows.
  [[nodiscard]] __device__ double certify(bool on) const {
    Together::barrier();
    certificate::MaxAbs<> worst;
    certificate::MaxAbs<> scale;
    if (on && owns_) {
      double impulse[kRows];
      for (int j = 0; j < kRows; ++j) impulse[j] = at_.impulse[j];
      for (int r = 0; r < kDim; ++r) {
        const int i = Path::row_of(contact_, r);
        const double* const row = matrix_row(i);
        double sum = velocity(i);
        scale.add(sum);
        for (int j = 0; j < kRows; ++j) sum = kernels::fused(row[j], impulse[j], sum);
        at_.next_u[i] = sum;
      }
      const double* const limit = launch_.max_impulse + own() - contact_;
      if (limit[contact_] < kernels::kInfinity) scale.add(limit[contact_]);
      const auto residual = [&] {
        return certificate::contact_residual<kDim, double>(
            polygon_, launch_.friction[own()], contact_, Path::row_of(contact_, 1), limit,
            static_cast<const double*>(at_.impulse), static_cast<const double*>(at_.next_u));
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

  __device__ void hand_out() const {
    for (int r = 0; r < kDim; ++r) {
      const int i = Path::row_of(contact_, r);
      const long to = static_cast<long>(problem_) * kRows + i;
      launch_.result.impulse[to] = at_.impulse[i];
      launch_.result.contact_velocity[to] = at_.next_u[i];
    }
  }

  __device__ void store(Status status, double residual) const {
    launch_.result.status[problem_] = status;
    launch_.result.pivots[problem_] = pivots_;
    launch_.result.fallback[problem_] = 0;
    launch_.result.residual[problem_] = residual;
  }

  const StepLaunch& launch_;
  const kernels::FrictionPolygon& polygon_;
  typename Size::template Layout<double*> at_;
  Path path_;
  int contact_;  ///< the lane's
  bool owns_;    ///< that there is one
  typename Path::Progress progress_ = Path::Progress::lost;
  int problem_ = -1;  ///< none below 0
  int pivots_ = 0;
};

/// A block is one warp, whose groups of lanes take problems in turn, all of them a line of their
/// paths at a time.
template <class Size>
__global__ void __launch_bounds__(WarpLanes::kWidth, kBlocks)
    step_groups(const __grid_constant__ StepLaunch launch) {
  const WarpLanes warp;
  double* const memory = shared_memory();
  auto* const polygon = reinterpret_cast<kernels::FrictionPolygon*>(memory);
  double* const weights = memory + Size::kWeights;
  warp.for_each(1, [&](int) { *polygon = launch.polygon; });
  warp.for_each(Size::kRows, [&](int i) { weights[i] = Size::Path::weight(i); });
  const typename Size::Lanes lanes;
  GroupSolver<Size> solver(lanes, launch, *polygon, weights,
                           memory + Size::kCommon + Size::kStride * lanes.group());
  int next = Grid::block() * Size::kProblems + lanes.group();
  bool running = false;
  do {
    if (warp.count(running) <= kRunning) {
      solver.finish(!running && solver.holds());
      const bool takes = !running && next < launch.problems;
      const bool begun = solver.begin(takes, next);
      running = running || begun;
      if (takes) next += Grid::blocks() * Size::kProblems;
    }
    running = solver.advance(running);
  } while (warp.any(running || solver.holds() || next < launch.problems));
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
