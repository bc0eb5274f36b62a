#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include <carom/backend.hpp>
#include <carom/batch.hpp>
#include <carom/error.hpp>

#include "core/message.hpp"

/// Checks that the public functions share. Errors: InvalidInput naming the field and the value.
namespace carom::require {

inline void positive(const char* field, double value) {
  if (value > 0.0 && std::isfinite(value)) return;
  throw InvalidInput(std::string(field) + " is " + message::number(value) +
                     ": must be positive and finite");
}

/// What a residual may be at most; a larger tolerance would certify what is no answer at all.
inline constexpr double kLargestTolerance = 1e-3;

inline void tolerance(const char* field, double value) {
  if (value > 0.0 && value <= kLargestTolerance) return;
  throw InvalidInput(std::string(field) + " is " + message::number(value) +
                     ": must be in (0, 1e-3]");
}

inline void at_least(const char* field, std::int64_t value, std::int64_t least) {
  if (value >= least) return;
  throw InvalidInput(std::string(field) + " is " + std::to_string(value) +
                     ": must be >= " + std::to_string(least));
}

inline void between(const char* field, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value >= low && value <= high) return;
  throw InvalidInput(std::string(field) + " is " + std::to_string(value) + ": must be in " +
                     std::to_string(low) + ".." + std::to_string(high));
}

/// Number of values of an array.
inline void size(const char* field, std::size_t values, std::size_t expected) {
  if (values == expected) return;
  throw InvalidInput(std::string(field) + " has " + std::to_string(values) + " values: must have " +
                     std::to_string(expected));
}

/// Only cuda works on batches in device memory.
inline void reachable(Backend chosen, MemorySpace space) {
  if (chosen == Backend::cuda || space == MemorySpace::host) return;
  throw InvalidInput("backend " + std::string(to_string(chosen)) +
                     ": works in host memory; the batch is on the device");
}

}  // namespace carom::require
