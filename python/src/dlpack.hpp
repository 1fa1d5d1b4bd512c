#pragma once
#include <cstdint>

#include "kolmo/base/tensor.hpp"

/// The binary interface of DLPack 1, in which libraries hand arrays to each other (dmlc.github.io/dlpack).
namespace kolmo::dlpack {

enum DeviceType : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };

struct Device {
  std::int32_t type, index;
};
struct DataType {
  std::uint8_t code, bits;  ///< code 0: int, 1: unsigned, 2: float, 4: bfloat, 5: complex, 6: bool
  std::uint16_t lanes;
};
struct Tensor {
  void* data;
  Device device;
  std::int32_t rank;
  DataType dtype;
  std::int64_t *shape, *strides;  ///< strides count elements; null: row-major
  std::uint64_t byte_offset;
};
/// The contents of a capsule named "dltensor".
struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed*);
};
/// The contents of a capsule named "dltensor_versioned".
struct ManagedVersioned {
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(ManagedVersioned*);
  std::uint64_t flags;  ///< bit 0: read-only, bit 1: copied
  Tensor tensor;
};
inline constexpr std::uint64_t read_only = 1;

constexpr DataType of(DType t) {
  const std::uint8_t code = t == DType::boolean ? 6
                            : complexes.has(t)  ? 5
                            : t == DType::bf16  ? 4
                            : floats.has(t)     ? 2
                                                : 0;
  const bool is_unsigned = DTypes::of(DType::u64, DType::u32, DType::u16, DType::u8).has(t);
  return {is_unsigned ? std::uint8_t(1) : code, std::uint8_t(8 * size_of(t)), 1};
}

}  // namespace kolmo::dlpack
