#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

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

/// `name`: the library with its version. `path`: the file that was opened. If there is none, `problem` says
/// why.
struct VendorLibrary {
  std::string name, path, problem;
};
/// Null in a build without CUDA. The library is searched once, as described in runtime/cuda_libraries.hpp.
const VendorLibrary* vendor_library();

/// Whether the library is available and has an algorithm for such a call. The answer is cached. Launching
/// uses the algorithm that was found.
bool vendor_matmul_fits(const VendorMatmul& call);
void vendor_matmul(const VendorMatmul& call, void* workspace, Stream& stream);

}  // namespace kolmo::cuda
