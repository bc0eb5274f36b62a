#include <limits>

#include <Eigen/Dense>

#include <cublas_v2.h>
#include <cusolverDn.h>

#include "device.hpp"

// What carom calls of cuBLAS and cuSOLVER, with Eigen; matrices are column-major.

using namespace cuda_on_host;

struct cublasContext {
  cudaStream_t stream = nullptr;
};
struct cusolverDnContext {
  cudaStream_t stream = nullptr;
};
struct cusolverDnParams {};

namespace {

using Matrix = Eigen::Map<Eigen::MatrixXd, 0, Eigen::OuterStride<>>;
using ConstMatrix = Eigen::Map<const Eigen::MatrixXd, 0, Eigen::OuterStride<>>;
using Vector = Eigen::Map<Eigen::VectorXd>;
using ConstVector = Eigen::Map<const Eigen::VectorXd>;

/// What the libraries leave in a factorisation's other triangle is nobody's business.
template <unsigned Fill, unsigned Other>
int factorise(Matrix a) {
  Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>, Fill> factor(a);
  const bool good = factor.info() == Eigen::Success;
  a.triangularView<Other>().setConstant(std::numeric_limits<double>::quiet_NaN());
  return good ? 0 : 1;
}

int factorise(cublasFillMode_t fill, int n, double* a, int lda) {
  const Matrix matrix(a, n, n, Eigen::OuterStride<>(lda));
  return fill == CUBLAS_FILL_MODE_LOWER ? factorise<Eigen::Lower, Eigen::StrictlyUpper>(matrix)
                                        : factorise<Eigen::Upper, Eigen::StrictlyLower>(matrix);
}

/// op(a) x = alpha b in place of b, a triangular.
void solve_triangular(cublasFillMode_t fill, cublasOperation_t turn, double alpha, ConstMatrix a,
                      Matrix b) {
  b *= alpha;
  const bool lower = fill == CUBLAS_FILL_MODE_LOWER;
  if (turn == CUBLAS_OP_N) {
    lower ? a.triangularView<Eigen::Lower>().solveInPlace(b)
          : a.triangularView<Eigen::Upper>().solveInPlace(b);
  } else {
    lower ? a.transpose().triangularView<Eigen::Upper>().solveInPlace(b)
          : a.transpose().triangularView<Eigen::Lower>().solveInPlace(b);
  }
}

template <class Handle>
void make(Handle** handle) {
  *handle = new Handle;
}

}  // namespace

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  make(handle);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasGetStatusName(cublasStatus_t) { return "cuBLAS status"; }
const char* cublasGetStatusString(cublasStatus_t) { return "on a device that the host plays"; }

cublasStatus_t cublasDtrsm(cublasHandle_t handle, cublasSideMode_t, cublasFillMode_t fill,
                           cublasOperation_t turn, cublasDiagType_t, int m, int n,
                           const double* alpha, const double* a, int lda, double* b, int ldb) {
  enqueue(handle->stream, [=, scale = *alpha] {
    solve_triangular(fill, turn, scale, ConstMatrix(a, m, m, Eigen::OuterStride<>(lda)),
                     Matrix(b, m, n, Eigen::OuterStride<>(ldb)));
  });
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDtrsv(cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t turn,
                           cublasDiagType_t diagonal, int n, const double* a, int lda, double* x,
                           int stride) {
  if (stride != 1) return CUBLAS_STATUS_INVALID_VALUE;
  const double one = 1.0;
  return cublasDtrsm(handle, CUBLAS_SIDE_LEFT, fill, turn, diagonal, n, 1, &one, a, lda, x, n);
}

cublasStatus_t cublasDtrsmBatched(cublasHandle_t handle, cublasSideMode_t, cublasFillMode_t fill,
                                  cublasOperation_t turn, cublasDiagType_t, int m, int n,
                                  const double* alpha, const double* const a[], int lda,
                                  double* const b[], int ldb, int count) {
  enqueue(handle->stream, [=, scale = *alpha] {
    for (int k = 0; k < count; ++k) {
      solve_triangular(fill, turn, scale, ConstMatrix(a[k], m, m, Eigen::OuterStride<>(lda)),
                       Matrix(b[k], m, n, Eigen::OuterStride<>(ldb)));
    }
  });
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDgemvBatched(cublasHandle_t handle, cublasOperation_t turn, int m, int n,
                                  const double* alpha, const double* const a[], int lda,
                                  const double* const x[], int x_stride, const double* beta,
                                  double* const y[], int y_stride, int count) {
  if (turn != CUBLAS_OP_N || x_stride != 1 || y_stride != 1 || *beta != 0.0) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  enqueue(handle->stream, [=, scale = *alpha] {
    for (int k = 0; k < count; ++k) {
      Vector(y[k], m) =
          scale * ConstMatrix(a[k], m, n, Eigen::OuterStride<>(lda)) * ConstVector(x[k], n);
    }
  });
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDgemmStridedBatched(cublasHandle_t handle, cublasOperation_t turn_a,
                                         cublasOperation_t turn_b, int m, int n, int k,
                                         const double* alpha, const double* a, int lda,
                                         long long stride_a, const double* b, int ldb,
                                         long long stride_b, const double* beta, double* c, int ldc,
                                         long long stride_c, int count) {
  if (turn_a != CUBLAS_OP_T || turn_b != CUBLAS_OP_N || *beta != 0.0) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  enqueue(handle->stream, [=, scale = *alpha] {
    for (int p = 0; p < count; ++p) {
      const ConstMatrix left(a + p * stride_a, k, m, Eigen::OuterStride<>(lda));
      const ConstMatrix right(b + p * stride_b, k, n, Eigen::OuterStride<>(ldb));
      Matrix(c + p * stride_c, m, n, Eigen::OuterStride<>(ldc)) = scale * left.transpose() * right;
    }
  });
  return CUBLAS_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  make(handle);
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  delete handle;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* parameters) {
  make(parameters);
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t parameters) {
  delete parameters;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnDpotrfBatched(cusolverDnHandle_t handle, cublasFillMode_t fill, int n,
                                         double* a[], int lda, int* info, int count) {
  enqueue(handle->stream, [=] {
    for (int k = 0; k < count; ++k) info[k] = factorise(fill, n, a[k], lda);
  });
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t,
                                             cublasFillMode_t, std::int64_t n, cudaDataType,
                                             const void*, std::int64_t, cudaDataType,
                                             std::size_t* device_bytes, std::size_t* host_bytes) {
  *device_bytes = static_cast<std::size_t>(n) * 64;
  *host_bytes = 128;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t,
                                  cublasFillMode_t fill, std::int64_t n, cudaDataType, void* a,
                                  std::int64_t lda, cudaDataType, void* device_work,
                                  std::size_t device_bytes, void* host_work, std::size_t host_bytes,
                                  int* info) {
  if (device_bytes < static_cast<std::size_t>(n) * 64 || host_bytes < 128) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  enqueue(handle->stream, [=] {
    std::memset(device_work, 0xee, device_bytes);
    std::memset(host_work, 0xee, host_bytes);
    *info = factorise(fill, static_cast<int>(n), static_cast<double*>(a), static_cast<int>(lda));
  });
  return CUSOLVER_STATUS_SUCCESS;
}
