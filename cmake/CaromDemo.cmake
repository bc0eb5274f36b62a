# scripts/demo.sh compiles what it shows and no more: a third of the library, which is what a new
# user waits for. A call of anything else throws BackendUnavailable with the way to build it.
option(CAROM_DEMO "Leave out what scripts/demo.sh does not show" OFF)
if(CAROM_DEMO AND (CAROM_BUILD_TESTS OR CAROM_BUILD_EXAMPLES OR CAROM_BUILD_BENCHMARKS OR CAROM_BUILD_PYTHON))
  message(FATAL_ERROR "CAROM_DEMO leaves out what tests, examples, benchmarks and Python call: set "
    "CAROM_BUILD_TESTS and so on to OFF")
endif()

set(carom_demo_leaves_out
  "src/analysis/(impact_(bounces|floor|identify|judge|metric)|motion|robust|unique|v_terrain)"
  "src/api/(affine|boxed|c_interface|coulomb|derivative|lcp|lp|motion|qp|sdp|solver|stability)"
  "src/cli/(bench|completion|judge_(boxed|cases|contacts|linear|quadratic|tree)|man|models|motion|option_table|rerun|solve|stability|validate|verify)"
  "src/compliant/(elements_)?programme"
  "src/cpu/((compliant|impact)/.*derivative|motion|programs|stability)"
  "src/cpu/simd/(compliant/(step|world)_|impact/(any_)?events|motion|programs)"
  "src/cuda/(impact/(follow|inelastic)|motion|programs|stability)"
  "src/enclosure"
  "src/equilibrium/(planar_)?margin"
  "src/impact/exact"
  "src/io/(boxed|case_|enclosure_(kept|outline)|impact_kept|judge|motion|stability|paths_kept)"
  "src/motion"
  "src/programs"
  "src/run/(critical|judge|motion|solve|stability)"
  "src/stability")

# carom_demo_sources(LISTS...): without what the demo leaves out, if it is the demo that is built.
function(carom_demo_sources)
  foreach(list IN LISTS ARGN)
    if(CAROM_DEMO)
      foreach(left IN LISTS carom_demo_leaves_out)
        list(FILTER ${list} EXCLUDE REGEX "^${PROJECT_SOURCE_DIR}/${left}")
      endforeach()
    else()
      list(FILTER ${list} EXCLUDE REGEX "/left_out.cpp$")
    endif()
    set(${list} "${${list}}" PARENT_SCOPE)
  endforeach()
endfunction()

# carom_demo_stubs(PROGRAM OBJECTS LIBRARIES...): defines in the program, which consists of the object
# library OBJECTS, every function that it and the libraries call and that nothing defines.
function(carom_demo_stubs program objects)
  if(NOT CAROM_DEMO)
    return()
  endif()
  set(files $<TARGET_OBJECTS:${objects}>)
  foreach(library IN LISTS ARGN)
    list(APPEND files $<TARGET_FILE:${library}>)
  endforeach()
  set(stubs ${CMAKE_CURRENT_BINARY_DIR}/left_out_stubs.cpp)
  add_custom_command(OUTPUT ${stubs}
    COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} "-DFILES=${files}" -DSTUBS=${stubs}
      -P ${PROJECT_SOURCE_DIR}/cmake/left_out.cmake
    DEPENDS ${files} ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/left_out.cmake
    VERBATIM COMMENT "Finding what the demo leaves out")
  target_sources(${program} PRIVATE ${stubs})
endfunction()
