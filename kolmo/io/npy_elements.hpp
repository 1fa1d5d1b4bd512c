#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "kolmo/base/tensor.hpp"
#include "kolmo/io/byte_reader.hpp"
#include "kolmo/io/npy_header.hpp"

namespace kolmo {

/// The elements of an NPY file, piece by piece, in the order of the file and the byte order of this machine. The arguments must
/// outlive it.
class NpyElements {
 public:
  /// Reads the header and compares it with the number of bytes that `bytes` expects, before memory is taken for the elements.
  /// Throws what parse_npy throws.
  NpyElements(ByteReader& bytes, const std::string& name);

  const NpyHeader& header() const { return header_; }
  DType dtype() const { return dtype_; }
  std::size_t count() const { return count_; }
  /// The next elements. Throws InvalidArgument if the file has become shorter.
  void read(std::byte* to, std::size_t elements);

 private:
  ByteReader& bytes_;
  const std::string& name_;
  NpyHeader header_;
  DType dtype_ = DType::f64;
  std::size_t count_ = 0, part_ = 1;  // part_: bytes that are swapped together
  bool swapped_ = false;
};

/// A position in an array, which goes through all of them in the order of a file.
class FileOrder {
 public:
  FileOrder(std::span<const std::int64_t> shape, bool fortran_order)
      : shape_(shape), fortran_order_(fortran_order) {}
  std::size_t operator[](std::size_t dimension) const { return std::size_t(index_[dimension]); }
  void next() {
    for (std::size_t i = 0; i < shape_.size(); ++i) {
      const std::size_t d = fortran_order_ ? i : shape_.size() - 1 - i;
      if (++index_[d] < shape_[d]) return;
      index_[d] = 0;
    }
  }

 private:
  std::span<const std::int64_t> shape_;
  std::array<std::int64_t, max_rank> index_{};
  bool fortran_order_;
};

}  // namespace kolmo
