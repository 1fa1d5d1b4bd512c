# cmake --install: libkolmo.a, headers, the command, and what find_package(kolmo) needs.
include(CMakePackageConfigHelpers)

set(targets kolmo_lib)
if(KOLMO_SIMT)
  list(APPEND targets simt)
endif()
install(TARGETS ${targets} EXPORT kolmoTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS kolmo RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY kolmo DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN *.hpp PATTERN check EXCLUDE PATTERN report EXCLUDE)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kolmo)
install(EXPORT kolmoTargets NAMESPACE kolmo:: DESTINATION ${package_dir})
configure_package_config_file(cmake/kolmoConfig.cmake.in kolmoConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(kolmoConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kolmoConfig.cmake ${PROJECT_BINARY_DIR}/kolmoConfigVersion.cmake
  DESTINATION ${package_dir})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/kolmo)
