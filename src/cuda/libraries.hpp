#pragma once

#include <memory>

#include <cublas_v2.h>
#include <cusolverDn.h>

#include "cuda/runtime.hpp"

/// The functions of cuBLAS and cuSOLVER that carom calls.
#define CAROM_CUBLAS_FUNCTIONS(X) \
  X(cublasCreate)                 \
  X(cublasDestroy)                \
  X(cublasSetStream)              \
  X(cublasGetStatusName)          \
  X(cublasGetStatusString)        \
  X(cublasDtrsv)                  \
  X(cublasDtrsm)                  \
  X(cublasDtrsmBatched)           \
  X(cublasDgemvBatched)           \
  X(cublasDgemmStridedBatched)
#define CAROM_CUSOLVER_FUNCTIONS(X) \
  X(cusolverDnCreate)               \
  X(cusolverDnDestroy)              \
  X(cusolverDnSetStream)            \
  X(cusolverDnCreateParams)         \
  X(cusolverDnDestroyParams)        \
  X(cusolverDnDpotrfBatched)        \
  X(cusolverDnXpotrf_bufferSize)    \
  X(cusolverDnXpotrf)

namespace carom::cuda {

/// NVIDIA's dense linear algebra, opened by the first call that needs it: linked, the two libraries
/// would cost every start of a program a tenth of a second, and no program would start without
/// them.
struct Libraries {
#define CAROM_MEMBER(function) decltype(&::function) function = nullptr;
  CAROM_CUBLAS_FUNCTIONS(CAROM_MEMBER)
  CAROM_CUSOLVER_FUNCTIONS(CAROM_MEMBER)
#undef CAROM_MEMBER
};
/// Errors: CudaError, which names the library or function that is missing.
const Libraries& libraries();

/// Throw CudaError with the call's name and the library's own word for what went wrong.
void check(cublasStatus_t status, const char* call);
void check(cusolverStatus_t status, const char* call);

/// Handles of both libraries, which take long to make: stored for the next call on the same device.
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

  struct Set;

 private:
  int device_ = 0;
  std::unique_ptr<Set> set_;
};

}  // namespace carom::cuda
