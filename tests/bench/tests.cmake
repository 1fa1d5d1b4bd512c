# Tests of how benchmark results are compared and shown; `make bench` runs the benchmark itself.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
if(NOT KOLMO_SANITIZE)
  add_test(NAME bench.results COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/results_test.py)
  add_test(NAME bench.pytorch COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/pytorch_test.py $<TARGET_FILE:kolmo>)
  add_test(NAME bench.surrogates COMMAND ${Python3_EXECUTABLE} bench/surrogates/study.py $<TARGET_FILE:kolmo> --reduced
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  add_test(NAME bench.surrogates_page COMMAND ${Python3_EXECUTABLE} bench/surrogates/page.py bench/results/surrogates.json
    docs --check WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  add_test(NAME bench.networks_page COMMAND ${Python3_EXECUTABLE} bench/networks/page.py bench/results/networks.json
    docs/multivariate.md --check WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  add_test(NAME bench.neighbors_page COMMAND ${Python3_EXECUTABLE} bench/neighbors/page.py bench/results/neighbors.json
    docs/choosing.md --check WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  add_test(NAME bench.scaling_page COMMAND ${Python3_EXECUTABLE} bench/neighbors/scaling_page.py bench/results/neighbors_scaling.json
    docs/choosing.md --check WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endif()
