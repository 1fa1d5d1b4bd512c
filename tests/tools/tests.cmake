# The tools of the tree, and what an author of operators does with the installed package.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
if(NOT KOLMO_SANITIZE)
  add_test(NAME tools.check_layers COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/check_layers_test.py)
  add_test(NAME tools.source_hashes COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/source_hashes_test.py)
  add_test(NAME tools.mutants COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/mutants_test.py)
  add_test(NAME tools.check_build COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/check_build_test.py)
  add_test(NAME tools.sample_comments COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/sample_comments_test.py)
  if(KOLMO_CUDA)
    add_test(NAME tools.kernels COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/check_build.py
      ${PROJECT_BINARY_DIR} --kernels)
    set_tests_properties(tools.kernels PROPERTIES LABELS long)
  endif()
  if(KOLMO_SIMT OR KOLMO_CUDA)  # otherwise no operator has variants for a GPU
    add_test(NAME tools.reference COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/reference.py $<TARGET_FILE:kolmo> --check)
  endif()
  add_test(NAME tools.reference_text COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/reference_test.py)
  add_test(NAME tools.docs COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/docs_test.py)
  add_test(NAME tools.release COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/release_test.py)
  set(author_options -DWITH_CUDA=${KOLMO_CUDA} -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER})
  if(KOLMO_CUDA)
    list(GET CMAKE_CUDA_ARCHITECTURES 0 architecture)
    list(APPEND author_options -DCMAKE_CUDA_COMPILER=${CMAKE_CUDA_COMPILER} -DCMAKE_CUDA_ARCHITECTURES=${architecture})
  endif()
  if(CCACHE)
    list(APPEND author_options -DCMAKE_CXX_COMPILER_LAUNCHER=${CCACHE} -DCMAKE_CUDA_COMPILER_LAUNCHER=${CCACHE})
  endif()
  set(prefix ${PROJECT_BINARY_DIR}/package_test/prefix)  # tests/package installs there
  add_test(NAME tools.new_op COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/new_op_test.py
    ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/new_op_test ${prefix} ${author_options})
  # The test builds the tree with the options of this build, so that ccache has its objects; without ccache all is compiled again.
  set(tree_options -DKOLMO_CUDA=${KOLMO_CUDA} -DKOLMO_SIMT=ON -DKOLMO_TESTS=OFF -DKOLMO_UNITY=${KOLMO_UNITY}
    -DKOLMO_WERROR=${KOLMO_WERROR} -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER})
  if(KOLMO_CUDA)
    list(APPEND tree_options -DCMAKE_CUDA_COMPILER=${CMAKE_CUDA_COMPILER})
  endif()
  add_test(NAME tools.fifth_family COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/fifth_family_test.py
    ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/fifth_family_test ${tree_options})
  set_tests_properties(tools.new_op PROPERTIES FIXTURES_REQUIRED installed)
  set_tests_properties(tools.new_op tools.fifth_family PROPERTIES TIMEOUT 1800 COST 1000 LABELS long)
  set_tests_properties(tools.fifth_family PROPERTIES TIMEOUT 7200)
endif()
