#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kolmo {

/// The header of an NPY file; `bytes` is the offset of the data.
struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::size_t bytes = 0;
};

/// Parses the header. Throws InvalidArgument, "NAME: ...", unless it is a well-formed one of version 1.0, 2.0
/// or 3.0 with an unstructured dtype.
NpyHeader parse_npy_header(std::span<const std::byte> bytes, const std::string& name);

/// The header of a row-major file of version 1.0, padded so that the data is aligned to 64 bytes.
std::string npy_header(std::string_view descr, const std::vector<std::int64_t>& shape);

}  // namespace kolmo
