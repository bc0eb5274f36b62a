#pragma once

#include <stdexcept>
#include <string>

namespace carom {

/// Problem data or a setting was refused. The message names the field, the index and the value.
class InvalidInput : public std::invalid_argument {
 public:
  explicit InvalidInput(const std::string& message) : std::invalid_argument(message) {}
};

/// The requested backend is not compiled in or has no usable device.
class BackendUnavailable : public std::runtime_error {
 public:
  explicit BackendUnavailable(const std::string& message) : std::runtime_error(message) {}
};

/// The CUDA runtime reported an error; the message carries the call and CUDA's own text.
class CudaError : public std::runtime_error {
 public:
  explicit CudaError(const std::string& message) : std::runtime_error(message) {}
};

}  // namespace carom
