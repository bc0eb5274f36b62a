#pragma once

#include <cstddef>
#include <memory>

#include <cublas_v2.h>
#include <cusolverDn.h>

#include "cuda/runtime.hpp"

/// NVIDIA's dense linear algebra for the large quadratic programs.
namespace carom::cuda {

/// Throw CudaError with the call's name and the library's own word for what went wrong.
void check(cublasStatus_t status, const char* call);
void check(cusolverStatus_t status, const char* call);

/// Handles of both libraries, which take long to make: kept for the next call on the same device.
class LibraryHandles {
 public:
  /// Of the current device, bound to `stream`. Errors: CudaError.
  explicit LibraryHandles(cudaStream_t stream);
  LibraryHandles(const LibraryHandles&) = delete;
  LibraryHandles& operator=(const LibraryHandles&) = delete;
  ~LibraryHandles();

  [[nodiscard]] cublasHandle_t blas() const;
  [[nodiscard]] cusolverDnHandle_t solver() const;
  [[nodiscard]] cusolverDnParams_t parameters() const;

  struct Pair;

 private:
  int device_ = 0;
  std::unique_ptr<Pair> pair_;
};

}  // namespace carom::cuda
