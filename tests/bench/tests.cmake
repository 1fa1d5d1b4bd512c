# What becomes of benchmark results; the benchmark itself is `make bench`.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
if(NOT KOLMO_SANITIZE)
  add_test(NAME bench.results COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/results_test.py)
endif()
