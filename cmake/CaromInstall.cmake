# `cmake --install` puts the library, its headers, the command and a CMake package in place.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# A static library hands its private libraries on to whoever links it.
target_link_libraries(carom PRIVATE
  $<INSTALL_INTERFACE:TBB::tbb> $<INSTALL_INTERFACE:Threads::Threads>)
get_target_property(carom_type carom TYPE)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/carom)
install(TARGETS carom EXPORT carom-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
install(DIRECTORY include/carom DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
if(TARGET carom_command)
  if(carom_type STREQUAL SHARED_LIBRARY)
    set_target_properties(carom_command PROPERTIES
      INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  endif()
  install(TARGETS carom_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT carom)
  foreach(part man/man1 bash-completion/completions zsh/site-functions fish/vendor_completions.d)
    get_filename_component(above ${part} DIRECTORY)
    install(DIRECTORY ${PROJECT_BINARY_DIR}/share/${part} OPTIONAL COMPONENT carom
      DESTINATION ${CMAKE_INSTALL_DATADIR}/${above})
  endforeach()
endif()
install(EXPORT carom-targets NAMESPACE carom:: DESTINATION ${package_dir} COMPONENT development)

configure_package_config_file(cmake/carom-config.cmake.in
  ${PROJECT_BINARY_DIR}/generated/carom-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/carom-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/carom-config.cmake
  ${PROJECT_BINARY_DIR}/generated/carom-config-version.cmake
  DESTINATION ${package_dir} COMPONENT development)

# For pkg-config: relative to the file itself, so that an installed tree can be moved.
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR} OR IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
  set(CAROM_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
  set(CAROM_PC_LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR})
  set(CAROM_PC_INCLUDEDIR ${CMAKE_INSTALL_FULL_INCLUDEDIR})
else()
  file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" up "${up}")
  set(CAROM_PC_PREFIX "\${pcfiledir}/${up}")
  set(CAROM_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(CAROM_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
set(CAROM_PC_LIBS -ltbb -pthread)
if(CAROM_HAVE_CUDA)
  list(APPEND CAROM_PC_LIBS -L${CUDAToolkit_LIBRARY_DIR} ${CAROM_CUDART} -lrt -ldl)
  string(REPLACE "CUDA::" "-l" CAROM_PC_LIBS "${CAROM_PC_LIBS}")
endif()
list(JOIN CAROM_PC_LIBS " " CAROM_PC_LIBS)
if(carom_type STREQUAL SHARED_LIBRARY)
  set(CAROM_PC_LIBS "\nLibs.private: ${CAROM_PC_LIBS}")
endif()
configure_file(cmake/carom.pc.in ${PROJECT_BINARY_DIR}/generated/carom.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/carom.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
