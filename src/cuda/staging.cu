#include "cuda/staging.hpp"

#include <algorithm>
#include <cstring>

namespace carom::cuda {

namespace {

constexpr std::int64_t kMostProblems = std::int64_t{1} << 30;
/// Inputs or results up to here travel together: a copy on the host costs less than a transfer.
constexpr std::size_t kTogetherBytes = std::size_t{1} << 18;
constexpr std::size_t kAlignment = 256;

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// Pointers of any type are set alike.
void set(void* pointer, char* value) { std::memcpy(pointer, &value, sizeof(value)); }

}  // namespace

void Staging::add(void* pointer, void* values, MemorySpace space, std::size_t stride, bool result) {
  if (space == MemorySpace::device) require_current_device(values);
  arrays_.push_back(
      {pointer, static_cast<char*>(values), space == MemorySpace::host, result, stride, 0});
}

std::int64_t Staging::reserve() {
  std::size_t each = 0;
  for (const Array& array : arrays_) each += array.staged ? array.stride : 0;
  for (const Scratch& scratch : scratch_) each += scratch.bytes;
  const std::int64_t fitting =
      each == 0 ? kMostProblems : static_cast<std::int64_t>(piece_bytes / each);
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
  for (Scratch& scratch : scratch_) scratch.offset = take(problems * scratch.bytes);
  for (Scratch& memory : memory_) memory.offset = take(memory.bytes);
  char* const device = memory_of_.device.reserve(end);
  for (const auto* list : {&scratch_, &memory_}) {
    for (const Scratch& scratch : *list) set(scratch.pointer, device + scratch.offset);
  }
  memory_of_.inputs.resize(results_begin_ <= kTogetherBytes ? results_begin_ : 0);
  const std::size_t returned = results_end_ - results_begin_;
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

void Staging::start(std::int64_t first, std::int64_t count) {
  char* const device = memory_of_.device.data();
  for (const Array& array : arrays_) {
    set(array.pointer, array.staged
                           ? device + array.offset
                           : array.values + static_cast<std::size_t>(first) * array.stride);
  }
  if (results_begin_ == 0) return;
  const bool together = !memory_of_.inputs.empty();
  copy_each(false, first, count, [&](const char* values, std::size_t offset, std::size_t bytes) {
    if (together) {
      std::memcpy(memory_of_.inputs.data() + offset, values, bytes);
    } else {
      check(cudaMemcpyAsync(device + offset, values, bytes, cudaMemcpyHostToDevice, stream_.get()),
            "cudaMemcpyAsync to the device");
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
      download(values, device + offset, bytes, stream_.get());
    });
  }
  stream_.synchronize();
  if (!together) return;
  copy_each(true, first, count, [&](char* values, std::size_t offset, std::size_t bytes) {
    std::memcpy(values, memory_of_.results.data() + (offset - results_begin_), bytes);
  });
}

}  // namespace carom::cuda
