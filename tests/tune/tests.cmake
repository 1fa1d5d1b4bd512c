# Where a CUDA toolkit is found, a test compares occupancy with its cuda_occupancy.h. That header is plain C, so that builds without
# CUDA have the test too.
find_path(KOLMO_OCCUPANCY_HEADER cuda_occupancy.h NO_DEFAULT_PATH
  HINTS ${CUDAToolkit_INCLUDE_DIRS} $ENV{CUDA_HOME}/include ${PROJECT_SOURCE_DIR}/.cuda/toolkit/include
    /usr/local/cuda/include)
if(KOLMO_OCCUPANCY_HEADER)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/tests/tune/occupancy_header_test.cpp PROPERTIES
    INCLUDE_DIRECTORIES ${KOLMO_OCCUPANCY_HEADER})
endif()
