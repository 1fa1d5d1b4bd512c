# The tools of the tree.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
if(NOT KOLMO_SANITIZE)
  add_test(NAME tools.check_layers COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/check_layers_test.py)
  add_test(NAME tools.docs COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/docs_test.py)
  add_test(NAME tools.new_op COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/new_op_test.py
    ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/new_op_test 2
    -DKOLMO_WERROR=${KOLMO_WERROR} -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE})  # the same flags: ccache knows the rest
  set_tests_properties(tools.new_op PROPERTIES TIMEOUT 900 COST 1000)
endif()
