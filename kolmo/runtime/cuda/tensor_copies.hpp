#pragma once
#include <cstdint>

namespace kolmo::cuda {

/// A batch of row-major matrices of 16-bit elements that Hopper's copy engine brings into shared memory box
/// by box, in its 128-byte swizzle. A box has 64 columns and `box_rows` rows (at most 256) of one matrix,
/// with zeros outside it. Rows must start at multiples of 16 bytes. Rows are `row_step` elements apart, and
/// matrices `step` elements; 0 means that nothing is between them.
struct BoxedMatrices {
  const void* data;
  std::int64_t batch, rows, columns;
  int box_rows;
  std::int64_t row_step = 0, step = 0;
};

/// Images of 16-bit elements, channels last, which are copied in the same way. A box has 64 channels at
/// `box_pixels` places (at most 256) of a kernel that moves over rows, then over images, with zeros outside
/// an image. Pixels must start at multiples of 16 bytes.
struct BoxedImages {
  struct Axis {
    std::int64_t size;
    std::int64_t stride, padding;  ///< of the kernel
    std::int64_t reach;            ///< from the kernel's first element to its last
    /// Whether the copy engine can describe this axis.
    bool fits() const { return stride <= 8 && padding <= 128 && reach <= 255 && padding - reach >= -128; }
  };
  const void* data;
  std::int64_t images;
  Axis rows, columns;
  std::int64_t channels;
  int box_pixels;
};

/// The driver's description of such copies, a CUtensorMap, as an argument of kernels.
struct alignas(64) TensorMap {
  std::uint64_t opaque[16];
};
/// Throw DeviceError if the driver refuses the description.
TensorMap tensor_map(const BoxedMatrices& m);
TensorMap image_map(const BoxedImages& m);

/// Whether a device has these copies and the wgmma instructions: compute capability 9.0 exactly.
bool is_hopper(int device);
/// Number of multiprocessors of a device, and 1 if there is no such device, as callers divide by it.
int multiprocessors(int device);

}  // namespace kolmo::cuda
