#include "kolmo/runtime/cuda/tensor_copies.hpp"

#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <bit>

#include "kolmo/base/error.hpp"

namespace kolmo::cuda {
namespace {

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, which, device) != cudaSuccess) cudaGetLastError(), value = 0;
  return value;
}

/// Finds a function of the driver by name; null if the driver has none.
template <class Function>
Function driver_function(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status{};
  if (cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &status) != cudaSuccess ||
      status != cudaDriverEntryPointSuccess)
    cudaGetLastError(), found = nullptr;
  return reinterpret_cast<Function>(found);
}
auto boxes_encoder() {
  static const auto f = driver_function<PFN_cuTensorMapEncodeTiled_v12000>("cuTensorMapEncodeTiled");
  return f;
}
auto images_encoder() {
  static const auto f = driver_function<PFN_cuTensorMapEncodeIm2col_v12000>("cuTensorMapEncodeIm2col");
  return f;
}

cuuint64_t u64(std::int64_t i) { return cuuint64_t(i); }

/// Calls encode(&map, layout of elements...) for 16-bit elements in the 128-byte swizzle.
template <class Encode, class... Layout>
TensorMap encoded(Encode encode, int rank, const void* data, const Layout&... layout) {
  CUtensorMap map;
  const CUresult result =
      encode ? encode(&map, CU_TENSOR_MAP_DATA_TYPE_UINT16, cuuint32_t(rank), const_cast<void*>(data),
                      layout..., CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                      CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
             : CUDA_ERROR_NOT_SUPPORTED;
  if (result != CUDA_SUCCESS)
    fail<DeviceError>("cuda: the driver refuses to copy an array in boxes: error " +
                      std::to_string(int(result)));
  return std::bit_cast<TensorMap>(map);
}

}  // namespace

TensorMap tensor_map(const BoxedMatrices& m) {
  const std::int64_t row = m.row_step ? m.row_step : m.columns, step = m.step ? m.step : row * m.rows;
  const std::array sizes{u64(m.columns), u64(m.rows), u64(m.batch)};
  const std::array strides{u64(row * 2), u64(step * 2)};
  const std::array<cuuint32_t, 3> box{64, cuuint32_t(m.box_rows), 1}, steps{1, 1, 1};
  return encoded(boxes_encoder(), 3, m.data, sizes.data(), strides.data(), box.data(), steps.data());
}

TensorMap image_map(const BoxedImages& m) {
  const std::array sizes{u64(m.channels), u64(m.columns.size), u64(m.rows.size), u64(m.images)};
  const std::int64_t row = m.columns.size * m.channels * 2;
  const std::array strides{u64(m.channels * 2), u64(row), u64(row * m.rows.size)};
  const std::array first{-int(m.columns.padding), -int(m.rows.padding)};
  const std::array last{int(m.columns.padding - m.columns.reach), int(m.rows.padding - m.rows.reach)};
  const std::array<cuuint32_t, 4> steps{1, cuuint32_t(m.columns.stride), cuuint32_t(m.rows.stride), 1};
  return encoded(images_encoder(), 4, m.data, sizes.data(), strides.data(), first.data(), last.data(),
                 cuuint32_t(64), cuuint32_t(m.box_pixels), steps.data());
}

bool is_hopper(int device) {
  return attribute(cudaDevAttrComputeCapabilityMajor, device) == 9 &&
         attribute(cudaDevAttrComputeCapabilityMinor, device) == 0 && boxes_encoder();
}

int multiprocessors(int device) {
  thread_local int asked = -1, count = 1;  // asking the runtime each time would lengthen every call
  if (device != asked) asked = device, count = std::max(1, attribute(cudaDevAttrMultiProcessorCount, device));
  return count;
}

}  // namespace kolmo::cuda
