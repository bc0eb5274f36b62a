#pragma once

// The only macros of the library's headers: functions that nvcc compiles for both sides.
// CAROM_STEP: a part of a kernel that is called from several places and is long enough for a call.
// On the host one copy per translation unit, with internal linkage, so that instruction sets do not
// share it. CAROM_CALL: long code that runs rarely and is not inlined into every kernel.
// CAROM_UNROLLED: before a short loop that is unrolled to keep its data in registers.
// CAROM_DEVICE_INLINE: a build that only checks that kernels compile defines it as `inline`.
#if defined(__CUDACC__)
#ifndef CAROM_DEVICE_INLINE
#define CAROM_DEVICE_INLINE __forceinline__
#endif
#define CAROM_HOST_DEVICE __host__ __device__
#define CAROM_INLINE __host__ __device__ CAROM_DEVICE_INLINE
#define CAROM_STEP __host__ __device__ CAROM_DEVICE_INLINE
#define CAROM_CALL __host__ __device__ __noinline__
#else
#define CAROM_HOST_DEVICE
#define CAROM_INLINE inline __attribute__((always_inline))
#define CAROM_STEP static __attribute__((noinline))
#define CAROM_CALL
#endif
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define CAROM_UNROLLED _Pragma("GCC unroll 16")
#else
#define CAROM_UNROLLED
#endif
