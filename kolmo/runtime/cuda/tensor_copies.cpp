#include "kolmo/runtime/cuda/tensor_copies.hpp"

#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

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

PFN_cuTensorMapEncodeTiled_v12000 encoder() {
  static const auto function = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult status{};
    if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault,
                                         &status) != cudaSuccess ||
        status != cudaDriverEntryPointSuccess)
      cudaGetLastError(), found = nullptr;
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(found);
  }();
  return function;
}

}  // namespace

TensorMap tensor_map(const BoxedMatrices& m) {
  CUtensorMap map;
  const auto u64 = [](std::int64_t i) { return cuuint64_t(i); };
  const std::array sizes{u64(m.columns), u64(m.rows), u64(m.batch)};
  const std::array strides{u64(m.columns * 2), u64(m.columns * m.rows * 2)};
  const std::array<cuuint32_t, 3> box{64, cuuint32_t(m.box_rows), 1}, steps{1, 1, 1};
  const auto encode = encoder();
  const CUresult result = encode
                              ? encode(&map, CU_TENSOR_MAP_DATA_TYPE_UINT16, 3, const_cast<void*>(m.data),
                                       sizes.data(), strides.data(), box.data(), steps.data(),
                                       CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                       CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
                              : CUDA_ERROR_NOT_SUPPORTED;
  if (result != CUDA_SUCCESS)
    fail<DeviceError>("cuda: the driver refuses to copy a matrix in boxes: error " +
                      std::to_string(int(result)));
  return std::bit_cast<TensorMap>(map);
}

bool is_hopper(int device) {
  return attribute(cudaDevAttrComputeCapabilityMajor, device) == 9 &&
         attribute(cudaDevAttrComputeCapabilityMinor, device) == 0 && encoder();
}

int multiprocessors(int device) { return attribute(cudaDevAttrMultiProcessorCount, device); }

}  // namespace kolmo::cuda
