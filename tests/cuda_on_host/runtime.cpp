#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "device.hpp"

namespace cuda_on_host {

namespace {

struct Span {
  const char* begin;
  const char* end;
};

struct Stream {
  int device = 0;
  std::deque<std::function<void()>> waiting;
  std::vector<Span> sources;  ///< host memory that waiting copies read
};

std::set<Stream*>& streams() {
  static auto* const all = new std::set<Stream*>;
  return *all;
}

std::map<const void*, std::size_t>& shared_limits() {
  static auto* const all = new std::map<const void*, std::size_t>;
  return *all;
}

long downloads = 0;
thread_local cudaError_t last_error = cudaSuccess;

cudaError_t fail(cudaError_t error) {
  last_error = error;
  return error;
}

/// Whether an error is on its way. What waits then is for nobody, and its host memory may be gone.
bool failing() { return std::uncaught_exceptions() > 0 || std::current_exception() != nullptr; }

/// What a stream holds first.
void run_first(Stream& stream) {
  const std::function<void()> next = std::move(stream.waiting.front());
  stream.waiting.pop_front();
  next();
}

/// The place of an event's last record.
struct Record {
  Stream* stream;
  bool reached = false;
};
struct Event {
  std::shared_ptr<Record> last;
};

void drain(Stream& stream) {
  if (stream.waiting.empty()) return;
  if (failing()) {
    stream.waiting.clear();
    stream.sources.clear();
    return;
  }
  const DeviceAccess access(stream.device);
  while (!stream.waiting.empty()) run_first(stream);
  stream.sources.clear();
}

/// Rows of a copy.
struct Copy {
  char* to;
  std::size_t to_pitch;
  const char* from;
  std::size_t from_pitch;
  std::size_t width, height;

  [[nodiscard]] Span source() const { return {from, from + (height - 1) * from_pitch + width}; }
  [[nodiscard]] Span target() const { return {to, to + (height - 1) * to_pitch + width}; }

  void carry_out() const {
    for (std::size_t r = 0; r < height; ++r) {
      std::memcpy(to + r * to_pitch, from + r * from_pitch, width);
    }
  }
  /// The source's rows, one after the other.
  [[nodiscard]] std::vector<char> packed() const {
    std::vector<char> rows(width * height);
    for (std::size_t r = 0; r < height; ++r) {
      std::memcpy(rows.data() + r * width, from + r * from_pitch, width);
    }
    return rows;
  }
  /// Until the copy has arrived its target holds nonsense.
  void spoil() const {
    for (std::size_t r = 0; r < height; ++r) std::memset(to + r * to_pitch, 0xcd, width);
  }
};

bool lies_on_device(const Span& span) {
  return allocation_of(span.begin, static_cast<std::size_t>(span.end - span.begin)) != nullptr;
}

cudaError_t start_copy(const Copy& copy, cudaMemcpyKind kind, cudaStream_t on) {
  const std::lock_guard lock(mutex());
  if (copy.width == 0 || copy.height == 0) return cudaSuccess;
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (lies_on_device(copy.target()) != to_device || lies_on_device(copy.source()) != from_device) {
    problem("a copy between memories that are not those of its kind, or are too small");
    return fail(cudaErrorInvalidValue);
  }
  if (on == nullptr) {
    enqueue(on, [copy] { copy.carry_out(); });
    return cudaSuccess;
  }
  Stream& stream = *reinterpret_cast<Stream*>(on);
  if (kind == cudaMemcpyHostToDevice) {
    stream.sources.push_back(copy.source());
    enqueue(on, [copy, then = copy.packed()] {
      if (copy.packed() != then) problem("the source of a copy changed before the copy read it");
      copy.carry_out();
    });
    return cudaSuccess;
  }
  if (kind == cudaMemcpyDeviceToHost) {
    const Span target = copy.target();
    const bool source_too = std::any_of(
        stream.sources.begin(), stream.sources.end(),
        [&](const Span& span) { return target.begin < span.end && span.begin < target.end; });
    if (!source_too) copy.spoil();
    ++downloads;
  }
  enqueue(on, [copy] { copy.carry_out(); });
  return cudaSuccess;
}

}  // namespace

long downloads_made() { return downloads; }

void drain_all() {
  for (Stream* stream : streams()) drain(*stream);
}

void enqueue(cudaStream_t on, std::function<void()> work) {
  const std::lock_guard lock(mutex());
  if (on == nullptr) {  // the legacy stream: all others wait for it, and it for them
    drain_all();
    const DeviceAccess access(kAnyDevice);
    work();
    return;
  }
  auto* const stream = reinterpret_cast<Stream*>(on);
  if (streams().count(stream) == 0) {
    problem("work for a stream that is gone");
    return;
  }
  stream->waiting.push_back(std::move(work));
}

cudaError_t launch(const void* kernel, const cudaLaunchConfig_t& config,
                   std::function<void()> thread) {
  const std::lock_guard lock(mutex());
  const unsigned blocks = config.gridDim.x;
  const unsigned threads = config.blockDim.x;
  if (blocks == 0 || blocks > 0x7fffffffU || threads == 0 || threads > 1024) {
    return fail(cudaErrorInvalidConfiguration);
  }
  const auto raised = shared_limits().find(kernel);
  const std::size_t limit = raised == shared_limits().end() ? kDefaultSharedBytes : raised->second;
  if (config.dynamicSmemBytes > std::max(limit, kDefaultSharedBytes)) {
    return fail(cudaErrorInvalidValue);
  }
  int device = 0;
  cudaGetDevice(&device);
  if (config.stream != nullptr && reinterpret_cast<Stream*>(config.stream)->device != device) {
    return fail(cudaErrorInvalidResourceHandle);
  }
  enqueue(config.stream, [config, thread = std::move(thread)] { run_grid(config, thread); });
  return cudaSuccess;
}

}  // namespace cuda_on_host

