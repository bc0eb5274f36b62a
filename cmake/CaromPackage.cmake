# Debian packages by CPack (scripts/package.sh): carom, the command, and libcarom-dev, the library
# with its headers. A project around carom keeps its own packages.
if(NOT PROJECT_IS_TOP_LEVEL OR CAROM_BUILD_PYTHON OR NOT TARGET carom_command)
  return()
endif()
set(CAROM_PACKAGE_MAINTAINER "The carom developers" CACHE STRING
  "Maintainer of packages, Name <address>")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME carom)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL carom development)
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
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
"batched contact-mechanics problems: C++ library
 Static library, headers, CMake package and carom.pc of carom, which solves
 small contact-mechanics problems by the thousand, each answer with a
 certificate.")
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian_files.cmake)
set(CPACK_CAROM_SOURCE ${PROJECT_SOURCE_DIR})
include(CPack)
