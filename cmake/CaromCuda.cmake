# Enables CUDA where nvcc is present (CAROM_CUDA=AUTO), insists on it (ON) or leaves it out (OFF).
set(CAROM_HAVE_CUDA FALSE)
if(NOT CAROM_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES "80-real;90" CACHE STRING "CUDA architectures")
    endif()
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    # CMake before 3.26 does not know how nvcc is asked for C++20.
    foreach(kind STANDARD EXTENSION)
      if(NOT CMAKE_CUDA20_${kind}_COMPILE_OPTION)
        set(CMAKE_CUDA20_${kind}_COMPILE_OPTION "-std=c++20")
      endif()
    endforeach()
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(CAROM_HAVE_CUDA TRUE)
  elseif(CAROM_CUDA STREQUAL "ON")
    message(FATAL_ERROR "CAROM_CUDA=ON, but no CUDA compiler was found")
  else()
    message(STATUS "No CUDA compiler: carom is built with its CPU backends only")
  endif()
endif()

# A program with carom starts without any library of CUDA: the runtime is linked statically, and
# src/cuda/libraries.cpp opens cuBLAS and cuSOLVER at their first use.
if(TARGET CUDA::cudart_static)
  set(CAROM_CUDART CUDA::cudart_static)
else()
  set(CAROM_CUDART CUDA::cudart)
endif()
function(carom_link_cuda target)
  if(CAROM_HAVE_CUDA)
    target_link_libraries(${target} PRIVATE ${CAROM_CUDART} ${CMAKE_DL_LIBS})
  endif()
endfunction()

# carom_cuda_room(NAME SOURCES...): kernels and what launches them.
function(carom_cuda_room name)
  add_library(${name} OBJECT ${ARGN})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/include
    ${PROJECT_BINARY_DIR}/generated PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(${name} PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false --extended-lambda --expt-relaxed-constexpr
      -Xcompiler=-ffp-contract=off,-Wall,-Wextra>)
  target_link_libraries(${name} PRIVATE carom_flags ${CAROM_CUDART} carom_random123)
endfunction()

# Sources of kernels, compiled as C++ for the simulated device (tests/cuda_on_host).
function(carom_cuda_on_host)
  set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CXX
    COMPILE_OPTIONS "-include;cuda_runtime.h;-O1")
endfunction()
