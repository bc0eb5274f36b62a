#pragma once

#include <algorithm>
#include <cstdint>

#include <carom/batch.hpp>

#include "cuda/runtime.hpp"

/// What the batched solvers share: how a batch reaches the device piece by piece.
namespace carom::cuda {

/// Bytes of a host batch that are on the device at a time.
inline constexpr std::size_t kPieceBytes = std::size_t{1} << 29;

/// Bytes of global memory for the tableaux of all resident warps.
inline constexpr std::size_t kWorkBytes = std::size_t{1} << 30;

/// An input of a batch: the caller's own device memory, or a piece of host memory brought there.
class Input {
 public:
  Input(const Buffer<double>& values, std::int64_t stride) : values_(&values), stride_(stride) {}

  /// Values of `count` problems from `first` on, on the device.
  const double* piece(std::int64_t first, std::int64_t count, cudaStream_t stream) {
    const double* begin = values_->data() + first * stride_;
    if (values_->space() == MemorySpace::device) return begin;
    return staging_.upload(begin, static_cast<std::size_t>(count * stride_), stream);
  }

 private:
  const Buffer<double>* values_;
  std::int64_t stride_;
  DeviceArray<double> staging_;
};

/// An output of a batch in the batch's own memory space.
template <class T>
class Output {
 public:
  Output(Buffer<T>& values, std::int64_t stride) : values_(&values), stride_(stride) {}

  T* piece(std::int64_t first, std::int64_t count) {
    if (values_->space() == MemorySpace::device) return values_->data() + first * stride_;
    return staging_.reserve(static_cast<std::size_t>(count * stride_));
  }
  void finish(std::int64_t first, std::int64_t count, cudaStream_t stream) {
    if (values_->space() == MemorySpace::device) return;
    download(values_->data() + first * stride_, staging_.data(),
             static_cast<std::size_t>(count * stride_), stream);
  }

 private:
  Buffer<T>* values_;
  std::int64_t stride_;
  DeviceArray<T> staging_;
};

/// Problems of a piece: all of a device batch's, as many of a host batch's as fit.
inline std::int64_t piece_size(std::int64_t problems, MemorySpace space, std::size_t bytes_each) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  if (space == MemorySpace::device) return std::clamp<std::int64_t>(problems, 1, kMost);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(kPieceBytes / bytes_each), 1, kMost);
}

}  // namespace carom::cuda
