#include <algorithm>
#include <vector>

#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"
#include "cuda/libraries.hpp"
#include "cuda/programs/qp_large_run.hpp"
#include "programs/qp/kernels/qp_large_check.hpp"
#include "programs/qp/large.hpp"

namespace carom::cuda {

namespace {

constexpr int kLargeThreads = 256;

/// Above, the libraries' routines for one matrix at a time are the faster ones.
constexpr int kLargestBatched = 256;

template <class Step>
__global__ void __launch_bounds__(kLargeThreads)
    qp_large_blocks(const __grid_constant__ Step step, const int* active, int count) {
  const BlockLanes lanes;
  step(lanes, active[Grid::block() / count], Grid::block() % count);
}

template <class Step>
__global__ void __launch_bounds__(kLargeThreads)
    qp_large_each(const __grid_constant__ Step step, const int* active, int count, int slots) {
  const long all = static_cast<long>(count) * slots;
  for (long e = Grid::global_thread(); e < all; e += Grid::global_threads()) {
    step(active[e / count], static_cast<int>(e % count));
  }
}

struct SetIdentity {
  kernels::QpLargeArrays arrays;
  CAROM_HOST_DEVICE void operator()(int slot, int e) const {
    const int n = arrays.task.shape.variables;
    arrays.at(slot, arrays.parts.inverse)[e] = e / n == e % n ? 1.0 : 0.0;
  }
};

/// info: [slots] of the factorisations, in the order of the active slots.
struct NoteFailure {
  kernels::QpLargeArrays arrays;
  const int* place;  ///< [slots], of a slot among the active ones
  const int* info;
  CAROM_HOST_DEVICE void operator()(int slot, int) const {
    arrays.broken[slot] = info[place[slot]];
  }
};

/// What solve_large_qps needs. All memory is taken at the start.
class DeviceLargeQps {
 public:
  DeviceLargeQps(const kernels::QpTaskArrays& task, const QpColumns& columns, int slots,
                 cudaStream_t stream)
      : stream_(stream), handles_(stream), n_(task.shape.variables) {
    const auto count = static_cast<std::size_t>(slots);
    arrays_.task = task;
    arrays_.parts = kernels::qp_large_parts(n_, task.shape.rows);
    arrays_.column_first = first_.upload(columns.first.data(), columns.first.size(), stream);
    arrays_.column_row = rows_.upload(columns.second.data(), columns.second.size(), stream);
    arrays_.slots = values_.reserve(count * static_cast<std::size_t>(arrays_.parts.end));
    arrays_.end = end_.reserve(count);
    arrays_.wish = wish_.reserve(count);
    arrays_.broken = broken_.reserve(count);
    active_.reserve(count);
    place_.reserve(count);
    info_.reserve(count);
    pointers_.reserve(4 * count);
    if (n_ > kLargestBatched) {
      std::size_t device_bytes = 0;
      std::size_t host_bytes = 0;
      check(libraries().cusolverDnXpotrf_bufferSize(
                handles_.solver(), handles_.parameters(), CUBLAS_FILL_MODE_LOWER, n_, CUDA_R_64F,
                arrays_.slots, n_, CUDA_R_64F, &device_bytes, &host_bytes),
            "cusolverDnXpotrf_bufferSize");
      work_.reserve(std::max<std::size_t>(device_bytes, 1));
      work_bytes_ = device_bytes;
      host_work_.resize(std::max<std::size_t>(host_bytes, 1));
    }
  }

  [[nodiscard]] kernels::QpLargeArrays arrays(long base) const {
    kernels::QpLargeArrays arrays = arrays_;
    arrays.base = base;
    return arrays;
  }

  void activate(const std::vector<int>& slots) {
    host_active_ = slots;
    if (slots.empty()) return;
    std::vector<double*> pointers;
    for (const long part :
         {arrays_.parts.factor, arrays_.parts.inverse, arrays_.parts.push, arrays_.parts.next}) {
      for (const int slot : slots) pointers.push_back(arrays_.at(slot, part).data);
    }
    std::vector<int> place(static_cast<std::size_t>(slots.back()) + 1, 0);
    for (std::size_t k = 0; k < slots.size(); ++k) {
      place[static_cast<std::size_t>(slots[k])] = static_cast<int>(k);
    }
    pointers_.upload(pointers.data(), pointers.size(), stream_);
    active_.upload(slots.data(), slots.size(), stream_);
    place_.upload(place.data(), place.size(), stream_);
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");  // the lists end here
  }

  template <class Step>
  void blocks(int count, const Step& step) {
    if (count == 0 || host_active_.empty()) return;
    const auto grid =
        static_cast<std::int64_t>(static_cast<std::size_t>(count) * host_active_.size());
    launch_kernel("qp_large_blocks", qp_large_blocks<Step>, {grid, kLargeThreads}, stream_, step,
                  active_.data(), count);
  }

  template <class Step>
  void each(int count, const Step& step) {
    if (count == 0 || host_active_.empty()) return;
    const std::size_t all = static_cast<std::size_t>(count) * host_active_.size();
    const auto grid = static_cast<std::int64_t>(
        std::min<std::size_t>((all + kLargeThreads - 1) / kLargeThreads, kMostBlocks));
    launch_kernel("qp_large_each", qp_large_each<Step>, {grid, kLargeThreads}, stream_, step,
                  active_.data(), count, active());
  }

