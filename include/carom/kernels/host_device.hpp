#pragma once

// The only macros of the library's headers: functions that nvcc compiles for both sides.
#if defined(__CUDACC__)
#define CAROM_HOST_DEVICE __host__ __device__
#define CAROM_INLINE __host__ __device__ __forceinline__
#else
#define CAROM_HOST_DEVICE
#define CAROM_INLINE inline __attribute__((always_inline))
#endif
