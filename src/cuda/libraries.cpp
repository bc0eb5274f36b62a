#include "cuda/libraries.hpp"

#ifndef CAROM_CUDA_ON_HOST
#include <dlfcn.h>
#endif

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace carom::cuda {

namespace {

#ifdef CAROM_CUDA_ON_HOST
Libraries open_libraries() {  // tests/cuda_on_host/libraries.cpp is part of the program
  Libraries all;
#define CAROM_TAKE(function) all.function = &::function;
  CAROM_CUBLAS_FUNCTIONS(CAROM_TAKE)
  CAROM_CUSOLVER_FUNCTIONS(CAROM_TAKE)
#undef CAROM_TAKE
  return all;
}
#else
#define CAROM_TEXT(word) CAROM_TEXT_AS_IT_IS(word)  // cublasDtrsm is a macro for cublasDtrsm_v2
#define CAROM_TEXT_AS_IT_IS(word) #word

/// As the loader finds it, or where the toolkit was that compiled this; never closed.
void* opened(const char* library) {
  if (void* found = dlopen(library, RTLD_NOW | RTLD_LOCAL)) return found;
  const std::string why = dlerror();
  const std::string of_toolkit = std::string(CAROM_CUDA_LIBRARY_DIR) + "/" + library;
  if (void* found = dlopen(of_toolkit.c_str(), RTLD_NOW | RTLD_LOCAL)) return found;
  throw CudaError("The CUDA toolkit's " + std::string(library) +
                  " is needed for this call and cannot be loaded: " + why);
}

template <class Function>
void take(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) throw CudaError("The CUDA toolkit has no " + std::string(name));
}

Libraries open_libraries() {
  Libraries all;
  void* library = opened("libcublas.so." CAROM_TEXT(CUBLAS_VER_MAJOR));
#define CAROM_TAKE(function) take(library, CAROM_TEXT(function), all.function);
  CAROM_CUBLAS_FUNCTIONS(CAROM_TAKE)
  library = opened("libcusolver.so." CAROM_TEXT(CUSOLVER_VER_MAJOR));
  CAROM_CUSOLVER_FUNCTIONS(CAROM_TAKE)
#undef CAROM_TAKE
  return all;
}
#endif

}  // namespace

const Libraries& libraries() {
  static const Libraries all = open_libraries();
  return all;
}

struct LibraryHandles::Set {
  Set() {
    check(libraries().cublasCreate(&blas), "cublasCreate");
    check(libraries().cusolverDnCreate(&solver), "cusolverDnCreate");
    check(libraries().cusolverDnCreateParams(&parameters), "cusolverDnCreateParams");
  }
  Set(const Set&) = delete;
  Set& operator=(const Set&) = delete;
  ~Set() {
    if (parameters != nullptr) static_cast<void>(libraries().cusolverDnDestroyParams(parameters));
    if (solver != nullptr) static_cast<void>(libraries().cusolverDnDestroy(solver));
    if (blas != nullptr) static_cast<void>(libraries().cublasDestroy(blas));
  }
  cublasHandle_t blas = nullptr;
  cusolverDnHandle_t solver = nullptr;
  cusolverDnParams_t parameters = nullptr;
};

namespace {

/// Handles that no call uses, by device. Never destroyed: CUDA may be gone before static objects.
struct Idle {
  std::mutex mutex;
  std::map<int, std::vector<std::unique_ptr<LibraryHandles::Set>>> sets;
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
  throw CudaError(std::string(call) + ": " + libraries().cublasGetStatusName(status) + ": " +
                  libraries().cublasGetStatusString(status));
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
    auto& waiting = idle().sets[device_];
    if (!waiting.empty()) {
      set_ = std::move(waiting.back());
      waiting.pop_back();
    }
  }
  if (set_ == nullptr) set_ = std::make_unique<Set>();
  check(libraries().cublasSetStream(set_->blas, stream), "cublasSetStream");
  check(libraries().cusolverDnSetStream(set_->solver, stream), "cusolverDnSetStream");
}

LibraryHandles::~LibraryHandles() {
  if (set_ == nullptr) return;
  const std::lock_guard<std::mutex> lock(idle().mutex);
  idle().sets[device_].push_back(std::move(set_));
}

cublasHandle_t LibraryHandles::blas() const { return set_->blas; }
cusolverDnHandle_t LibraryHandles::solver() const { return set_->solver; }
cusolverDnParams_t LibraryHandles::parameters() const { return set_->parameters; }

}  // namespace carom::cuda
