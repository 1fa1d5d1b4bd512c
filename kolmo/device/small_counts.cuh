#pragma once
// Sums over small counts (base/entropy.hpp), two of which a word has. Anonymous namespace: see device/grid.cuh.
#include <cstdint>

#include "kolmo/base/entropy.hpp"
#include "kolmo/device/sum_tree.cuh"

namespace kolmo::cuda {
namespace {

__device__ inline std::uint32_t pair_of(std::uint32_t low, std::uint32_t high) { return low + (high << 16); }

/// Sums over the halves of at most 32 pairs, and the number of counts that are not 0.
struct PairSums {
  std::uint32_t counts = 0, above = 0;
  __device__ void add(std::uint32_t pair) { counts += pair, above += (pair + 0x3f003f) & 0x400040; }
  __device__ std::uint32_t total() const { return (counts & 0xffff) + (counts >> 16); }
  __device__ std::uint32_t bins() const { return ((above & 0xffff) + (above >> 16)) >> 6; }
};

/// n ln n of small counts in shared memory. Copies, as lanes that read the same bank wait for each other.
struct CountLogs {
  static constexpr int copies = 16;
  double value[small_counts * copies];
  __device__ void fill() {
    for (int i = int(threadIdx.x); i < small_counts * copies; i += sum_block)
      value[i] = count_log_count(i / copies);
  }
  struct OfLane {
    static constexpr unsigned each = copies * sizeof(double);
    const double* value;
    /// By the address: from an index nvcc makes it in more steps.
    __device__ double at(unsigned byte) const {
#ifdef __CUDA_ARCH__
      double term;
      asm("ld.shared.f64 %0, [%1];" : "=d"(term) : "r"(unsigned(__cvta_generic_to_shared(value)) + byte));
      return term;
#else
      return value[byte / sizeof(double)];
#endif
    }
    __device__ double low(std::uint32_t pair) const { return at((pair & 0xffff) * each); }
    /// The quotient has nothing of the low count.
    __device__ double high(std::uint32_t pair) const { return at(pair / (0x10000 / each)); }
    static_assert(small_counts * each <= 0x10000);
  };
  __device__ OfLane of_lane(int lane) const { return {value + lane % copies}; }
};

/// x_log_x of sums of small counts: of small sums in shared memory.
struct SumLogs {
  double value[sum_block];
  __device__ void fill() { value[threadIdx.x] = x_log_x(double(threadIdx.x)); }
  __device__ double of(std::uint32_t n) const {
    if (n < sum_block) return value[n];
    const double x = of_small_count(n);
    return exact_mul(x, log_scaled(x, 0));
  }
};

}  // namespace
}  // namespace kolmo::cuda
