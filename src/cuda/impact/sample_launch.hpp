#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include <carom/types/impact.hpp>

#include "cuda/impact/sample_policy.hpp"
#include "cuda/runtime.hpp"
#include "impact/kernels/impact.hpp"

/// What the sampling kernels share with the host: plain structs of device pointers.
namespace carom::cuda {

/// One problem's mode table, and where its arrays lie in those of all tables.
struct TableSlot {
  kernels::ModeTableView table;  ///< without its pointers
  std::int64_t numbers = 0;
  std::int64_t first = 0;
};

/// Prepared problems on the device, those from `first` on, as kernels::ImpactProblemView,
/// [problems, ...].
struct ProblemArrays {
  std::int64_t first;
  const double *mass, *jacobian, *response, *delassus, *scale, *friction, *velocity;
  const double *contact_velocity, *energy, *step_size, *closing_impulse;
  /// [problems, m] each; null where no problem of the batch has them.
  const double *restitution_low, *restitution_high, *friction_high;
  const TableSlot* tables;  ///< null where problems have none
  const double* table_numbers;
  const int* table_first;
  int table_reals;  ///< length of the longest table's numbers ...
  int table_ints;   ///< ... and first
};

/// Trajectories of one chunk, [slots, ...]. Null members are not wanted.
struct TrajectoryArrays {
  double* velocity;          ///< v+, [slots, nv]; NaN where failed
  double* contact_velocity;  ///< J v+, [slots, rows]
  double* impulse;           ///< [slots, rows]; NaN where failed
  double* closed_velocity;   ///< after a closing step that freed the contacts, [slots, nv]
  double* closed_impulse;    ///< [slots, rows]
  double* residual;
  double* energy_ratio;
  std::uint64_t* modes;  ///< 0 where failed
  std::uint64_t* net_modes;
  std::int32_t *steps, *fallback, *pivots, *nonunique, *examined;
  TrajectoryStatus* status;
  std::uint8_t* in_net;
  // StoreBooks, [slots, m] each; null where no problem of the batch has restitution.
  double *restitution, *friction, *stored, *released, *lost_compression, *lost_friction;
  std::uint8_t* ended_by;  ///< kGuarded, kTrimmed; of slots with stores
  double* path;            ///< of the first `paths` slots, [paths, max_steps + 1, path_row]
  int paths;
  int path_row;
};

/// Bits of TrajectoryArrays::ended_by.
inline constexpr std::uint8_t kGuarded = 1, kTrimmed = 2;

/// Slots of a chunk: `samples` consecutive ones of each of `problems` consecutive problems.
struct Chunk {
  std::int64_t first_problem;
  std::int64_t first_sample;  ///< of every problem of the chunk, absolute
  int problems;
  int samples;
  [[nodiscard]] CAROM_HOST_DEVICE int slots() const { return problems * samples; }
};

/// Slots, in any order. `count` lies in device memory, so that no pass waits for the host.
struct SlotList {
  int* slots;
  int* count;
};

/// The modes of ImpactMethod::events of a chunk's problems, each kernels::EventTable;
/// null where modes are not tabled.
struct EventModeArrays {
  double* modes;         ///< [problems, kernels::event_reals]
  unsigned char* known;  ///< [problems, kernels::event_modes]
};

/// What the samples of a problem put their work by in.
enum class StoreKind : std::uint8_t {
  none,    ///< inelastic, with a number for friction
  planar,  ///< OnePlanarStores, with a table of modes
  any,     ///< ContactStores; ReleaseTrajectory's own by steps
};

struct SampleLaunch {
  kernels::ImpactRun run;
  ProblemArrays problems;
  TrajectoryArrays out;
  Chunk chunk;
  EventModeArrays events;
  RestitutionLaw law;
  bool vary;
  SlotList work;        ///< what a pass is to do; the whole chunk where its members are null
  SlotList unfinished;  ///< filled by the passes that leave some to the next one
};

/// Scratch of the passes that can fall back on Lemke's method, one piece a worker.
struct FallbackMemory {
  double* reals;
  int* ints;
  double* outcomes;
};

/// One thread a trajectory that takes every step from its mode table, in registers; what leaves the
/// table goes to `unfinished`. False, and nothing launched, where there is no kernel for the run:
/// only Selection::any with uniform draws, no net and no paths, for some sizes.
bool sample_by_tables(int dimension, const SampleLaunch& launch, cudaStream_t stream);

/// One thread a trajectory, without fallback. Selection::any only.
void sample_by_threads_planar(const SampleLaunch& launch, cudaStream_t stream);
void sample_by_threads_spatial(const SampleLaunch& launch, cudaStream_t stream);

/// ImpactMethod::events, up to kernels::kMaxEventContacts contacts: one thread a mode of the
/// chunk's problems, then one thread a trajectory.
void follow_events(const SampleLaunch& launch, StoreKind stores, cudaStream_t stream);

/// ImpactMethod::events of spatial contacts and of more planar ones, up to
/// kMaxDeviceFollowedContacts: one thread a trajectory, which looks for its modes itself.
void follow_any_events(int dimension, const SampleLaunch& launch, StoreKind stores,
                       cudaStream_t stream);

/// Steps (75) of contacts with restitution: one thread a trajectory, its memory in global memory.
void follow_releases(int dimension, const SampleLaunch& launch, const SamplePolicy& policy,
                     DeviceArray<double>& reals, DeviceArray<int>& ints, cudaStream_t stream);

/// Energy balance (TrajectoryArrays) of a chunk without stores, in a batch that has stores.
void fill_inelastic_books(const SampleLaunch& launch, cudaStream_t stream);

/// One warp a trajectory, without fallback. Selection::any only.
void sample_by_warps(int dimension, const SampleLaunch& launch, cudaStream_t stream);

/// One warp a trajectory with Lemke's method after it: the slots of `launch.work`.
void finish_by_warps(int dimension, const SampleLaunch& launch, const SamplePolicy& policy,
                     DeviceArray<double>& reals, DeviceArray<int>& ints, cudaStream_t stream);

/// Selection::random: one thread a trajectory, everything in global memory.
void sample_by_enumeration(int dimension, const SampleLaunch& launch, const SamplePolicy& policy,
                           DeviceArray<double>& reals, DeviceArray<int>& ints, cudaStream_t stream);

}  // namespace carom::cuda
