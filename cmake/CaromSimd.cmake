# One object library an instruction set from sources that are compiled with its flags and run where
# the machine has it. CAROM_SIMD_ROOMS: those of src/cpu/simd.
option(CAROM_NATIVE_ONLY
  "Compile only the code of this machine's instruction set; such a build runs nowhere else" OFF)

set(CAROM_INSTRUCTION_SETS all CACHE STRING
  "all; runnable: all that this machine runs; or native: this machine's and generic, which runs everywhere")
set_property(CACHE CAROM_INSTRUCTION_SETS PROPERTY STRINGS all runnable native)

set(simd_sets generic)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND simd_sets avx2 avx512)
endif()

set(leave_out FALSE)
if(CAROM_NATIVE_ONLY OR CAROM_INSTRUCTION_SETS STREQUAL native)
  set(leave_out TRUE)
elseif(NOT CAROM_INSTRUCTION_SETS MATCHES "^(all|runnable)$")
  message(FATAL_ERROR
    "CAROM_INSTRUCTION_SETS is ${CAROM_INSTRUCTION_SETS}: must be all, runnable or native")
endif()
if((leave_out OR CAROM_LIGHT OR CAROM_INSTRUCTION_SETS STREQUAL runnable) AND NOT DEFINED CAROM_NATIVE_SET)
  # The same question as in src/cpu/simd/dispatch.cpp.
  try_run(ran compiled ${PROJECT_BINARY_DIR}/native
    ${PROJECT_SOURCE_DIR}/cmake/native_instruction_set.cpp RUN_OUTPUT_VARIABLE set)
  if(NOT compiled OR NOT "${set}" IN_LIST simd_sets)
    message(FATAL_ERROR "Cannot tell this machine's instruction set: set CAROM_NATIVE_SET, or "
      "CAROM_INSTRUCTION_SETS=all and CAROM_LIGHT=OFF")
  endif()
  set(CAROM_NATIVE_SET ${set} CACHE STRING "This machine's instruction set")
endif()
if(leave_out)
  if(CAROM_BUILD_TESTS OR CAROM_BUILD_BENCHMARKS)
    message(FATAL_ERROR "CAROM_NATIVE_ONLY and CAROM_INSTRUCTION_SETS=native leave out what tests "
      "and benchmarks compare: set CAROM_BUILD_TESTS and CAROM_BUILD_BENCHMARKS to OFF")
  endif()
  if(CAROM_NATIVE_ONLY)
    set(simd_sets ${CAROM_NATIVE_SET})
  elseif(NOT CAROM_NATIVE_SET STREQUAL generic)
    set(simd_sets generic ${CAROM_NATIVE_SET})
  else()
    set(simd_sets generic)
  endif()
elseif(CAROM_INSTRUCTION_SETS STREQUAL runnable)  # each set contains those before it
  list(FIND simd_sets ${CAROM_NATIVE_SET} last)
  math(EXPR last "${last} + 1")
  list(SUBLIST simd_sets 0 ${last} simd_sets)
endif()
message(STATUS "Instruction sets: ${simd_sets}")

set(generic_isa Generic)
set(avx2_isa Avx2)
set(avx512_isa Avx512)
set(avx2_options -mavx2 -mfma)
set(avx512_options -mavx512f -mavx512dq ${avx2_options})
set(generic_options)
foreach(set generic avx2 avx512)
  if(CAROM_SANITIZE)  # inlined checks are minutes a file
    list(APPEND ${set}_options -O0)
  elseif(CAROM_LIGHT)
    # Not -O0 for AVX: functions that nothing inlines would be shared with code for other machines.
    set(${set}_motions -O1)
    if(set STREQUAL "generic" AND NOT CAROM_NATIVE_SET STREQUAL "generic")
      set(${set}_motions -O0)
    endif()
    list(APPEND ${set}_options $<$<CONFIG:Release>:${${set}_motions}>)
    # GCC 12 with -O1 changes the bits of contact_newton_pair.hpp for AVX2 in this pass; with -O0,
    # -O2, -O3 and by Clang they are the same.
    list(APPEND ${set}_options $<$<CXX_COMPILER_ID:GNU>:-fno-tree-dominator-opts>)
  elseif(NOT set STREQUAL generic)
    list(APPEND ${set}_options -O3)
  elseif(simd_sets MATCHES ";")  # only old machines run it, and it compiles a minute faster
    set(${set}_motions -O1)
    list(APPEND ${set}_options $<$<CONFIG:Release>:-O1>)
  endif()
endforeach()
# GCC 12's own header reads undefined registers in its unmasked intrinsics.
list(APPEND avx512_options -Wno-uninitialized
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
# carom_simd_rooms(PREFIX SOURCES...): the rooms PREFIX_<set>, whose names are in PREFIX_rooms, and
# in PREFIX_has a definition for each, CAROM_SIMD_<SET>, for the source that chooses among them.
function(carom_simd_rooms prefix)
  set(rooms)
  set(has)
  foreach(set ${simd_sets})
    carom_room(${prefix}_${set} ${ARGN})
    target_compile_definitions(${prefix}_${set} PRIVATE
      CAROM_ISA=${${set}_isa} CAROM_ISA_HEADER="cpu/simd/pack_${set}.hpp")
    target_compile_options(${prefix}_${set} PRIVATE ${${set}_options})
    set_target_properties(${prefix}_${set} PROPERTIES CAROM_MOTIONS "${${set}_motions}")
    set(intrinsics)
    if(NOT set STREQUAL generic)
      set(intrinsics <immintrin.h>)
    endif()
    if(ARGC GREATER 2)  # for one source it is the longer way
      carom_precompiled(${prefix}_${set} ${intrinsics} <algorithm> <array> <cmath> <cstdint>
        <functional> <memory> <span> <string> <vector>)
    endif()
    list(APPEND rooms ${prefix}_${set})
    string(TOUPPER CAROM_SIMD_${set} definition)
    list(APPEND has ${definition})
  endforeach()
  set(${prefix}_rooms ${rooms} PARENT_SCOPE)
  set(${prefix}_has ${has} PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE simd_sources CONFIGURE_DEPENDS src/cpu/simd/*.cpp)
list(REMOVE_ITEM simd_sources ${PROJECT_SOURCE_DIR}/src/cpu/simd/dispatch.cpp)
carom_demo_sources(simd_sources)
carom_simd_rooms(carom_simd ${simd_sources})
if("avx2" IN_LIST simd_sets AND "avx512" IN_LIST simd_sets)
  target_compile_definitions(carom_simd_avx512 PRIVATE CAROM_MOTIONS_OF_AVX2)
endif()
# -O3 takes nearly twice as long over eleven mechanisms and gains a tenth. The room's precompiled
# header would bring its own level with it.
set(motion_units src/cpu/simd/motion/motions.cpp src/cpu/motion/simulate_own.cpp)
set(room_level $<TARGET_PROPERTY:CAROM_MOTIONS>)
set(motion_level $<IF:$<STREQUAL:${room_level},>,$<IF:$<BOOL:${CAROM_LIGHT}>,-O1,-O2>,${room_level}>)
set_property(SOURCE ${motion_units} APPEND PROPERTY COMPILE_OPTIONS
  $<$<CONFIG:Release>:${motion_level}>)
set_property(SOURCE ${motion_units} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
list(TRANSFORM carom_simd_rooms REPLACE "^carom_" "" OUTPUT_VARIABLE CAROM_SIMD_ROOMS)
set_property(SOURCE src/cpu/simd/dispatch.cpp APPEND PROPERTY COMPILE_DEFINITIONS ${carom_simd_has})
