# The installed package, used by the model project that is installed with it and knows nothing of this tree.
if(NOT KOLMO_SANITIZE)
  set(scratch ${PROJECT_BINARY_DIR}/package_test)
  add_test(NAME package.install COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${scratch}/prefix)
  add_test(NAME package.use COMMAND ${CMAKE_CTEST_COMMAND}
    --build-and-test ${scratch}/prefix/${CMAKE_INSTALL_DATADIR}/doc/kolmo/examples/own_operators ${scratch}/build
    --build-generator ${CMAKE_GENERATOR}
    --build-options -DCMAKE_PREFIX_PATH=${scratch}/prefix -DCMAKE_BUILD_TYPE=Release
      -DCUDAToolkit_ROOT=${CUDAToolkit_TARGET_DIR}
    --test-command ${CMAKE_CTEST_COMMAND} --output-on-failure --no-tests=error)
  set_tests_properties(package.install PROPERTIES FIXTURES_SETUP installed)
  set_tests_properties(package.use PROPERTIES FIXTURES_REQUIRED installed)
endif()
