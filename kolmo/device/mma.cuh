#pragma once
// Products of 16x16 tiles on tensor cores (WMMA): 16-bit factors, sums in float. Anonymous namespace: see
// device/grid.cuh.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <type_traits>

#include "kolmo/base/half.hpp"

namespace kolmo::cuda {
namespace {

namespace wmma = nvcuda::wmma;

/// CUDA's own type with the bits of Half or BFloat16.
template <class T>
using NativeHalf = std::conditional_t<std::is_same_v<T, Half>, __half, __nv_bfloat16>;

template <bool Transposed>
using FragmentOrder = std::conditional_t<Transposed, wmma::col_major, wmma::row_major>;
template <class T, bool Transposed>
using LeftFragment = wmma::fragment<wmma::matrix_a, 16, 16, 16, NativeHalf<T>, FragmentOrder<Transposed>>;
template <class T, bool Transposed>
using RightFragment = wmma::fragment<wmma::matrix_b, 16, 16, 16, NativeHalf<T>, FragmentOrder<Transposed>>;
using SumFragment = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

}  // namespace
}  // namespace kolmo::cuda
