#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include "counts.hpp"

/// A device that is played by the host. Calls are carried out as late as CUDA allows: work waits
/// on its stream until somebody waits for the stream.
namespace cuda_on_host {

inline constexpr int kMultiprocessors = 3;
inline constexpr std::size_t kSharedBytes = 227 * 1024;
inline constexpr std::size_t kDefaultSharedBytes = 48 * 1024;
inline constexpr std::size_t kDeviceBytes = std::size_t{16} << 30;

/// Of all that follows and of the runtime's functions.
std::recursive_mutex& mutex();

/// The order in which a warp's lanes, a block's warps and a grid's blocks run between two barriers.
enum class Order { forwards, backwards, random };
struct Settings {
  Order order;
  unsigned seed;
  int devices;  ///< that are alike; after them stands one that is too new for the code
};
/// From CAROM_LANES (forwards, backwards, random) and CAROM_SEED, said once on stderr; without
/// them random, by another seed in each process. CAROM_DEVICES: 2 unless it is set.
const Settings& settings();
/// All devices, the last one too new.
inline int device_count() { return settings().devices + 1; }

/// Notes what a device would not have forgiven; the test under way fails.
void problem(const std::string& text);
std::vector<std::string> take_problems();

/// Runs all threads of a grid now.
void run_grid(const cudaLaunchConfig_t& config, const std::function<void()>& thread);

/// Puts work on a stream.
void enqueue(cudaStream_t stream, std::function<void()> work);
/// Carries out what waits on all streams.
void drain_all();

/// The allocation that holds all of these bytes; null where there is none.
struct Allocation {
  char* data;
  std::size_t bytes;
  int device;
};
const Allocation* allocation_of(const void* data, std::size_t bytes);

inline constexpr int kAnyDevice = -1;

/// While one lives the memory of a device may be touched; host code otherwise faults there, as
/// does a kernel of another device.
class DeviceAccess {
 public:
  explicit DeviceAccess(int device);
  DeviceAccess(const DeviceAccess&) = delete;
  DeviceAccess& operator=(const DeviceAccess&) = delete;
  ~DeviceAccess();

 private:
  int device_;
};

}  // namespace cuda_on_host
