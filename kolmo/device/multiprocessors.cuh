#pragma once
// multiprocessors(device) returns how many multiprocessors a GPU has.
#ifdef SIMT
namespace kolmo::cuda {
namespace {

inline int multiprocessors(int) { return simt::multiprocessors; }

}  // namespace
}  // namespace kolmo::cuda
#else
#include "kolmo/runtime/cuda/tensor_copies.hpp"
#endif
