#include "cuda/programs/qp_libraries.hpp"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace carom::cuda {

struct LibraryHandles::Pair {
  Pair() {
    check(cublasCreate(&blas), "cublasCreate");
    check(cusolverDnCreate(&solver), "cusolverDnCreate");
    check(cusolverDnCreateParams(&parameters), "cusolverDnCreateParams");
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  ~Pair() {
    if (parameters != nullptr) static_cast<void>(cusolverDnDestroyParams(parameters));
    if (solver != nullptr) static_cast<void>(cusolverDnDestroy(solver));
    if (blas != nullptr) static_cast<void>(cublasDestroy(blas));
  }
  cublasHandle_t blas = nullptr;
  cusolverDnHandle_t solver = nullptr;
  cusolverDnParams_t parameters = nullptr;
};

namespace {

/// Handles that no call uses, by device. Never destroyed: CUDA may be gone before static objects.
struct Idle {
  std::mutex mutex;
  std::map<int, std::vector<std::unique_ptr<LibraryHandles::Pair>>> pairs;
};
Idle& idle() {
  static auto* const all = new Idle;
  return *all;
}

const char* name_of(cusolverStatus_t status) {
  switch (status) {
    case CUSOLVER_STATUS_NOT_INITIALIZED:
      return "CUSOLVER_STATUS_NOT_INITIALIZED";
    case CUSOLVER_STATUS_ALLOC_FAILED:
      return "CUSOLVER_STATUS_ALLOC_FAILED";
    case CUSOLVER_STATUS_INVALID_VALUE:
      return "CUSOLVER_STATUS_INVALID_VALUE";
    case CUSOLVER_STATUS_ARCH_MISMATCH:
      return "CUSOLVER_STATUS_ARCH_MISMATCH";
    case CUSOLVER_STATUS_EXECUTION_FAILED:
      return "CUSOLVER_STATUS_EXECUTION_FAILED";
    case CUSOLVER_STATUS_INTERNAL_ERROR:
      return "CUSOLVER_STATUS_INTERNAL_ERROR";
    default:
      return "cuSOLVER status";
  }
}

}  // namespace

void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw CudaError(std::string(call) + ": " + cublasGetStatusName(status) + ": " +
                  cublasGetStatusString(status));
}

void check(cusolverStatus_t status, const char* call) {
  if (status == CUSOLVER_STATUS_SUCCESS) return;
  throw CudaError(std::string(call) + ": " + name_of(status) + " (" +
                  std::to_string(static_cast<int>(status)) + ")");
}

LibraryHandles::LibraryHandles(cudaStream_t stream) {
  check(cudaGetDevice(&device_), "cudaGetDevice");
  {
    const std::lock_guard<std::mutex> lock(idle().mutex);
    auto& waiting = idle().pairs[device_];
    if (!waiting.empty()) {
      pair_ = std::move(waiting.back());
      waiting.pop_back();
    }
  }
  if (pair_ == nullptr) pair_ = std::make_unique<Pair>();
  check(cublasSetStream(pair_->blas, stream), "cublasSetStream");
  check(cusolverDnSetStream(pair_->solver, stream), "cusolverDnSetStream");
}

LibraryHandles::~LibraryHandles() {
  if (pair_ == nullptr) return;
  const std::lock_guard<std::mutex> lock(idle().mutex);
  idle().pairs[device_].push_back(std::move(pair_));
}

cublasHandle_t LibraryHandles::blas() const { return pair_->blas; }
cusolverDnHandle_t LibraryHandles::solver() const { return pair_->solver; }
cusolverDnParams_t LibraryHandles::parameters() const { return pair_->parameters; }

}  // namespace carom::cuda
