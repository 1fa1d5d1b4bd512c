# kolmo_tests: every tests/**/*_test.cpp. A folder adds other tests in tests/<folder>/tests.cmake.
find_package(GTest REQUIRED)
include(GoogleTest)
include(cmake/headers.cmake)

file(GLOB_RECURSE sources CONFIGURE_DEPENDS tests/*_test.cpp)
list(FILTER sources EXCLUDE REGEX "/tests/package/")  # built against an installed Kolmo
add_executable(kolmo_tests ${sources})
kolmo_options(kolmo_tests)
target_link_libraries(kolmo_tests PRIVATE kolmo_check GTest::gtest GTest::gmock GTest::gtest_main Boost::headers
  fmt::fmt nlohmann_json::nlohmann_json SQLite::SQLite3)
target_compile_definitions(kolmo_tests PRIVATE KOLMO_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
gtest_discover_tests(kolmo_tests DISCOVERY_MODE PRE_TEST WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  PROPERTIES TIMEOUT 600)

include(cmake/examples.cmake)
file(GLOB folders CONFIGURE_DEPENDS tests/*/tests.cmake)
foreach(folder IN LISTS folders)
  include(${folder})
endforeach()
