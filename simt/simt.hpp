#pragma once
// simt: compiles unmodified CUDA kernels with g++ and runs them on the CPU, one fiber per CUDA thread.
// Include this header before the kernel (`-include simt/simt.hpp`, or the CMake function simt_sources()).

#include "simt/atomic.hpp"
#include "simt/launch.hpp"
#include "simt/math.hpp"
#include "simt/warp.hpp"
