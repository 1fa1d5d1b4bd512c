#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kolmo/base/tensor.hpp"
#include "kolmo/io/table.hpp"

namespace kolmo {

/// A tensor that owns its memory, on the host, contiguous and row-major.
struct Array {
  DType dtype = DType::f64;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> data;

  Tensor tensor() { return kolmo::tensor(data.data(), dtype, shape); }
};

/// Reads NPY 1.0, 2.0 and 3.0, of either byte order and either memory order (the result is row-major).
/// f8 f4 f2 i8 i4 u1 keep their type; i1 i2 u2 become i32, u4 and u8 i64, b1 u8, always exactly.
/// Raises InvalidArgument, "NAME: ...", for any other dtype, more than 6 dimensions, a u8 value above 2^63 -
/// 1, a malformed header and a file shorter or longer than its header says. Source: NEP 1, "A simple file
/// format for NumPy arrays", and numpy.lib.format.
Array parse_npy(std::span<const std::byte> bytes, const std::string& name);
Array read_npy(const std::string& path);

/// Whether the bytes start like an NPY file.
bool is_npy(std::span<const std::byte> bytes);

/// Writes NPY 1.0, little-endian and row-major, atomically. The tensor is on the host and may be strided.
/// bf16, which NPY does not know, is written as f4: exact.
void write_npy(const std::string& path, const Tensor& tensor);

/// A 1-D array as one column, a 2-D array with time along rows. Infinite values, and integers that a double
/// cannot hold, are faults; messages count rows from 1, like lines.
Table to_table(const Array& array, const std::string& name);

}  // namespace kolmo
