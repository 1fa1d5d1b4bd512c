#pragma once
#include <cstdint>

namespace kolmo::cuda {

/// A batch of row-major matrices of 16-bit elements that Hopper's copy engine brings into shared memory box by
/// box, in its 128-byte swizzle: 64 columns and `box_rows` rows (at most 256) of one matrix at a time, zeros
/// outside it. Rows must start at multiples of 16 bytes.
struct BoxedMatrices {
  const void* data;
  std::int64_t batch, rows, columns;
  int box_rows;
};

/// The driver's description of such copies, a CUtensorMap, as an argument of kernels.
struct alignas(64) TensorMap {
  std::uint64_t opaque[16];
};
/// Throws DeviceError if it refuses them.
TensorMap tensor_map(const BoxedMatrices& m);

/// Whether a device has these copies and the wgmma instructions: compute capability 9.0 exactly.
bool is_hopper(int device);
/// Number of multiprocessors of a device; 0 if there is no such device.
int multiprocessors(int device);

}  // namespace kolmo::cuda
