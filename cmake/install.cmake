# cmake --install: the libraries, headers, the command, what find_package(kolmo) needs, and the documentation with the
# examples, among them examples/own_operators, the model of a project with operators of its own.
include(CMakePackageConfigHelpers)

set(targets kolmo_lib kolmo_check kolmo_command)
if(KOLMO_SIMT)
  set_target_properties(simt PROPERTIES EXPORT_NAME simt_engine)
  list(APPEND targets simt kolmo_simt)
endif()
install(TARGETS ${targets} EXPORT kolmoTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} OBJECTS DESTINATION ${CMAKE_INSTALL_LIBDIR}/kolmo)
install(TARGETS kolmo RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY kolmo DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN *.hpp PATTERN *.cuh PATTERN report EXCLUDE)
if(KOLMO_SIMT)
  install(DIRECTORY simt DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN *.h PATTERN *.hpp PATTERN sources.cmake PATTERN tests EXCLUDE PATTERN bad EXCLUDE)
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kolmo)
install(EXPORT kolmoTargets NAMESPACE kolmo:: DESTINATION ${package_dir})
configure_package_config_file(cmake/kolmoConfig.cmake.in kolmoConfig.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(kolmoConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kolmoConfig.cmake ${PROJECT_BINARY_DIR}/kolmoConfigVersion.cmake
  cmake/kolmoOperators.cmake cmake/ops_of.cmake DESTINATION ${package_dir})
install(FILES LICENSE README.md CONTRIBUTING.md CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/kolmo)
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/kolmo)
