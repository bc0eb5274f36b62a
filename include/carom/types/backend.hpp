#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <carom/types/words.hpp>

/// The plain structs of carom/backend.hpp.
namespace carom {

/// Where a batch is solved. All backends live in one binary and are chosen per call.
enum class Backend : std::uint8_t {
  automatic,  ///< cuda where a usable device is present, otherwise cpu
  cpu,        ///< all cores, packs of problems
  cuda,       ///< the same bodies as CUDA kernels
  reference,  ///< plain Eigen and textbook algorithms, slow, shares nothing with the other two
};

template <>
inline constexpr auto words<Backend> = std::to_array<Word<Backend>>({
    {Backend::automatic, "auto"},
    {Backend::cpu, "cpu"},
    {Backend::cuda, "cuda"},
    {Backend::reference, "reference"},
});

/// Arithmetic of the solver: double in either case. A path in float32 was slower on every model and
/// is gone; the word stays for what was written when there was one.
enum class Precision : std::uint8_t { float64, float32 };

template <>
inline constexpr auto words<Precision> = std::to_array<Word<Precision>>({
    {Precision::float64, "double"},
    {Precision::float32, "float"},
});

struct DeviceInfo {
  int index = 0;
  std::string name;
  int compute_capability_major = 0;
  int compute_capability_minor = 0;
  std::size_t memory_bytes = 0;
};

struct BuildInfo {
  std::string version;  ///< library version, e.g. "0.1.0"
  std::string commit;   ///< abbreviated git commit, "unknown" outside a checkout
  std::string compiler;
  std::string build_type;
  bool cuda_compiled = false;
  std::string cuda_version;        ///< toolkit, empty without CUDA
  std::string cuda_architectures;  ///< e.g. "80-real;90", empty without CUDA
};

/// Where the calls of one thread run that use Backend::cuda, as long as the object lives; of
/// several the innermost counts. Without any: the thread's current device, in the order of its
/// legacy default stream. Results have the same bits in every case.
class CudaScope {
 public:
  /// A batch in host memory is divided among the devices (indices of cuda_devices()), a host
  /// thread, stream and memory each: by problems, impacts and motions of fewer problems by samples.
  /// What lives in device memory stays on the first one. Errors:
  /// InvalidInput for a device that is not there or named twice; BackendUnavailable without any.
  explicit CudaScope(std::vector<int> devices);
  /// `stream`: a cudaStream_t of the thread's current device. Work follows what the stream holds; a
  /// call returns when its work is done. The stream outlives the scope.
  explicit CudaScope(void* stream);
  CudaScope(const CudaScope&) = delete;
  CudaScope& operator=(const CudaScope&) = delete;
  ~CudaScope();

  [[nodiscard]] const std::vector<int>& devices() const { return devices_; }
  /// Null where there is none.
  [[nodiscard]] void* const* stream() const { return devices_.empty() ? &stream_ : nullptr; }
  /// The calling thread's innermost one, or null.
  static const CudaScope* current();

 private:
  void enter();

  std::vector<int> devices_;
  void* stream_ = nullptr;
  const CudaScope* outer_ = nullptr;
};

}  // namespace carom
