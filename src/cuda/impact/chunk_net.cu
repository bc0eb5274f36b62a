#include "cuda/impact/chunk_net.hpp"

#include <algorithm>
#include <cmath>

#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>

#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"

namespace carom::cuda {

namespace {

constexpr int kNetThreads = 256;
/// Points that are copied to the host at a time.
constexpr int kPiece = 1 << 16;
/// A key is a hash of the cell, or only this bit where the slot is not in the net. Fewer bits sort
/// faster, and a collision costs only a point that the host joins.
constexpr int kHashBits = 39;
constexpr std::uint64_t kNotInNet = std::uint64_t{1} << kHashBits;

struct NetLaunch {
  TrajectoryArrays out;
  Chunk chunk;
  int nv;
  int rows;
  const NetCells* cells;  ///< [chunk.problems]

  [[nodiscard]] CAROM_INLINE const double* velocity(int slot) const {
    const bool closed = out.status[slot] != TrajectoryStatus::terminated;
    return (closed ? out.closed_velocity : out.velocity) + static_cast<long>(slot) * nv;
  }
  [[nodiscard]] CAROM_INLINE const double* impulse(int slot) const {
    const bool closed = out.status[slot] != TrajectoryStatus::terminated;
    return (closed ? out.closed_impulse : out.impulse) + static_cast<long>(slot) * rows;
  }
  /// The cell's coordinate, as NetBuilder::add has it.
  [[nodiscard]] CAROM_INLINE static long long cell(const NetCells& of, const double* v, int i) {
    return (static_cast<long long>(::floor(v[i] / of.edge)) + NetBuilder::kOrigin) >> of.level;
  }
  [[nodiscard]] CAROM_INLINE bool same_cell(int a, int b) const {
    if (a / chunk.samples != b / chunk.samples) return false;
    const double* first = velocity(a);
    const double* second = velocity(b);
    const NetCells of = cells[a / chunk.samples];
    for (int i = 0; i < nv; ++i) {
      if (cell(of, first, i) != cell(of, second, i)) return false;
    }
    return true;
  }
};

__global__ void __launch_bounds__(kNetThreads)
    cell_keys(const __grid_constant__ NetLaunch launch, std::uint64_t* keys, int* slots) {
  const int slot = Grid::global_thread();
  if (slot >= launch.chunk.slots()) return;
  slots[slot] = slot;
  if (launch.out.in_net[slot] == 0) {
    keys[slot] = kNotInNet;
    return;
  }
  std::uint64_t hash =
      0x2545f4914f6cdd1dULL + static_cast<std::uint64_t>(slot / launch.chunk.samples);
  const double* v = launch.velocity(slot);
  const NetCells of = launch.cells[slot / launch.chunk.samples];
  for (int i = 0; i < launch.nv; ++i) {
    hash ^= static_cast<std::uint64_t>(NetLaunch::cell(of, v, i));
    hash *= 0x9fb21c651e98df25ULL;
    hash ^= hash >> 29;
  }
  keys[slot] = hash & (kNotInNet - 1);
}

/// Flags the first of each run of equal cells among the sorted slots.
__global__ void __launch_bounds__(kNetThreads)
    flag_heads(const __grid_constant__ NetLaunch launch, int count, const std::uint64_t* keys,
               const int* slots, std::uint8_t* flags) {
  const int i = Grid::global_thread();
  if (i >= count) return;
  const bool head = i == 0 || keys[i] != keys[i - 1] || !launch.same_cell(slots[i], slots[i - 1]);
  flags[i] = head ? 1 : 0;
}

struct GatherLaunch {
  int first;  ///< point
  int count;
  int points;
  int in_net;
  const int* heads;
  const int* slots;
  double* velocity;
  double* impulse;
  std::uint64_t* modes;
  int* slot_of;
  int* multiplicity;
};

__global__ void __launch_bounds__(kNetThreads)
    gather_points(const __grid_constant__ NetLaunch launch,
                  const __grid_constant__ GatherLaunch gather) {
  const int i = Grid::global_thread();
  if (i >= gather.count) return;
  const int point = gather.first + i;
  const int head = gather.heads[point];
  const int next = point + 1 < gather.points ? gather.heads[point + 1] : gather.in_net;
  const int slot = gather.slots[head];
  const double* velocity = launch.velocity(slot);
  const double* impulse = launch.impulse(slot);
  for (int c = 0; c < launch.nv; ++c) {
    gather.velocity[static_cast<long>(i) * launch.nv + c] = velocity[c];
  }
  for (int c = 0; c < launch.rows; ++c) {
    gather.impulse[static_cast<long>(i) * launch.rows + c] = impulse[c];
  }
  gather.modes[i] = launch.out.net_modes[slot];
  gather.slot_of[i] = slot;
  gather.multiplicity[i] = next - head;
}

constexpr int blocks_for(int count) { return (count + kNetThreads - 1) / kNetThreads; }

}  // namespace

void ChunkNet::run(int dimension, const SampleLaunch& launch, const std::vector<NetCells>& cells,
                   std::int64_t in_net, cudaStream_t stream,
                   const std::function<void(const NetPoint&)>& take) {
  if (in_net == 0) return;
  const int slots = launch.chunk.slots();
  const int inside = static_cast<int>(in_net);
  const int nv = launch.run.velocities;
  const int rows = dimension * launch.run.contacts;
  const NetLaunch net{launch.out, launch.chunk, nv, rows,
                      cells_.upload(cells.data(), cells.size(), stream)};
  const auto size = static_cast<std::size_t>(slots);
  std::uint64_t* keys = keys_.reserve(size);
  std::uint64_t* sorted_keys = sorted_keys_.reserve(size);
  int* unsorted = slots_.reserve(size);
  int* sorted = sorted_slots_.reserve(size);
  int* heads = heads_.reserve(size);
  std::uint8_t* flags = flags_.reserve(size);
  int* selected = selected_.reserve(1);
  launch_kernel("cell_keys", cell_keys, {blocks_for(slots), kNetThreads}, stream, net, keys,
                unsorted);

  const thrust::counting_iterator<int> positions(0);
  std::size_t sort_bytes = 0;
  std::size_t select_bytes = 0;
  check(cub::DeviceRadixSort::SortPairs(nullptr, sort_bytes, keys, sorted_keys, unsorted, sorted,
                                        slots, 0, kHashBits + 1, stream),
        "cub::DeviceRadixSort");
  check(cub::DeviceSelect::Flagged(nullptr, select_bytes, positions, flags, heads, selected, inside,
                                   stream),
        "cub::DeviceSelect");
  char* temporary = temporary_.reserve(std::max(sort_bytes, select_bytes));
  // The sort is stable: slots of one cell stay in their order, the lowest sample first.
  check(cub::DeviceRadixSort::SortPairs(temporary, sort_bytes, keys, sorted_keys, unsorted, sorted,
                                        slots, 0, kHashBits + 1, stream),
        "cub::DeviceRadixSort");
  launch_kernel("flag_heads", flag_heads, {blocks_for(inside), kNetThreads}, stream, net, inside,
                sorted_keys, sorted, flags);
  check(cub::DeviceSelect::Flagged(temporary, select_bytes, positions, flags, heads, selected,
                                   inside, stream),
        "cub::DeviceSelect");
  int points = 0;
  download(&points, selected, 1, stream);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");

  const auto piece = static_cast<std::size_t>(std::min(points, kPiece));
  GatherLaunch gather{};
  gather.points = points;
  gather.in_net = inside;
  gather.heads = heads;
  gather.slots = sorted;
  gather.velocity = velocity_.reserve(piece * static_cast<std::size_t>(nv));
  gather.impulse = impulse_.reserve(piece * static_cast<std::size_t>(rows));
  gather.modes = modes_.reserve(piece);
  gather.slot_of = slot_of_.reserve(piece);
  gather.multiplicity = multiplicity_.reserve(piece);
  std::vector<double> velocity(piece * static_cast<std::size_t>(nv));
  std::vector<double> impulse(piece * static_cast<std::size_t>(rows));
  std::vector<std::uint64_t> modes(piece);
  std::vector<int> slot_of(piece), multiplicity(piece);
  for (gather.first = 0; gather.first < points; gather.first += kPiece) {
    gather.count = std::min(kPiece, points - gather.first);
    launch_kernel("gather_points", gather_points, {blocks_for(gather.count), kNetThreads}, stream,
                  net, gather);
    const auto count = static_cast<std::size_t>(gather.count);
    download(velocity.data(), gather.velocity, count * static_cast<std::size_t>(nv), stream);
    download(impulse.data(), gather.impulse, count * static_cast<std::size_t>(rows), stream);
    download(modes.data(), gather.modes, count, stream);
    download(slot_of.data(), gather.slot_of, count, stream);
    download(multiplicity.data(), gather.multiplicity, count, stream);
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    for (std::size_t i = 0; i < count; ++i) {
      const int problem = slot_of[i] / launch.chunk.samples;
      take({problem, launch.chunk.first_sample + (slot_of[i] - problem * launch.chunk.samples),
            multiplicity[i], modes[i], velocity.data() + i * static_cast<std::size_t>(nv),
            impulse.data() + i * static_cast<std::size_t>(rows)});
    }
  }
}

}  // namespace carom::cuda
