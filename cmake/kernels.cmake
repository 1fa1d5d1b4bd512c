# The kernels of the operators, and what each takes: registers, shared memory, barriers and spills as nvcc prints them
# with -Xptxas -v. The table of the architectures in this build is embedded in the library; without CUDA it is empty.
#   kolmo_resources   builds kernel_resources.txt, such a table for every architecture that kolmo occupancy knows
#                     (takes minutes: each kernel is compiled for seven architectures)
set(table ${PROJECT_BINARY_DIR}/embedded/kernel_resources.txt)
if(KOLMO_CUDA)
  function(kolmo_kernels target table)
    add_library(${target} OBJECT ${KOLMO_OP_CUDA})
    kolmo_options(${target})
    target_compile_options(${target} PRIVATE -Xptxas=-v)
    if(CMAKE_CUDA_ARCHITECTURES MATCHES "90a")
      target_compile_definitions(${target} PRIVATE KOLMO_SM90A)  # this build has the code for what only Hopper GPUs have
    endif()
    set(launcher ${PROJECT_SOURCE_DIR}/cmake/keep_ptxas.sh ${CMAKE_CUDA_COMPILER_LAUNCHER})
    set_target_properties(${target} PROPERTIES CUDA_COMPILER_LAUNCHER "${launcher}")
    add_custom_command(OUTPUT ${table}
      COMMAND ${PROJECT_SOURCE_DIR}/cmake/keep_ptxas.sh --collect ${table} $<TARGET_OBJECTS:${target}>
      DEPENDS $<TARGET_OBJECTS:${target}>
      COMMAND_EXPAND_LISTS VERBATIM COMMENT "Collecting what the kernels take")
  endfunction()

  kolmo_kernels(kolmo_kernels ${table})
  target_sources(kolmo_lib PRIVATE $<TARGET_OBJECTS:kolmo_kernels>)

  kolmo_kernels(kolmo_kernels_everywhere ${PROJECT_BINARY_DIR}/kernel_resources.txt)
  set_target_properties(kolmo_kernels_everywhere PROPERTIES EXCLUDE_FROM_ALL ON
    CUDA_ARCHITECTURES "80-real;86-real;89-real;90a-real;100-real;103-real;120-real")
  add_custom_target(kolmo_resources DEPENDS ${PROJECT_BINARY_DIR}/kernel_resources.txt)
else()
  file(CONFIGURE OUTPUT ${table} CONTENT "")
endif()
kolmo_embed(kolmo_lib ${table})
