# KOLMO_CUDA: ON, OFF or AUTO, which is ON where a GPU and an nvcc are. Looks for nvcc in $CUDA_HOME, the toolkit that
# tools/bootstrap.sh may have installed, /usr/local/cuda and PATH; CMAKE_CUDA_COMPILER overrides. CMAKE_CUDA_ARCHITECTURES
# chooses the GPUs, which must have compute capability 8.0 or later: by default those of this machine, and where it has none H100
# and H200, and all others by code that their driver compiles when it first runs.
set(KOLMO_CUDA AUTO CACHE STRING "Build the CUDA backend: ON, OFF, or AUTO (where a GPU is)")
set_property(CACHE KOLMO_CUDA PROPERTY STRINGS AUTO ON OFF)

if(KOLMO_CUDA STREQUAL "AUTO")
  file(GLOB gpus /dev/nvidia[0-9]* /dev/dxg)  # a container may be given any of the GPUs; WSL2 has /dev/dxg
  set(wanted ${gpus})
elseif(KOLMO_CUDA MATCHES "^(ON|OFF|TRUE|FALSE|YES|NO|1|0)$")
  set(wanted ${KOLMO_CUDA})
else()
  message(FATAL_ERROR "KOLMO_CUDA is ${KOLMO_CUDA}; it must be ON, OFF or AUTO")
endif()

if(wanted AND NOT CMAKE_CUDA_COMPILER)
  find_program(KOLMO_NVCC nvcc
    PATHS $ENV{CUDA_HOME}/bin ${CMAKE_CURRENT_SOURCE_DIR}/.cuda/toolkit/bin /usr/local/cuda/bin
    NO_DEFAULT_PATH)
  find_program(KOLMO_NVCC nvcc)
  if(KOLMO_NVCC)
    set(CMAKE_CUDA_COMPILER ${KOLMO_NVCC})
  elseif(NOT KOLMO_CUDA STREQUAL "AUTO")
    message(FATAL_ERROR "KOLMO_CUDA is ON and there is no nvcc: set CUDA_HOME, or run CUDA=1 tools/bootstrap.sh")
  endif()
endif()

if(wanted AND CMAKE_CUDA_COMPILER AND NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(architectures "")
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
    OUTPUT_VARIABLE capabilities ERROR_QUIET RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    set(capabilities "")
  else()
    string(REGEX MATCHALL "[0-9]+\\.[0-9]" capabilities "${capabilities}")
    foreach(capability IN LISTS capabilities)
      string(REPLACE "." "" architecture ${capability})
      if(architecture GREATER_EQUAL 90)
        list(APPEND architectures ${architecture}a-real)
      elseif(architecture GREATER_EQUAL 80)
        list(APPEND architectures ${architecture}-real)
      endif()
    endforeach()
    list(REMOVE_DUPLICATES architectures)
  endif()
  if(architectures)
    set(CMAKE_CUDA_ARCHITECTURES ${architectures})
  elseif(capabilities AND KOLMO_CUDA STREQUAL "AUTO")
    message(STATUS "CUDA is left out: this machine's GPUs have compute capability ${capabilities}, and 8.0 is needed")
    set(wanted OFF)
  else()
    set(CMAKE_CUDA_ARCHITECTURES 80-virtual 90a-real)
  endif()
endif()

set(KOLMO_CUDA OFF)
if(wanted AND CMAKE_CUDA_COMPILER)
  set(KOLMO_CUDA ON)
  enable_language(CUDA)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know C++20 in nvcc 13
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  find_package(CUDAToolkit REQUIRED)
endif()
