# Tests of what runs on several threads. They link only the sources of base and runtime, so that a build under ThreadSanitizer is quick.
file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kolmo/base/*.cpp ${PROJECT_SOURCE_DIR}/kolmo/runtime/*.cpp
  ${PROJECT_SOURCE_DIR}/kolmo/monitor/memory/*.cpp ${PROJECT_SOURCE_DIR}/kolmo/io/json.cpp ${PROJECT_SOURCE_DIR}/kolmo/io/printable.cpp)
list(FILTER sources EXCLUDE REGEX "/runtime/(cuda/|cpu/blas)")
list(APPEND sources ${PROJECT_SOURCE_DIR}/kolmo/runtime/cuda/no_cuda.cpp ${PROJECT_BINARY_DIR}/version.cpp
  ${PROJECT_SOURCE_DIR}/tests/sim/simulated_device.cpp)
foreach(name pipeline pipeline_admission pipeline_timing memory_pool memory_trace memory_pinned parallel stream_threads)
  list(APPEND sources ${CMAKE_CURRENT_LIST_DIR}/${name}_test.cpp)
endforeach()
foreach(name metrics threads)
  list(APPEND sources ${PROJECT_SOURCE_DIR}/tests/monitor/${name}_test.cpp)
endforeach()
add_executable(runtime_threads_test EXCLUDE_FROM_ALL ${sources})
add_dependencies(runtime_threads_test kolmo_version)
kolmo_options(runtime_threads_test)
target_link_libraries(runtime_threads_test PRIVATE Threads::Threads nlohmann_json::nlohmann_json hwy::hwy fmt::fmt ${CMAKE_DL_LIBS}
  GTest::gtest GTest::gmock GTest::gtest_main)
if(KOLMO_SANITIZE MATCHES thread)
  add_test(NAME runtime.threads COMMAND runtime_threads_test)
  set_tests_properties(runtime.threads PROPERTIES TIMEOUT 600)
endif()

# cuda_libraries_test.cpp has the search for CUDA's libraries find this one.
add_library(fake_cuda_library MODULE ${CMAKE_CURRENT_LIST_DIR}/fake_cuda_library.cpp)
set_target_properties(fake_cuda_library PROPERTIES PREFIX lib OUTPUT_NAME kolmofake SUFFIX ".so.13"
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fake_cuda_library)
add_dependencies(kolmo_tests fake_cuda_library)
set_property(SOURCE ${PROJECT_SOURCE_DIR}/tests/paths.cpp
  APPEND PROPERTY COMPILE_DEFINITIONS KOLMO_FAKE_CUDA_LIBRARY="$<TARGET_FILE:fake_cuda_library>")
