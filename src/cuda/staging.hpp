#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include <carom/types/batch.hpp>

#include "cuda/runtime.hpp"

namespace carom::cuda {

/// Bytes of a batch that are on the device at a time: plenty, but for tests.
inline std::atomic<std::size_t> piece_bytes = std::size_t{1} << 29;

/// Bytes of such a piece where pieces alternate between two streams: transfers of that size reach
/// the bus's rate.
inline constexpr std::size_t kAlternateBytes = std::size_t{1} << 25;

/// Bytes of global memory for the tableaux of all resident warps.
inline constexpr std::size_t kWorkBytes = std::size_t{1} << 30;

/// Warps that go through what a first kernel leaves open, `doubles` of scratch for each: as many as
/// are resident, as there are problems, and as kWorkBytes hold.
inline std::int64_t finish_blocks(const void* kernel, long doubles, std::int64_t problems,
                                  const DeviceLimits& limits) {
  const auto held = static_cast<std::int64_t>(kWorkBytes / sizeof(double)) / doubles;
  const std::int64_t most = held > 1 ? held : 1;
  const std::int64_t resident = resident_blocks(kernel, 32, 0, limits);
  const std::int64_t blocks = resident < most ? resident : most;
  return blocks < problems ? blocks : problems;
}

/// One of two pieces, or parts of an array, that are on their way at the same time.
struct StagingSlot {
  int device = 0;
  Stream stream;
  Event computed;  ///< or moved, where parts of an array take turns
  PinnedArray inputs, results;
};

/// Memory of a Staging that outlives it.
struct StagingMemory {
  StagingMemory() = default;
  StagingMemory(const StagingMemory&) = delete;
  StagingMemory& operator=(const StagingMemory&) = delete;
  /// Leaves its slots to later calls: page-locked memory takes long to get.
  ~StagingMemory();

  /// Slot 0 or 1, from those that earlier calls left. Errors: CudaError.
  StagingSlot& slot(int which);

  DeviceArray<char> device;
  std::vector<char> inputs, results;  ///< of small pieces, as on the device

 private:
  std::unique_ptr<StagingSlot> slots_[2];
};

/// A batch on its way through the device, piece by piece. The pointers of a launch are bound to
/// arrays of the batch first; in each piece they then point at the caller's own device memory, or
/// at a copy of the piece's values. All copies and scratch are one allocation, and what small
/// pieces bring or take travels in one transfer.
class Staging {
 public:
  /// `kept`: memory to work with, its own where it is null.
  Staging(const Stream& stream, std::int64_t problems, StagingMemory* kept = nullptr)
      : stream_(stream), problems_(problems), memory_of_(kept != nullptr ? *kept : own_) {}
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging() = default;

  /// `stride` values a problem; null where there are none.
  template <class T>
  void input(const T*& pointer, const Buffer<T>& values, std::int64_t stride) {
    pointer = nullptr;
    if (values.empty()) return;
    add(&pointer, const_cast<T*>(values.data()), values.space(), bytes<T>(stride), false);
  }
  template <class T>
  void result(T*& pointer, Buffer<T>& values, std::int64_t stride) {
    pointer = nullptr;
    if (values.empty()) return;
    add(&pointer, values.data(), values.space(), bytes<T>(stride), true);
  }
  /// All arrays of a batch or result, of which `view` has the pointers.
  template <class View, class Table>
  void inputs(View& view, const Table& table, const typename Table::Sizes& sizes) {
    Table::each_array(
        sizes,
        [this](const char*, const Extents& extents, auto& pointer, const auto& values) {
          input(pointer, values, extents.stride());
        },
        view, table);
  }
  template <class View, class Table>
  void results(View& view, Table& table, const typename Table::Sizes& sizes) {
    Table::each_array(
        sizes,
        [this](const char*, const Extents& extents, auto& pointer, auto& values) {
          result(pointer, values, extents.stride());
        },
        view, table);
  }
  /// `stride` values for each problem of a piece, only on the device.
  template <class T>
  void scratch(T*& pointer, std::int64_t stride) {
    scratch_.push_back({&pointer, bytes<T>(stride), 0});
  }
  /// `count` values whatever the piece, only on the device.
  template <class T>
  void memory(T*& pointer, std::int64_t count) {
    memory_.push_back({&pointer, bytes<T>(count), 0});
  }

