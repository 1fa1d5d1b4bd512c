#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kolmo/io/byte_reader.hpp"

namespace kolmo {

/// The header of an NPY file; `bytes` is the offset of the data.
struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::size_t bytes = 0;
};

/// Reads the header, so that the data come next. Throws InvalidArgument, "NAME: ...", unless it is a well-formed one of version
/// 1.0, 2.0 or 3.0 with an unstructured dtype.
NpyHeader read_npy_header(ByteReader& bytes, const std::string& name);

/// The header of a row-major file of version 1.0, padded so that the data is aligned to 64 bytes.
std::string npy_header(std::string_view descr, const std::vector<std::int64_t>& shape);

}  // namespace kolmo
