# carom_dependency(package TARGET t [VERSION v] TREE name URL u TAG tag [OPTIONS NAME=VALUE...])
#   a library with a CMake build of its own.
# carom_header_dependency(package TARGET t [VERSION v] TREE name PROBE header [DEFINE macro]
#   [URL u TAG tag])
#   a library whose headers suffice.
# Both make TARGET exist, or end the configuration saying what is missing. A later
# find_package(package) in a room finds the same copy.
include(FetchContent)

# Makes find_package(package) succeed with the targets that exist already.
function(carom_answer_find_package package)
  set(folder ${PROJECT_BINARY_DIR}/found/${package})
  file(WRITE ${folder}/${package}Config.cmake "# The targets of ${package} are part of this build.\n")
  file(WRITE ${folder}/${package}ConfigVersion.cmake
    "set(PACKAGE_VERSION \"\${PACKAGE_FIND_VERSION}\")\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n"
    "set(PACKAGE_VERSION_EXACT TRUE)\n")
  set(${package}_DIR ${folder} CACHE PATH "Part of this build" FORCE)
endfunction()

function(carom_missing package tree)
  message(FATAL_ERROR "${package} is missing: install it (scripts/test.sh installs all packages on "
    "Debian and Ubuntu), or put its source under ${CAROM_DEPS_DIR}/${tree} "
    "(scripts/vendor_deps.sh)")
endfunction()

# Looks on the system; sets `found` where the target exists then.
macro(carom_find_on_system package)
  set(found FALSE)
  if(TARGET ${arg_TARGET})
    set(found TRUE)
  elseif(CAROM_SYSTEM_DEPS AND NOT "${${package}_DIR}" MATCHES "^${PROJECT_BINARY_DIR}/found/")
    find_package(${package} ${arg_VERSION} QUIET)
    if(TARGET ${arg_TARGET})
      set_target_properties(${arg_TARGET} PROPERTIES IMPORTED_GLOBAL TRUE)
      set(found TRUE)
    endif()
  endif()
endmacro()

function(carom_dependency package)
  cmake_parse_arguments(arg "" "TARGET;VERSION;TREE;URL;TAG" "OPTIONS" ${ARGN})
  carom_find_on_system(${package})
  if(found)
    return()
  endif()
  foreach(option ${arg_OPTIONS})
    string(REGEX MATCH "^([^=]+)=(.*)$" matched ${option})
    set(${CMAKE_MATCH_1} ${CMAKE_MATCH_2} CACHE INTERNAL "")
  endforeach()
  if(EXISTS ${CAROM_DEPS_DIR}/${arg_TREE}/CMakeLists.txt)
    message(STATUS "${package}: from ${CAROM_DEPS_DIR}/${arg_TREE}")
    add_subdirectory(${CAROM_DEPS_DIR}/${arg_TREE} ${PROJECT_BINARY_DIR}/deps/${arg_TREE} SYSTEM_OR_NOT)
  elseif(CAROM_FETCH)
    message(STATUS "${package}: fetching ${arg_URL} ${arg_TAG}")
  else()
    carom_missing(${package} ${arg_TREE})
  endif()
endfunction()
