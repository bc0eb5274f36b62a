# Debian packages by CPack (scripts/package.sh): carom, the command; libcarom-dev, headers and what compilers need;
# of a shared library libcarom0.1 by its SONAME, and python3-carom from a staged folder. A project around carom keeps its own packages.
if(NOT PROJECT_IS_TOP_LEVEL OR CAROM_BUILD_PYTHON OR NOT TARGET carom_command)
  return()
endif()
set(CAROM_PACKAGE_MAINTAINER "The carom developers" CACHE STRING
  "Maintainer of packages, Name <address>")
set(CAROM_PACKAGE_PYTHON "" CACHE PATH "Folder with the built Python package carom, for python3-carom")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME carom)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL carom development)
set(exactly "(= ${PROJECT_VERSION}-1)")
get_target_property(type carom TYPE)
if(type STREQUAL SHARED_LIBRARY)
  get_target_property(soversion carom SOVERSION)
  set(library libcarom${soversion})
  list(APPEND CPACK_COMPONENTS_ALL library)
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${library})
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
  file(WRITE ${PROJECT_BINARY_DIR}/debian/shlibs "libcarom ${soversion} ${library} ${exactly}\n")
  file(WRITE ${PROJECT_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA
    ${PROJECT_BINARY_DIR}/debian/shlibs ${PROJECT_BINARY_DIR}/debian/triggers)
  set(CPACK_DEBIAN_LIBRARY_DESCRIPTION
"batched contact-mechanics problems: shared library
 Library of carom, which solves small contact-mechanics problems by the
 thousand, each answer with a certificate.")
  set(CPACK_DEBIAN_CAROM_PACKAGE_DEPENDS "${library} ${exactly}")
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
  if(CAROM_PACKAGE_PYTHON)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    math(EXPR after "${Python3_VERSION_MINOR} + 1")
    install(DIRECTORY ${CAROM_PACKAGE_PYTHON}/carom DESTINATION lib/python3/dist-packages COMPONENT python)
    list(APPEND CPACK_COMPONENTS_ALL python)
    set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-carom)
    set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
    set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
    string(CONCAT CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "${library} ${exactly}, python3-numpy, "
      "python3 (>= 3.${Python3_VERSION_MINOR}~), python3 (<< 3.${after}~)")
    set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-h5py, python3-matplotlib")
    set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
      ${PROJECT_SOURCE_DIR}/cmake/debian/postinst ${PROJECT_SOURCE_DIR}/cmake/debian/prerm)
    set(CPACK_DEBIAN_PYTHON_DESCRIPTION
"batched contact-mechanics problems: Python package
 Functions of carom on arrays of NumPy, which solve small contact-mechanics
 problems by the thousand, each answer with a certificate.")
  endif()
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${CAROM_PACKAGE_MAINTAINER})
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
  GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_CAROM_PACKAGE_NAME carom)
set(CPACK_DEBIAN_CAROM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_CAROM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_CAROM_PACKAGE_SUGGESTS gnuplot-nox)
set(CPACK_DEBIAN_CAROM_DESCRIPTION
"batched contact-mechanics problems: impacts, steps, equilibrium
 The command carom samples and encloses the outcomes of frictional impacts,
 steps compliant contacts, tells where bodies on contacts are in equilibrium
 and solves linear complementarity problems, linear programs and quadratic
 programs by the thousand, each answer with a certificate.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libcarom-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS libtbb-dev)
set(kind Static)
if(library)
  set(kind Shared)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", ${library} ${exactly}")
endif()
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
"batched contact-mechanics problems: C++ library
 ${kind} library, headers, CMake package and carom.pc of carom, which solves
 small contact-mechanics problems by the thousand, each answer with a
 certificate.")
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian_files.cmake)
set(CPACK_CAROM_SOURCE ${PROJECT_SOURCE_DIR})
include(CPack)