  void factor() {
    if (host_active_.empty()) return;
    if (n_ <= kLargestBatched) {
      check(libraries().cusolverDnDpotrfBatched(handles_.solver(), CUBLAS_FILL_MODE_LOWER, n_,
                                                of(kFactor), n_, info_.data(), active()),
            "cusolverDnDpotrfBatched");
    } else {
      for (std::size_t k = 0; k < host_active_.size(); ++k) {
        check(libraries().cusolverDnXpotrf(
                  handles_.solver(), handles_.parameters(), CUBLAS_FILL_MODE_LOWER, n_, CUDA_R_64F,
                  at(k, arrays_.parts.factor), n_, CUDA_R_64F, work_.data(), work_bytes_,
                  host_work_.data(), host_work_.size(), info_.data() + k),
              "cusolverDnXpotrf");
      }
    }
    each(1, NoteFailure{arrays_, place_.data(), info_.data()});
  }

  void invert() {
    each(n_ * n_, SetIdentity{arrays_});
    solve_in(kInverse, arrays_.parts.inverse, n_);
  }

  void solve() { solve_in(kPush, arrays_.parts.push, 1); }

  void apply() {
    if (host_active_.empty()) return;
    const double one = 1.0;
    const double zero = 0.0;
    check(libraries().cublasDgemvBatched(handles_.blas(), CUBLAS_OP_N, n_, n_, &one, of(kInverse),
                                         n_, of(kPush), 1, &zero, of(kNext), 1, active()),
          "cublasDgemvBatched");
  }

  [[nodiscard]] std::vector<int> read(const int* values, int count) const {
    std::vector<int> host(static_cast<std::size_t>(count));
    download(host.data(), values, host.size(), stream_);
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    return host;
  }

 private:
  static constexpr std::size_t kMostBlocks = 1 << 16;
  // Lists of pointers, in the order of activate().
  static constexpr int kFactor = 0;
  static constexpr int kInverse = 1;
  static constexpr int kPush = 2;
  static constexpr int kNext = 3;

  [[nodiscard]] int active() const { return static_cast<int>(host_active_.size()); }
  [[nodiscard]] double** of(int list) const {
    return pointers_.data() + static_cast<std::size_t>(list) * host_active_.size();
  }
  [[nodiscard]] double* at(std::size_t k, long part) const {
    return arrays_.at(host_active_[k], part).data;
  }

  /// (L L')^-1 of [n, columns] at `part`, the list `list`, in place.
  void solve_in(int list, long part, int columns) {
    if (host_active_.empty()) return;
    const double one = 1.0;
    for (const cublasOperation_t turn : {CUBLAS_OP_N, CUBLAS_OP_T}) {
      if (n_ <= kLargestBatched) {
        check(libraries().cublasDtrsmBatched(
                  handles_.blas(), CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, turn,
                  CUBLAS_DIAG_NON_UNIT, n_, columns, &one, of(kFactor), n_, of(list), n_, active()),
              "cublasDtrsmBatched");
        continue;
      }
      for (std::size_t k = 0; k < host_active_.size(); ++k) {
        const double* factor = at(k, arrays_.parts.factor);
        if (columns == 1) {
          check(libraries().cublasDtrsv(handles_.blas(), CUBLAS_FILL_MODE_LOWER, turn,
                                        CUBLAS_DIAG_NON_UNIT, n_, factor, n_, at(k, part), 1),
                "cublasDtrsv");
        } else {
          check(libraries().cublasDtrsm(handles_.blas(), CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER,
                                        turn, CUBLAS_DIAG_NON_UNIT, n_, columns, &one, factor, n_,
                                        at(k, part), n_),
                "cublasDtrsm");
        }
      }
    }
  }

  cudaStream_t stream_;
  LibraryHandles handles_;
  int n_;
  kernels::QpLargeArrays arrays_{};
  DeviceArray<int> first_, rows_, end_, wish_, broken_, active_, place_, info_;
  DeviceArray<double> values_;
  DeviceArray<double*> pointers_;
  DeviceArray<unsigned char> work_;
  std::size_t work_bytes_ = 0;
  std::vector<unsigned char> host_work_;
  std::vector<int> host_active_;
};

/// As many problems at a time as half of the free memory holds.
int slots_for(std::int64_t problems, const kernels::QpShape& shape) {
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  const auto each =
      static_cast<std::size_t>(kernels::qp_large_parts(shape.variables, shape.rows).end) *
      sizeof(double);
  constexpr std::int64_t kMost = 4096;
  const auto room = static_cast<std::int64_t>(free / 2 / each);
  return static_cast<int>(std::clamp<std::int64_t>(std::min(room, problems), 1, kMost));
}

}  // namespace

std::vector<int> solve_large_qps_on_device(const kernels::QpTaskArrays& task,
                                           const QpColumns& columns, std::int64_t problems,
                                           int limit, cudaStream_t stream) {
  const int most = slots_for(problems, task.shape);
  DeviceLargeQps engine(task, columns, most, stream);
  std::vector<int> rest;
  for (std::int64_t base = 0; base < problems; base += most) {
    const int slots = static_cast<int>(std::min<std::int64_t>(most, problems - base));
    for (const int slot : solve_large_qps(engine, engine.arrays(base), slots, limit)) {
      rest.push_back(static_cast<int>(base) + slot);
    }
  }
  return rest;
}

}  // namespace carom::cuda
