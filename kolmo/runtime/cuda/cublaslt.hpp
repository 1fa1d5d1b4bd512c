#pragma once
#include <cstddef>
#include <cstdint>

#include "kolmo/base/activation.hpp"
#include "kolmo/base/tensor.hpp"

namespace kolmo {
class Stream;
}

namespace kolmo::cuda {

/// A batch of row-major products, y = activation(alpha op(a) op(b) + beta c + bias), for NVIDIA's cuBLASLt.
/// c and bias may be null and have the dtype of a and b; sums are f64 for f64, else f32 (never TF32).
struct VendorMatmul {
  int device;
  DType dtype, output;
  std::int64_t batch, m, n, k;
  bool transpose_a, transpose_b;
  double alpha, beta;
  Activation activation;
  const void *a, *b, *c, *bias;
  void* y;
};

inline constexpr std::size_t vendor_matmul_workspace = 32 << 20;

/// Whether libcublasLt.so.13 is there (it is looked for once, by the dynamic loader's rules) and has an
/// algorithm for such a call. The answer is remembered; launching uses the algorithm it found.
bool vendor_matmul_fits(const VendorMatmul& call);
void vendor_matmul(const VendorMatmul& call, void* workspace, Stream& stream);

}  // namespace kolmo::cuda