  /// As run, for work that uses only stream.get(). While one piece of a large batch is computed,
  /// the next one is copied; two streams of the memory take turns.
  template <class Work>
  void alternate(Work&& work) {
    if (!alternates()) return run(work);
    const std::int64_t piece = reserve(true);
    const Restored restored{stream_};
    for (std::int64_t first = 0; first < problems_; first += piece) {
      send(first, piece < problems_ - first ? piece : problems_ - first);
      work(first, on_way_[turn_].count);
      fetch();
    }
    for (int slot = 0; slot < 2; ++slot) {
      turn_ = 1 - turn_;
      take_back();
    }
  }

  /// Calls work(first, count) for one piece after another; the host waits for each. Errors:
  /// CudaError.
  template <class Work>
  void run(Work&& work) {
    const std::int64_t piece = reserve(false);
    for (std::int64_t first = 0; first < problems_; first += piece) {
      const std::int64_t count = piece < problems_ - first ? piece : problems_ - first;
      start(first, count);
      work(first, count);
      finish(first, count);
    }
  }

 private:
  struct Array {
    void* pointer;  ///< of the launch
    char* values;   ///< of the batch
    bool staged;
    bool result;
    std::size_t stride;
    std::size_t offset;
  };
  struct Scratch {
    void* pointer;
    std::size_t bytes;
    std::size_t offset;
  };

  template <class T>
  static std::size_t bytes(std::int64_t count) {
    return static_cast<std::size_t>(count) * sizeof(T);
  }
  /// Gives the stream back its own, whatever ends the pieces.
  struct Restored {
    const Stream& stream;
    ~Restored() { stream.stand_in(nullptr); }
  };
  struct OnWay {
    std::int64_t first = 0;
    std::int64_t count = 0;  ///< 0: none
  };

  void add(void* pointer, void* values, MemorySpace space, std::size_t stride, bool result);
  /// Bytes of a problem that travel, and all that it has on the device.
  [[nodiscard]] std::size_t staged_bytes() const;
  [[nodiscard]] bool alternates() const;
  /// Lays out memory, with two places for what travels where pieces alternate; returns their size.
  std::int64_t reserve(bool alternating);
  void point(std::int64_t first, char* staged);
  /// Takes the other slot, waits for what is on its way there, and sends a piece.
  void send(std::int64_t first, std::int64_t count);
  void fetch();
  void take_back();
  void start(std::int64_t first, std::int64_t count);
  void finish(std::int64_t first, std::int64_t count);
  /// Large arrays in parts through page-locked memory, which all of the host's threads copy.
  void to_device(char* to, const char* from, std::size_t bytes);
  void to_host(char* to, const char* from, std::size_t bytes);
  void take_part(char* to, int which, std::size_t bytes);
  /// The slot whose turn it is, with a part's memory that no transfer needs any more.
  StagingSlot& next_part();
  /// The staged inputs or results, one copy each, between the batch and what `place` says.
  template <class Place>
  void copy_each(bool results, std::int64_t first, std::int64_t count, Place&& place);

  const Stream& stream_;
  std::int64_t problems_;
  std::vector<Array> arrays_;
  std::vector<Scratch> scratch_, memory_;
  StagingMemory own_;
  StagingMemory& memory_of_;
  std::size_t results_begin_ = 0, results_end_ = 0;
  OnWay on_way_[2];
  int turn_ = 0;
};

}  // namespace carom::cuda
