#pragma once
// multiprocessors(device): how many a GPU has. Anonymous namespace: see device/grid.cuh.
#ifdef SIMT
namespace kolmo::cuda {
namespace {

inline int multiprocessors(int) { return simt::multiprocessors; }

}  // namespace
}  // namespace kolmo::cuda
#else
#include "kolmo/runtime/cuda/tensor_copies.hpp"
#endif
