# KOLMO_CUDA: ON, OFF or AUTO (ON when an nvcc is found). Looks in $CUDA_HOME, the toolkit that
# tools/bootstrap.sh may have installed, /usr/local/cuda and PATH; CMAKE_CUDA_COMPILER overrides.
set(KOLMO_CUDA AUTO CACHE STRING "Build the CUDA backend: ON, OFF or AUTO")
set_property(CACHE KOLMO_CUDA PROPERTY STRINGS AUTO ON OFF)

if(KOLMO_CUDA STREQUAL "AUTO" OR KOLMO_CUDA)
  if(NOT CMAKE_CUDA_COMPILER)
    find_program(KOLMO_NVCC nvcc
      PATHS $ENV{CUDA_HOME}/bin ${CMAKE_CURRENT_SOURCE_DIR}/.cuda/toolkit/bin /usr/local/cuda/bin
      NO_DEFAULT_PATH)
    find_program(KOLMO_NVCC nvcc)
    if(KOLMO_NVCC)
      set(CMAKE_CUDA_COMPILER ${KOLMO_NVCC})
    endif()
  endif()
  if(CMAKE_CUDA_COMPILER)
    set(cuda_found ON)
  else()
    set(cuda_found OFF)
  endif()
  if(KOLMO_CUDA STREQUAL "AUTO")
    set(KOLMO_CUDA ${cuda_found})
  elseif(NOT cuda_found)
    message(FATAL_ERROR "KOLMO_CUDA is ON and there is no nvcc: set CUDA_HOME, or run CUDA=1 tools/bootstrap.sh")
  endif()
endif()

if(KOLMO_CUDA)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80-virtual 90a-real)  # PTX for every GPU since A100, code for H100 and H200
  endif()
  enable_language(CUDA)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know C++20 in nvcc 13
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  find_package(CUDAToolkit REQUIRED)
endif()
