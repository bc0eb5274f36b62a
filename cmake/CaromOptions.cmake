option(CAROM_BUILD_CLI "Build the carom command" ${PROJECT_IS_TOP_LEVEL})
option(CAROM_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(CAROM_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(CAROM_BUILD_BENCHMARKS "Build the benchmarks" OFF)
option(CAROM_WARNINGS_AS_ERRORS "Treat warnings as errors" OFF)
option(CAROM_BUILD_PYTHON "Build the extension module of the Python package (python/)" OFF)
option(CAROM_REFERENCE "Build the reference backend, which validates the others" ON)
if(CAROM_BUILD_PYTHON)
  # With pip nobody chooses a compiler cache.
  find_program(CAROM_CCACHE ccache)
  if(CAROM_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CAROM_CCACHE})
  elseif(NOT CAROM_CCACHE)
    set(CAROM_PRECOMPILE ON)  # CaromUnity.cmake
  endif()
  message(STATUS "carom: compiling the whole library, some minutes")
endif()
set(CAROM_CUDA "AUTO" CACHE STRING "CUDA backend: AUTO, ON or OFF")
set_property(CACHE CAROM_CUDA PROPERTY STRINGS AUTO ON OFF)
option(CAROM_CUDA_ON_HOST "Run the device tests on a simulated device" OFF)
option(CAROM_CUDA_MOTION "Compile the motion kernels as well: two minutes of nvcc an architecture" ON)
set(CAROM_SANITIZE "" CACHE STRING "Sanitizers for host code, e.g. address,undefined or thread")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# For tests: two thirds of the compile time, and the bits of results do not depend on it.
option(CAROM_LIGHT "Optimise a Release build lightly, as tests do" OFF)
if(CAROM_LIGHT OR CAROM_DEMO)  # the demo's time goes by in code of instruction sets, which has its own level
  string(REPLACE "-O3" "-O1" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(carom_flags INTERFACE)
target_compile_features(carom_flags INTERFACE cxx_std_20)
# Products are fused where the code says fma and nowhere else: that makes the host's and the
# device's arithmetic the same, bit for bit.
target_compile_options(carom_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow>
  # No path of the build is in an object: a compiler cache serves every clone.
  $<$<COMPILE_LANGUAGE:CXX>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>
  # Masks of lanes are bool where there is one lane.
  $<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>:-Wno-bitwise-instead-of-logical>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${CAROM_WARNINGS_AS_ERRORS}>>:-Werror>)
# For text, files, tests and the reference, where more of it costs minutes of compiling and gives nothing.
function(carom_lightly_optimised target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:$<IF:$<BOOL:${CAROM_DEMO}>,-O0,-O1>>)
endfunction()
# For tests and the command in builds of scripts/test.sh. -Og has fewer passes than -O1; without
# optimisation GCC would write out every inline function, which takes as long as -O1.
function(carom_hardly_optimised target)
  if(CAROM_LIGHT)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Og>)
  else()
    carom_lightly_optimised(${target})
  endif()
endfunction()
if(CAROM_SANITIZE)
  target_compile_options(carom_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${CAROM_SANITIZE} -fno-omit-frame-pointer>)
  target_link_options(carom_flags INTERFACE -fsanitize=${CAROM_SANITIZE})
  if(CAROM_SANITIZE MATCHES thread)
    target_compile_definitions(carom_flags INTERFACE CAROM_PLAIN_THREADS)  # src/core/parallel.hpp
  endif()
endif()
