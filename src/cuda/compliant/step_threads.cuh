#pragma once

#include <cstddef>

namespace carom::cuda {

/// Whose instances of the compliant steps' templates are the device's.
struct DeviceTarget {};

/// Of the kernels in which a thread takes a problem's or a world's steps.
constexpr int kStepThreads = 64;
/// Resident ones: 255 registers, half the spills that 128 would have.
constexpr int kStepBlocks = 4;
/// Bytes of all threads' scratch in global memory.
constexpr std::size_t kMostScratch = std::size_t{4} << 30;

}  // namespace carom::cuda
