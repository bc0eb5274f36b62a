#pragma once

#include <cuda_runtime_api.h>

struct cublasContext;
using cublasHandle_t = cublasContext*;

enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_INVALID_VALUE = 7 };
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER };
enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT };
enum cublasSideMode_t { CUBLAS_SIDE_LEFT };
enum cudaDataType { CUDA_R_64F = 1 };

cublasStatus_t cublasCreate(cublasHandle_t* handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
const char* cublasGetStatusName(cublasStatus_t status);
const char* cublasGetStatusString(cublasStatus_t status);

cublasStatus_t cublasDtrsv(cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t turn,
                           cublasDiagType_t diagonal, int n, const double* a, int lda, double* x,
                           int stride);
cublasStatus_t cublasDtrsm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,
                           cublasOperation_t turn, cublasDiagType_t diagonal, int m, int n,
                           const double* alpha, const double* a, int lda, double* b, int ldb);
cublasStatus_t cublasDtrsmBatched(cublasHandle_t handle, cublasSideMode_t side,
                                  cublasFillMode_t fill, cublasOperation_t turn,
                                  cublasDiagType_t diagonal, int m, int n, const double* alpha,
                                  const double* const a[], int lda, double* const b[], int ldb,
                                  int count);
cublasStatus_t cublasDgemvBatched(cublasHandle_t handle, cublasOperation_t turn, int m, int n,
                                  const double* alpha, const double* const a[], int lda,
                                  const double* const x[], int x_stride, const double* beta,
                                  double* const y[], int y_stride, int count);
cublasStatus_t cublasDgemmStridedBatched(cublasHandle_t handle, cublasOperation_t turn_a,
                                         cublasOperation_t turn_b, int m, int n, int k,
                                         const double* alpha, const double* a, int lda,
                                         long long stride_a, const double* b, int ldb,
                                         long long stride_b, const double* beta, double* c, int ldc,
                                         long long stride_c, int count);
