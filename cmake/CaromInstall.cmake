# `cmake --install` puts the library, its headers, the command and a CMake package in place.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# A static library hands its private libraries on to whoever links it.
target_link_libraries(carom PRIVATE
  $<INSTALL_INTERFACE:TBB::tbb> $<INSTALL_INTERFACE:Threads::Threads>)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/carom)
install(TARGETS carom EXPORT carom-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/carom DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET carom_command)
  install(TARGETS carom_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(EXPORT carom-targets NAMESPACE carom:: DESTINATION ${package_dir})

configure_package_config_file(cmake/carom-config.cmake.in
  ${PROJECT_BINARY_DIR}/generated/carom-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/carom-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/carom-config.cmake
  ${PROJECT_BINARY_DIR}/generated/carom-config-version.cmake
  DESTINATION ${package_dir})
