# The program kolmo_tests holds every tests/**/*_test.cpp. A folder adds other tests in tests/<folder>/tests.cmake.
find_package(GTest REQUIRED)
include(GoogleTest)
include(cmake/headers.cmake)

file(GLOB sources CONFIGURE_DEPENDS tests/sim/*.cpp)
list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
add_library(kolmo_sim STATIC ${sources})  # a device and a measurer with virtual time
kolmo_options(kolmo_sim)
target_link_libraries(kolmo_sim PUBLIC kolmo_lib)

file(GLOB_RECURSE sources CONFIGURE_DEPENDS tests/*_test.cpp)
add_executable(kolmo_tests tests/paths.cpp ${sources})
kolmo_options(kolmo_tests)
target_link_libraries(kolmo_tests PRIVATE kolmo_command kolmo_sim CLI11::CLI11 GTest::gtest GTest::gmock GTest::gtest_main Boost::headers
  fmt::fmt nlohmann_json::nlohmann_json SQLite::SQLite3)
if(KOLMO_SIMT)
  target_link_libraries(kolmo_tests PRIVATE kolmo_simt)
endif()
target_compile_options(kolmo_tests PRIVATE $<$<CONFIG:Release>:-O1>)  # saves a quarter of the compile time; the library has -O2
target_precompile_headers(kolmo_tests PRIVATE <gmock/gmock.h> <gtest/gtest.h> <memory> <string> <vector>)
set_source_files_properties(tests/paths.cpp PROPERTIES
  COMPILE_DEFINITIONS KOLMO_SOURCE_DIR="${PROJECT_SOURCE_DIR}" SKIP_PRECOMPILE_HEADERS ON)
if(KOLMO_SANITIZE)  # the program takes longer to start than most tests take, so each start runs many tests
  target_link_options(kolmo PRIVATE -no-pie)  # saves a third of the time to start
  target_link_options(kolmo_tests PRIVATE -no-pie)
  # Levels, power, coverage and truth are statistics of code that other tests run; they say nothing about memory.
  set(statistics GreedyLevel.* Truth.* SequentialTest.NetworksHaveThePower* Backtest.CoversSimulatedTrainings
    Arena.CoversSimulatedCurves WorldModel.LearnsWhatADecayDoes)
  list(JOIN statistics ":" statistics)
  set(shards 32)
  math(EXPR last "${shards} - 1")
  foreach(shard RANGE ${last})
    add_test(NAME shard_${shard} COMMAND kolmo_tests WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(shard_${shard} PROPERTIES TIMEOUT 1200
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${shard};GTEST_BRIEF=1;GTEST_FILTER=-${statistics}")
  endforeach()
else()
  set(long "*/GoldenValues.*/simt")  # 10 s or more each; `make check` runs them
  set(discovery DISCOVERY_MODE PRE_TEST WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  gtest_discover_tests(kolmo_tests ${discovery} TEST_FILTER "-${long}" PROPERTIES TIMEOUT 600)
  gtest_discover_tests(kolmo_tests ${discovery} TEST_FILTER "${long}" PROPERTIES TIMEOUT 600 LABELS long)
endif()

include(cmake/examples.cmake)
file(GLOB folders CONFIGURE_DEPENDS tests/*/tests.cmake)
foreach(folder IN LISTS folders)
  include(${folder})
endforeach()