using namespace cuda_on_host;

cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration:
      return "cudaErrorInvalidConfiguration";
    default:
      return "cudaErrorInvalidValue";
  }
}
const char* cudaGetErrorString(cudaError_t) { return "on a device that the host plays"; }

cudaError_t cudaGetDeviceCount(int* count) {
  *count = device_count();
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device < 0 || device >= device_count()) return cudaErrorInvalidDevice;
  *properties = {"a device that the host plays", kDeviceBytes,
                 device == settings().devices ? 12 : 9, 0};
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrMultiProcessorCount ? kMultiprocessors
                                                       : static_cast<int>(kSharedBytes);
  return cudaSuccess;
}

// Shared memory that any kernel may declare itself, beside what a launch asks for.
constexpr std::size_t kDeclaredBytes = 512;

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  int device = 0;
  cudaGetDevice(&device);
  attributes->binaryVersion = 90;
  attributes->sharedSizeBytes = kDeclaredBytes;
  return device == settings().devices ? fail(cudaErrorNoKernelImageForDevice) : cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute, int value) {
  {
    const std::lock_guard lock(mutex());
    if (value < 0 || static_cast<std::size_t>(value) > kSharedBytes - kDeclaredBytes) {
      return fail(cudaErrorInvalidValue);
    }
    shared_limits()[kernel] = static_cast<std::size_t>(value);
  }
  // Host threads that set different values are to meet.
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int threads,
                                                          std::size_t shared_bytes) {
  const int by_threads = 2048 / ((threads + 31) / 32 * 32);
  const int by_shared = static_cast<int>((kSharedBytes + 1024) / (shared_bytes + 1024));
  *blocks = std::min({32, by_threads, by_shared});
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return cudaMemcpy2DAsync(to, bytes, from, bytes, bytes, 1, kind, stream);
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return start_copy(
      {static_cast<char*>(to), to_pitch, static_cast<const char*>(from), from_pitch, width, height},
      kind, stream);
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}

cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t stream) {
  if (allocation_of(data, bytes) == nullptr) {
    problem("cudaMemsetAsync outside device memory");
    return fail(cudaErrorInvalidValue);
  }
  enqueue(stream, [=] { std::memset(data, value, bytes); });
  return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  const std::lock_guard lock(mutex());
  auto* const made = new Stream;
  cudaGetDevice(&made->device);
  streams().insert(made);
  *stream = reinterpret_cast<cudaStream_t>(made);
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t on) {
  const std::lock_guard lock(mutex());
  auto* const stream = reinterpret_cast<Stream*>(on);
  if (streams().erase(stream) == 0) return fail(cudaErrorInvalidResourceHandle);
  if (!stream->waiting.empty() && !failing()) {
    problem("a stream ends with work that nobody waited for");
  }
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() { return cudaStreamSynchronize(nullptr); }

cudaError_t cudaStreamSynchronize(cudaStream_t on) {
  const std::lock_guard lock(mutex());
  if (on == nullptr) {
    drain_all();
  } else {
    drain(*reinterpret_cast<Stream*>(on));
  }
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(new Event);
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete reinterpret_cast<Event*>(event);
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t on) {
  const std::lock_guard lock(mutex());
  auto record = std::make_shared<Record>(Record{reinterpret_cast<Stream*>(on)});
  reinterpret_cast<Event*>(event)->last = record;
  enqueue(on, [record] { record->reached = true; });
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const std::lock_guard lock(mutex());
  const std::shared_ptr<Record> record = reinterpret_cast<Event*>(event)->last;
  if (record == nullptr || record->reached || streams().count(record->stream) == 0) {
    return cudaSuccess;
  }
  const DeviceAccess access(record->stream->device);
  while (!record->reached && !record->stream->waiting.empty()) run_first(*record->stream);
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t on, cudaEvent_t event, unsigned) {
  const std::lock_guard lock(mutex());
  enqueue(on, [record = reinterpret_cast<Event*>(event)->last] {
    while (record != nullptr && !record->reached && streams().count(record->stream) > 0 &&
           !record->stream->waiting.empty()) {
      run_first(*record->stream);
    }
  });
  return cudaSuccess;
}
