# The files of src/cpu/simd that hold one instruction set's code alone and run where the machine has
# it: CAROM_SIMD_SOURCES.
option(CAROM_NATIVE_ONLY
  "Compile the code of this machine's instruction set alone; such a build runs nowhere else" OFF)

set(simd_sets generic)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND simd_sets avx2 avx512)
endif()

if(CAROM_NATIVE_ONLY)
  if(CAROM_BUILD_TESTS OR CAROM_BUILD_BENCHMARKS)
    message(FATAL_ERROR "CAROM_NATIVE_ONLY leaves out what tests and benchmarks compare: set "
      "CAROM_BUILD_TESTS and CAROM_BUILD_BENCHMARKS to OFF")
  endif()
  if(NOT DEFINED CAROM_NATIVE_SET)
    # The same question as in dispatch.cpp.
    try_run(ran compiled ${PROJECT_BINARY_DIR}/native
      ${PROJECT_SOURCE_DIR}/cmake/native_instruction_set.cpp RUN_OUTPUT_VARIABLE set)
    if(NOT compiled OR NOT "${set}" IN_LIST simd_sets)
      message(FATAL_ERROR "CAROM_NATIVE_ONLY: cannot tell this machine's instruction set")
    endif()
    set(CAROM_NATIVE_SET ${set} CACHE STRING "Instruction set of CAROM_NATIVE_ONLY")
  endif()
  message(STATUS "Instruction set: ${CAROM_NATIVE_SET} alone")
  set(left_out ${simd_sets})
  list(REMOVE_ITEM left_out ${CAROM_NATIVE_SET})
  set(simd_sets ${CAROM_NATIVE_SET})
  list(TRANSFORM left_out REPLACE "(.+)" "CAROM_WITHOUT_\\1")
  set_source_files_properties(src/cpu/simd/left_out.cpp PROPERTIES
    COMPILE_DEFINITIONS "${left_out}")
  set_source_files_properties(src/cpu/simd/dispatch.cpp PROPERTIES
    COMPILE_DEFINITIONS "CAROM_SIMD_X86;CAROM_NATIVE_SET=${CAROM_NATIVE_SET}")
  list(APPEND CAROM_SIMD_SOURCES src/cpu/simd/left_out.cpp)
elseif("avx2" IN_LIST simd_sets)
  set_source_files_properties(src/cpu/simd/dispatch.cpp PROPERTIES
    COMPILE_DEFINITIONS CAROM_SIMD_X86)
endif()

set(avx2_options -mavx2 -mfma -O3)
# GCC 12's own header reads undefined registers in its unmasked intrinsics.
set(avx512_options -mavx512f -mavx512dq ${avx2_options} -Wno-uninitialized -Wno-maybe-uninitialized)
list(APPEND CAROM_SIMD_SOURCES src/cpu/simd/dispatch.cpp)
foreach(set ${simd_sets})
  file(GLOB sources CONFIGURE_DEPENDS src/cpu/simd/*_${set}.cpp)
  list(APPEND CAROM_SIMD_SOURCES ${sources})
  set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS "${${set}_options}")
endforeach()
