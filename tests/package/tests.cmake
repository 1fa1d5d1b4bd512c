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
if(NOT KOLMO_SANITIZE AND NOT KOLMO_NATIVE AND CMAKE_BUILD_TYPE STREQUAL "Release")
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  add_test(NAME package.hardening COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/hardening_test.py
    ${PROJECT_BINARY_DIR}/package_test/prefix/${CMAKE_INSTALL_BINDIR}/kolmo ${PROJECT_SOURCE_DIR}/)
  set_tests_properties(package.hardening PROPERTIES FIXTURES_REQUIRED installed)
endif()
