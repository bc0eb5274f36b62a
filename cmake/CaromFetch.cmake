# carom_header_dependency(package TARGET t [VERSION v] TREE name PROBE header [DEFINE macro]
#     URL u [TAG tag] [HASH h])     a library whose headers suffice
# carom_dependency(package TARGET t [VERSION v] TREE name URL u TAG tag [INSTALL]
#     [OPTIONS NAME=VALUE...])      a library with a CMake build of its own
# Both make TARGET exist: from the system, else from CAROM_DEPS_DIR/<TREE>, else downloaded; or end
# the configuration and say what is missing. find_package(package) in a room finds the same copy.
include(FetchContent)

# Makes a later find_package(package) succeed with the targets that exist already.
function(carom_answer_find_package package)
  set(folder ${PROJECT_BINARY_DIR}/found/${package})
  file(WRITE ${folder}/${package}Config.cmake "# ${package} is part of this build.\n")
  file(WRITE ${folder}/${package}ConfigVersion.cmake
    "set(PACKAGE_VERSION \"\${PACKAGE_FIND_VERSION}\")\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n")
  set(${package}_DIR ${folder} CACHE PATH "Part of this build" FORCE)
endfunction()

function(carom_missing package tree)
  message(FATAL_ERROR "${package} is missing: install it (scripts/test.sh does so on Debian and "
    "Ubuntu), or put it under ${CAROM_DEPS_DIR}/${tree} (scripts/vendor_deps.sh does so)")
endfunction()

# Sets <package>_ON_SYSTEM in the caller where TARGET exists after a look at the system.
macro(carom_find_on_system package)
  if(CAROM_SYSTEM_DEPS AND NOT TARGET ${arg_TARGET}
     AND NOT "${${package}_DIR}" MATCHES "^${PROJECT_BINARY_DIR}/found/")
    find_package(${package} ${arg_VERSION} QUIET)
  endif()
endmacro()

# Downloads without configuring; the folder is returned in `variable`.
function(carom_download package variable)
  if(NOT CAROM_FETCH OR NOT arg_URL)
    carom_missing(${package} ${arg_TREE})
  endif()
  message(STATUS "${package}: fetching ${arg_URL} ${arg_TAG}")
  if(arg_TAG)
    FetchContent_Declare(${arg_TREE} GIT_REPOSITORY ${arg_URL} GIT_TAG ${arg_TAG}
      GIT_SHALLOW TRUE SOURCE_SUBDIR not-configured)
  else()
    FetchContent_Declare(${arg_TREE} URL ${arg_URL} URL_HASH ${arg_HASH}
      SOURCE_SUBDIR not-configured)
  endif()
  FetchContent_MakeAvailable(${arg_TREE})
  set(${variable} ${${arg_TREE}_SOURCE_DIR} PARENT_SCOPE)
endfunction()

function(carom_header_dependency package)
  cmake_parse_arguments(arg "" "TARGET;VERSION;TREE;PROBE;DEFINE;URL;TAG;HASH" "" ${ARGN})
  carom_find_on_system(${package})
  if(TARGET ${arg_TARGET})
    return()
  endif()
  if(CAROM_SYSTEM_DEPS AND NOT arg_VERSION)
    find_path(${package}_INCLUDE_DIR ${arg_PROBE})
  endif()
  set(folder ${${package}_INCLUDE_DIR})
  if(NOT folder)
    set(tree ${CAROM_DEPS_DIR}/${arg_TREE})
    if(EXISTS ${tree})
      message(STATUS "${package}: from ${tree}")
    else()
      carom_download(${package} tree)
    endif()
    foreach(candidate ${tree} ${tree}/include)
      if(EXISTS ${candidate}/${arg_PROBE})
        set(folder ${candidate})
      endif()
    endforeach()
    if(NOT folder)
      message(FATAL_ERROR "${package}: ${tree} has no ${arg_PROBE}")
    endif()
    carom_answer_find_package(${package})
  endif()
  add_library(carom_${arg_TREE}_headers INTERFACE)
  add_library(${arg_TARGET} ALIAS carom_${arg_TREE}_headers)
  target_include_directories(carom_${arg_TREE}_headers SYSTEM INTERFACE ${folder})
  if(arg_DEFINE)
    target_compile_definitions(carom_${arg_TREE}_headers INTERFACE ${arg_DEFINE})
  endif()
endfunction()

function(carom_dependency package)
  cmake_parse_arguments(arg "INSTALL" "TARGET;VERSION;TREE;URL;TAG" "OPTIONS" ${ARGN})
  carom_find_on_system(${package})
  if(TARGET ${arg_TARGET})
    return()
  endif()
  set(tree ${CAROM_DEPS_DIR}/${arg_TREE})
  if(EXISTS ${tree}/CMakeLists.txt)
    message(STATUS "${package}: from ${tree}")
  else()
    carom_download(${package} tree)
  endif()
  foreach(setting ${arg_OPTIONS})
    string(REGEX MATCH "^([^=]+)=(.*)$" matched ${setting})
    set(${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
  endforeach()
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)  # option() respects the variables above
  set(where EXCLUDE_FROM_ALL)
  if(arg_INSTALL)
    set(where)
  endif()
  add_subdirectory(${tree} ${PROJECT_BINARY_DIR}/deps/${arg_TREE} ${where})
  carom_answer_find_package(${package})
endfunction()
