# Benchmarks of the runtime, built when they are asked for: cmake --build --preset cuda --target bench_memory
add_executable(bench_memory EXCLUDE_FROM_ALL bench/memory.cpp)
kolmo_options(bench_memory)
target_link_libraries(bench_memory PRIVATE kolmo_lib CLI11::CLI11 fmt::fmt nlohmann_json::nlohmann_json)
find_package(mimalloc QUIET)
if(mimalloc_FOUND)
  target_compile_definitions(bench_memory PRIVATE KOLMO_MIMALLOC)
  target_link_libraries(bench_memory PRIVATE mimalloc)
endif()

foreach(name busy monitor neighbors network_target pipeline tuner world_model_inputs)
  add_executable(bench_${name} EXCLUDE_FROM_ALL bench/${name}.cpp)
  kolmo_options(bench_${name})
  target_link_libraries(bench_${name} PRIVATE kolmo_lib CLI11::CLI11 fmt::fmt nlohmann_json::nlohmann_json)
endforeach()

target_link_libraries(bench_tuner PRIVATE kolmo_sim)

add_executable(bench_plain_lanes EXCLUDE_FROM_ALL bench/plain_lanes.cpp)
kolmo_options(bench_plain_lanes)
target_link_libraries(bench_plain_lanes PRIVATE kolmo_lib)
target_compile_options(bench_plain_lanes PRIVATE -O3 -march=native  # the benchmark runs on the machine that builds it
  -Wno-alloc-size-larger-than)  # g++ warns of sizes that never occur

foreach(name memory pipeline)  # these also measure what one would write with the CUDA runtime alone
  if(KOLMO_CUDA)
    target_sources(bench_${name} PRIVATE bench/${name}_cuda.cu)
  else()
    target_sources(bench_${name} PRIVATE bench/${name}_no_cuda.cpp)
  endif()
endforeach()
