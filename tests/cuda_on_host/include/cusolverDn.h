#pragma once

#include <cstdint>

#include <cublas_v2.h>

struct cusolverDnContext;
using cusolverDnHandle_t = cusolverDnContext*;
struct cusolverDnParams;
using cusolverDnParams_t = cusolverDnParams*;

enum cusolverStatus_t {
  CUSOLVER_STATUS_SUCCESS = 0,
  CUSOLVER_STATUS_NOT_INITIALIZED = 1,
  CUSOLVER_STATUS_ALLOC_FAILED = 2,
  CUSOLVER_STATUS_INVALID_VALUE = 3,
  CUSOLVER_STATUS_ARCH_MISMATCH = 4,
  CUSOLVER_STATUS_EXECUTION_FAILED = 6,
  CUSOLVER_STATUS_INTERNAL_ERROR = 7
};

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle);
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle);
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream);
cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* parameters);
cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t parameters);

cusolverStatus_t cusolverDnDpotrfBatched(cusolverDnHandle_t handle, cublasFillMode_t fill, int n,
                                         double* a[], int lda, int* info, int count);
cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t handle,
                                             cusolverDnParams_t parameters, cublasFillMode_t fill,
                                             std::int64_t n, cudaDataType type, const void* a,
                                             std::int64_t lda, cudaDataType compute,
                                             std::size_t* device_bytes, std::size_t* host_bytes);
cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t parameters,
                                  cublasFillMode_t fill, std::int64_t n, cudaDataType type, void* a,
                                  std::int64_t lda, cudaDataType compute, void* device_work,
                                  std::size_t device_bytes, void* host_work, std::size_t host_bytes,
                                  int* info);
