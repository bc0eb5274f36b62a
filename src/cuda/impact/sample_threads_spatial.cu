#include "cuda/impact/sample_threads.cuh"

namespace carom::cuda {

void sample_by_threads_spatial(const SampleLaunch& launch, cudaStream_t stream) {
  if (launch_if_fits<3, ThreadPolicy<2, 8, 128, 2>>(launch, stream)) return;
  if (launch_if_fits<3, ThreadPolicy<4, 12, 128, 2>>(launch, stream)) return;
  throw CudaError("sample_threads: no size class fits");
}

}  // namespace carom::cuda
