#include "cuda/staging.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <utility>

#include <carom/types/backend.hpp>

#include "core/parallel.hpp"

namespace carom::cuda {

namespace {

constexpr std::int64_t kMostProblems = std::int64_t{1} << 30;
/// Inputs or results up to here travel together: a copy on the host costs less than a transfer.
constexpr std::size_t kTogetherBytes = std::size_t{1} << 18;
constexpr std::size_t kAlignment = 256;

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// Arrays from here on travel in such parts.
constexpr std::size_t kPartBytes = std::size_t{1} << 24;
/// What a thread copies at a time.
constexpr std::int64_t kGrainBytes = std::int64_t{1} << 20;
constexpr std::size_t kMostFreeSlots = 8;

/// One thread moves a tenth of what the bus does.
void copy_by_all(char* to, const char* from, std::size_t bytes) {
  parallel_for(static_cast<std::int64_t>(bytes), kGrainBytes, 0,
               [=](std::int64_t begin, std::int64_t end) {
                 std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
               });
}

struct FreeSlots {
  std::mutex mutex;
  std::vector<std::unique_ptr<StagingSlot>> slots;
};
FreeSlots& free_slots() {
  static auto* const all = new FreeSlots;  // outlives static objects that have slots
  return *all;
}

/// Pointers of any type are set alike.
void set(void* pointer, char* value) { std::memcpy(pointer, &value, sizeof(value)); }

}  // namespace

StagingSlot& StagingMemory::slot(int which) {
  std::unique_ptr<StagingSlot>& own = slots_[which];
  if (own != nullptr) return *own;
  int current = 0;
  check(cudaGetDevice(&current), "cudaGetDevice");
  FreeSlots& all = free_slots();
  {
    const std::lock_guard lock(all.mutex);
    const auto found = std::find_if(all.slots.begin(), all.slots.end(),
                                    [&](const auto& slot) { return slot->device == current; });
    if (found != all.slots.end()) {
      own = std::move(*found);
      all.slots.erase(found);
      return *own;
    }
  }
  own = std::make_unique<StagingSlot>();
  own->device = current;
  return *own;
}

StagingMemory::~StagingMemory() {
  if (std::uncaught_exceptions() > 0) return;  // something may still be on its way
  FreeSlots& all = free_slots();
  const std::lock_guard lock(all.mutex);
  for (std::unique_ptr<StagingSlot>& slot : slots_) {
    if (slot == nullptr || all.slots.size() >= kMostFreeSlots) continue;
    try {
      all.slots.push_back(std::move(slot));
    } catch (const std::bad_alloc&) {
    }
  }
}

void Staging::add(void* pointer, void* values, MemorySpace space, std::size_t stride, bool result) {
  if (space == MemorySpace::device) require_current_device(values);
  arrays_.push_back(
      {pointer, static_cast<char*>(values), space == MemorySpace::host, result, stride, 0});
}

std::size_t Staging::staged_bytes() const {
  std::size_t each = 0;
  for (const Array& array : arrays_) each += array.staged ? array.stride : 0;
  return each;
}

bool Staging::alternates() const {
  const CudaScope* const scope = CudaScope::current();
  const std::size_t bytes = staged_bytes();
  return (scope == nullptr || scope->stream() == nullptr) && bytes > 0 &&
         static_cast<std::size_t>(problems_) > std::min(kAlternateBytes, piece_bytes / 2) / bytes;
}

std::int64_t Staging::reserve(bool alternating) {
  const std::size_t staged = staged_bytes();
  std::size_t each = staged;
  for (const Scratch& scratch : scratch_) each += scratch.bytes;
  std::int64_t fitting = kMostProblems;
  if (alternating) {
    fitting = static_cast<std::int64_t>(std::min(kAlternateBytes, piece_bytes / 2) / staged);
  } else if (each > 0) {
    fitting = static_cast<std::int64_t>(piece_bytes / each);
  }
  const std::int64_t piece =
      std::clamp<std::int64_t>(std::min(fitting, problems_), 1, kMostProblems);
  const auto problems = static_cast<std::size_t>(piece);
  std::size_t end = 0;
  const auto take = [&end](std::size_t bytes) {
    const std::size_t begin = end;
    end += aligned(bytes);
    return begin;
  };
  const auto place = [&](bool results) {
    for (Array& array : arrays_) {
      if (array.staged && array.result == results) array.offset = take(problems * array.stride);
    }
    return end;
  };
  results_begin_ = place(false);
  results_end_ = place(true);
  if (alternating) end += results_end_;
  for (Scratch& scratch : scratch_) scratch.offset = take(problems * scratch.bytes);
  for (Scratch& memory : memory_) memory.offset = take(memory.bytes);
  char* const device = memory_of_.device.reserve(end);
  for (const auto* list : {&scratch_, &memory_}) {
    for (const Scratch& scratch : *list) set(scratch.pointer, device + scratch.offset);
  }
  const std::size_t returned = results_end_ - results_begin_;
  if (alternating) {
    for (const int which : {0, 1}) {
      memory_of_.slot(which).inputs.reserve(results_begin_);
      memory_of_.slot(which).results.reserve(returned);
    }
    return piece;
  }
  memory_of_.inputs.resize(results_begin_ <= kTogetherBytes ? results_begin_ : 0);
  memory_of_.results.resize(returned <= kTogetherBytes ? returned : 0);
  return piece;
}

template <class Place>
void Staging::copy_each(bool results, std::int64_t first, std::int64_t count, Place&& place) {
  for (const Array& array : arrays_) {
    if (!array.staged || array.result != results) continue;
    place(array.values + static_cast<std::size_t>(first) * array.stride, array.offset,
          static_cast<std::size_t>(count) * array.stride);
  }
}

void Staging::point(std::int64_t first, char* staged) {
  for (const Array& array : arrays_) {
    set(array.pointer, array.staged
                           ? staged + array.offset
                           : array.values + static_cast<std::size_t>(first) * array.stride);
  }
}

void Staging::start(std::int64_t first, std::int64_t count) {
  char* const device = memory_of_.device.data();
  point(first, device);
  if (results_begin_ == 0) return;
  const bool together = !memory_of_.inputs.empty();
  copy_each(false, first, count, [&](const char* values, std::size_t offset, std::size_t bytes) {
    if (together) {
      std::memcpy(memory_of_.inputs.data() + offset, values, bytes);
    } else {
      to_device(device + offset, values, bytes);
    }
  });
  if (together) {
    check(cudaMemcpyAsync(device, memory_of_.inputs.data(), memory_of_.inputs.size(),
                          cudaMemcpyHostToDevice, stream_.get()),
          "cudaMemcpyAsync to the device");
  }
}

void Staging::finish(std::int64_t first, std::int64_t count) {
  const char* const device = memory_of_.device.data();
  const bool together = !memory_of_.results.empty();
  if (together) {
    download(memory_of_.results.data(), device + results_begin_, memory_of_.results.size(),
             stream_.get());
  } else {
    copy_each(true, first, count, [&](char* values, std::size_t offset, std::size_t bytes) {
      to_host(values, device + offset, bytes);
    });
  }
  stream_.synchronize();
  if (!together) return;
  copy_each(true, first, count, [&](char* values, std::size_t offset, std::size_t bytes) {
    std::memcpy(values, memory_of_.results.data() + (offset - results_begin_), bytes);
  });
}

StagingSlot& Staging::next_part() {
  turn_ = 1 - turn_;
  StagingSlot& slot = memory_of_.slot(turn_);
  slot.inputs.reserve(kPartBytes);
  slot.computed.synchronize();
  return slot;
}

void Staging::to_device(char* to, const char* from, std::size_t bytes) {
  const cudaStream_t stream = stream_.get();
  const auto send = [&](std::size_t at, const char* source, std::size_t size) {
    check(cudaMemcpyAsync(to + at, source, size, cudaMemcpyHostToDevice, stream),
          "cudaMemcpyAsync to the device");
  };
  if (bytes < kPartBytes) return send(0, from, bytes);
  for (std::size_t done = 0; done < bytes; done += kPartBytes) {
    const StagingSlot& slot = next_part();
    const std::size_t part = std::min(kPartBytes, bytes - done);
    copy_by_all(slot.inputs.data(), from + done, part);
    send(done, slot.inputs.data(), part);
    slot.computed.record(stream);
  }
}

void Staging::to_host(char* to, const char* from, std::size_t bytes) {
  const cudaStream_t stream = stream_.get();
  if (bytes < kPartBytes) return download(to, from, bytes, stream);
  std::size_t before = 0;  // where the part begins that is on its way
  for (std::size_t done = 0; done < bytes; done += kPartBytes) {
    const StagingSlot& slot = next_part();
    download(slot.inputs.data(), from + done, std::min(kPartBytes, bytes - done), stream);
    slot.computed.record(stream);
    if (done > 0) take_part(to + before, 1 - turn_, done - before);
    before = done;
  }
  take_part(to + before, turn_, bytes - before);
}

void Staging::take_part(char* to, int which, std::size_t bytes) {
  const StagingSlot& slot = memory_of_.slot(which);
  slot.computed.synchronize();
  copy_by_all(to, slot.inputs.data(), bytes);
}

void Staging::send(std::int64_t first, std::int64_t count) {
  const StagingSlot& before = memory_of_.slot(turn_);
  const bool follows = on_way_[turn_].count > 0;
  turn_ = 1 - turn_;
  take_back();
  StagingSlot& slot = memory_of_.slot(turn_);
  on_way_[turn_] = {first, count};
  char* const staged = memory_of_.device.data() + static_cast<std::size_t>(turn_) * results_end_;
  point(first, staged);
  stream_.stand_in(slot.stream.get());
  if (results_begin_ > 0) {
    copy_each(false, first, count, [&](const char* values, std::size_t offset, std::size_t bytes) {
      copy_by_all(slot.inputs.data() + offset, values, bytes);
    });
    check(cudaMemcpyAsync(staged, slot.inputs.data(), results_begin_, cudaMemcpyHostToDevice,
                          stream_.get()),
          "cudaMemcpyAsync to the device");
  }
  if (follows) before.computed.wait(stream_.get());  // both work with one scratch
}

void Staging::fetch() {
  StagingSlot& slot = memory_of_.slot(turn_);
  slot.computed.record(stream_.get());
  const char* const staged =
      memory_of_.device.data() + static_cast<std::size_t>(turn_) * results_end_;
  download(slot.results.data(), staged + results_begin_, results_end_ - results_begin_,
           stream_.get());
}

void Staging::take_back() {
  OnWay& piece = on_way_[turn_];
  if (piece.count == 0) return;
  const StagingSlot& slot = memory_of_.slot(turn_);
  slot.stream.synchronize();
  copy_each(true, piece.first, piece.count,
            [&](char* values, std::size_t offset, std::size_t bytes) {
              copy_by_all(values, slot.results.data() + (offset - results_begin_), bytes);
            });
  piece.count = 0;
}

}  // namespace carom::cuda
