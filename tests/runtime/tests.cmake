# What runs on several threads, from the sources of base and runtime alone: quick to build under ThreadSanitizer.
file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kolmo/base/*.cpp ${PROJECT_SOURCE_DIR}/kolmo/runtime/*.cpp)
list(FILTER sources EXCLUDE REGEX "/runtime/cuda/cuda_.*\\.cpp$")
add_executable(runtime_threads_test EXCLUDE_FROM_ALL ${sources} ${CMAKE_CURRENT_LIST_DIR}/pipeline_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/pipeline_admission_test.cpp)
kolmo_options(runtime_threads_test)
target_link_libraries(runtime_threads_test PRIVATE Threads::Threads nlohmann_json::nlohmann_json fmt::fmt ${CMAKE_DL_LIBS}
  GTest::gtest GTest::gmock GTest::gtest_main)
if(KOLMO_SANITIZE MATCHES thread)
  add_test(NAME runtime.threads COMMAND runtime_threads_test)
  set_tests_properties(runtime.threads PROPERTIES TIMEOUT 600)
endif()
