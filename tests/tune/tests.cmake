# cuda_occupancy.h is plain C: where there is a toolkit, occupancy is compared with it, also in builds without CUDA.
find_path(KOLMO_OCCUPANCY_HEADER cuda_occupancy.h NO_DEFAULT_PATH
  HINTS ${CUDAToolkit_INCLUDE_DIRS} $ENV{CUDA_HOME}/include ${PROJECT_SOURCE_DIR}/.cuda/toolkit/include
    /usr/local/cuda/include)
if(KOLMO_OCCUPANCY_HEADER)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/tests/tune/occupancy_header_test.cpp PROPERTIES
    INCLUDE_DIRECTORIES ${KOLMO_OCCUPANCY_HEADER})
endif()
