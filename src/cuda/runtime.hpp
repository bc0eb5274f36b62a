#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <cuda_runtime_api.h>

#include <carom/types/error.hpp>

namespace carom::cuda {

/// Throws CudaError with the call's name and CUDA's own text unless the call succeeded.
void check(cudaError_t error, const char* call);

/// A stream of the current device that keeps the order with its legacy default stream, on which a
/// caller may have prepared a device-resident batch. Work on streams that do not
/// (cudaStreamNonBlocking, default streams of each thread) the caller waits for.
class Stream {
 public:
  Stream() { check(cudaStreamCreate(&stream_), "cudaStreamCreate"); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { static_cast<void>(cudaStreamDestroy(stream_)); }

  /// The calling thread's own stream where it has chosen one (CudaScope).
  [[nodiscard]] cudaStream_t get() const;
  void synchronize() const { check(cudaStreamSynchronize(get()), "cudaStreamSynchronize"); }
  /// What get() returns from now on; null: the object's own.
  void stand_in(cudaStream_t other) const { other_ = other; }

 private:
  cudaStream_t stream_ = nullptr;
  mutable cudaStream_t other_ = nullptr;
};

/// A place in a stream that others wait for.
class Event {
 public:
  Event() {
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { static_cast<void>(cudaEventDestroy(event_)); }

  void record(cudaStream_t stream) const {
    check(cudaEventRecord(event_, stream), "cudaEventRecord");
  }
  void wait(cudaStream_t stream) const {
    check(cudaStreamWaitEvent(stream, event_, 0), "cudaStreamWaitEvent");
  }
  /// The host waits; not at all where nothing was recorded.
  void synchronize() const { check(cudaEventSynchronize(event_), "cudaEventSynchronize"); }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Page-locked host memory, which copies read and write while a kernel runs; grows, losing
/// contents.
class PinnedArray {
 public:
  PinnedArray() = default;
  PinnedArray(const PinnedArray&) = delete;
  PinnedArray& operator=(const PinnedArray&) = delete;
  ~PinnedArray() { static_cast<void>(cudaFreeHost(data_)); }

  char* reserve(std::size_t bytes) {
    if (bytes > bytes_) {
      static_cast<void>(cudaFreeHost(std::exchange(data_, nullptr)));
      bytes_ = 0;
      check(cudaMallocHost(&data_, bytes), "cudaMallocHost");
      bytes_ = bytes;
    }
    return data();
  }
  [[nodiscard]] char* data() const { return static_cast<char*>(data_); }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Most bytes that calls without a workspace leave to later ones, of all devices together; 0: none.
inline std::atomic<std::size_t> pool_bytes = std::size_t{1} << 30;

/// Memory of the device that was current when it was taken.
struct DeviceBytes {
  void* data = nullptr;
  std::size_t size = 0;
  int device = 0;
};
/// At least so many bytes, from the pool where it has any that fit. Errors: CudaError.
DeviceBytes take_bytes(std::size_t size);
/// Waits for the device, as cudaFree does, before others may have them.
void give_back(const DeviceBytes& bytes) noexcept;

/// Device memory that grows and never shrinks; growing loses the contents.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { give_back(bytes_); }

  /// Room for `size` values at least. Errors: CudaError.
  T* reserve(std::size_t size) {
    if (size * sizeof(T) > bytes_.size) {
      give_back(std::exchange(bytes_, {}));
      bytes_ = take_bytes(size * sizeof(T));
    }
    return data();
  }

  T* upload(const T* values, std::size_t size, cudaStream_t stream) {
    reserve(size);
    if (size > 0) {
      check(cudaMemcpyAsync(data(), values, size * sizeof(T), cudaMemcpyHostToDevice, stream),
            "cudaMemcpyAsync to the device");
    }
    return data();
  }

  [[nodiscard]] T* data() const { return static_cast<T*>(bytes_.data); }

 private:
  DeviceBytes bytes_;
};

template <class T>
void download(T* to, const T* from, std::size_t size, cudaStream_t stream) {
  if (size == 0) return;
  check(cudaMemcpyAsync(to, from, size * sizeof(T), cudaMemcpyDeviceToHost, stream),
        "cudaMemcpyAsync to the host");
}

/// Errors: InvalidInput where `data` is memory of another device than the current one.
void require_current_device(const void* data);

/// Dynamic shared memory, in bytes, that every device gives a block without being asked.
inline constexpr std::size_t kSharedWithoutOptIn = 48 * 1024;

/// What a launch policy needs to know of the device in use.
struct DeviceLimits {
  int device = 0;
  int multiprocessors = 1;
  std::size_t shared_per_block = kSharedWithoutOptIn;  ///< after opting in
};
DeviceLimits device_limits();

/// Blocks of one warp with `shared_bytes` of dynamic shared memory that are resident at once on the
/// whole device; raises the kernel's limit where it needs more than the default.
int resident_blocks(const void* kernel, int threads, std::size_t shared_bytes,
                    const DeviceLimits& limits);

}  // namespace carom::cuda
