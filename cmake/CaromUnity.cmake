# Sources of one family compiled as one unit parse Eigen, CLI11 and the JSON library once and share
# their templates: a third of the time of a build from nothing, and a longer one after a change of
# one file, so it is the scripts that turn it on. What no group names is compiled by itself.
option(CAROM_UNITY "Compile the sources of a family as one unit" OFF)

# carom_together(GROUP SOURCES...): in the folder of the target that the sources belong to.
function(carom_together group)
  set_source_files_properties(${ARGN} PROPERTIES UNITY_GROUP ${group})
endfunction()

function(carom_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${CAROM_UNITY} UNITY_BUILD_MODE GROUP)
endfunction()

# Neighbours in the list of sources, `size` at a time.
function(carom_unity_batches target size)
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ${CAROM_UNITY} UNITY_BUILD_MODE BATCH UNITY_BUILD_BATCH_SIZE ${size})
endfunction()

# Kernels of one unit share the functions that they call, and with these the limit of registers of
# the narrowest: for what no GPU runs.
option(CAROM_CUDA_UNITY "Compile the kernels of a family as one unit" OFF)

# Of src/cuda, for nvcc and for the simulated device; CMake before 3.31 has no such units of nvcc's.
set(carom_cuda_places device.cpp devices.cpp pool.cpp staging.cpp)
set(carom_cuda_postures runtime.cu equilibrium/planar_equilibrium.cu
  equilibrium/spatial_equilibrium.cu stability/analyse_stability.cu)
set(carom_cuda_compliant compliant/solve_compliant.cu compliant/step_worlds.cu)
set(carom_cuda_events impact/follow_any_events.cu impact/follow_events.cu impact/follow_releases.cu
  impact/inelastic_books.cu)
set(carom_cuda_samples impact/sample_tables.cu impact/sample_threads_planar.cu
  impact/sample_threads_spatial.cu impact/sample_warps.cu impact/solve_steps.cu
  impact/step_groups.cu)
set(carom_cuda_chunks impact/chunk_net.cu impact/chunk_summary.cu impact/problem_store.cu)
set(carom_cuda_impacts impact/host_problems.cpp impact/sample_impacts.cpp impact/sample_scratch.cpp
  impact/sample_shards.cpp)
set(carom_cuda_motions motion/run_motions_planar.cu motion/run_motions_spatial.cu)
set(carom_cuda_motion_rows motion/first_impacts.cpp motion/motion_shards.cpp
  motion/simulate_motions.cpp)
set(carom_cuda_linear programs/solve_boxed_lcp.cu programs/solve_lcp.cu programs/solve_lp.cu)
set(carom_cuda_quadratic programs/qp_finish.cu programs/qp_first.cu programs/qp_large.cu
  programs/qp_pivots.cu programs/solve_qp.cu)

# carom_cuda_units(SOURCES): in the list, files of src/cuda give way to the units that include them.
function(carom_cuda_units list)
  set(sources ${${list}})
  foreach(group places postures compliant events samples chunks impacts motions motion_rows linear
      quadratic)
    set(text)
    foreach(file IN LISTS carom_cuda_${group})
      if(${PROJECT_SOURCE_DIR}/src/cuda/${file} IN_LIST sources)
        list(REMOVE_ITEM sources ${PROJECT_SOURCE_DIR}/src/cuda/${file})
        string(APPEND text "#include \"cuda/${file}\"\n")
        cmake_path(GET file EXTENSION extension)
      endif()
    endforeach()
    if(text)
      set(unit ${CMAKE_CURRENT_BINARY_DIR}/Unity/${group}${extension})
      file(CONFIGURE OUTPUT ${unit} CONTENT "${text}" @ONLY)
      list(APPEND sources ${unit})
    endif()
  endforeach()
  set(${list} ${sources} PARENT_SCOPE)
endfunction()

# What a compiler cache would have to know anew with every header; scripts/lib.sh turns it on where
# there is none.
option(CAROM_PRECOMPILE "Parse the libraries' headers once a target instead of once a unit" OFF)

# GCC collects its garbage whenever its heap has grown by a third, for nothing where memory is plenty:
# a tenth of its time. With a cache only in builds of scripts/test.sh: scripts/lib.sh tells the cache to ignore the option.
if((CAROM_PRECOMPILE OR CAROM_LIGHT) AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  cmake_host_system_information(RESULT memory QUERY TOTAL_PHYSICAL_MEMORY)  # MiB
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  math(EXPR each "${memory} / ${cores}")
  if(each GREATER 4000)
    target_compile_options(carom_flags INTERFACE
      $<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=1000000>
      $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=--param=ggc-min-heapsize=1000000>)
  endif()
endif()

# carom_precompiled(TARGET [FROM OTHER] HEADERS...): OTHER's, where its flags are TARGET's. GCC compiles
# a unit at the level of optimisation of its precompiled header, whatever the unit's own says.
function(carom_precompiled target)
  cmake_parse_arguments(arg "" "FROM" "" ${ARGN})
  if(NOT CAROM_PRECOMPILE)
    return()
  endif()
  if(arg_FROM)
    get_property(own TARGET ${target} PROPERTY COMPILE_OPTIONS)
    get_property(others TARGET ${arg_FROM} PROPERTY COMPILE_OPTIONS)
    if(NOT "${own}" STREQUAL "${others}")
      message(FATAL_ERROR "${target} cannot use the precompiled header of ${arg_FROM}: its options "
        "are \"${own}\", the header's \"${others}\"")
    endif()
    target_precompile_headers(${target} REUSE_FROM ${arg_FROM})
  else()
    target_precompile_headers(${target} PRIVATE ${arg_UNPARSED_ARGUMENTS})
  endif()
endfunction()
