# One object library an instruction set from the sources of src/cpu/simd, which run where the machine
# has it: CAROM_SIMD_ROOMS.
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
    # The same question as in src/cpu/simd/dispatch.cpp.
    try_run(ran compiled ${PROJECT_BINARY_DIR}/native
      ${PROJECT_SOURCE_DIR}/cmake/native_instruction_set.cpp RUN_OUTPUT_VARIABLE set)
    if(NOT compiled OR NOT "${set}" IN_LIST simd_sets)
      message(FATAL_ERROR "CAROM_NATIVE_ONLY: cannot tell this machine's instruction set")
    endif()
    set(CAROM_NATIVE_SET ${set} CACHE STRING "Instruction set of CAROM_NATIVE_ONLY")
  endif()
  message(STATUS "Instruction set: ${CAROM_NATIVE_SET} alone")
  set(simd_sets ${CAROM_NATIVE_SET})
endif()

set(generic_isa Generic)
set(avx2_isa Avx2)
set(avx512_isa Avx512)
set(avx2_options -mavx2 -mfma -O3)
# GCC 12's own header reads undefined registers in its unmasked intrinsics.
set(avx512_options -mavx512f -mavx512dq ${avx2_options} -Wno-uninitialized -Wno-maybe-uninitialized)
file(GLOB simd_sources CONFIGURE_DEPENDS src/cpu/simd/*.cpp)
list(REMOVE_ITEM simd_sources ${PROJECT_SOURCE_DIR}/src/cpu/simd/dispatch.cpp)
set(CAROM_SIMD_ROOMS)
foreach(set ${simd_sets})
  carom_room(carom_simd_${set} ${simd_sources})
  target_compile_definitions(carom_simd_${set} PRIVATE
    CAROM_ISA=${${set}_isa} CAROM_ISA_HEADER="cpu/simd/pack_${set}.hpp")
  target_compile_options(carom_simd_${set} PRIVATE ${${set}_options})
  list(APPEND CAROM_SIMD_ROOMS simd_${set})
  string(TOUPPER CAROM_SIMD_${set} has)
  set_property(SOURCE src/cpu/simd/dispatch.cpp APPEND PROPERTY COMPILE_DEFINITIONS ${has})
endforeach()
