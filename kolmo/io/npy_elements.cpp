#include "kolmo/io/npy_elements.hpp"

#include <algorithm>
#include <bit>

#include "kolmo/base/error.hpp"
#include "kolmo/io/file.hpp"

namespace kolmo {
namespace {

static_assert(std::endian::native == std::endian::little);

/// Elements on disk, and what they are in memory.
struct Format {
  std::string_view descr;  // without byte order
  DType dtype;
  std::size_t parts = 1;  // of a number, each in the byte order of the file
};

constexpr Format formats[] = {
    {"f8", DType::f64},      {"f4", DType::f32},    {"f2", DType::f16}, {"i8", DType::i64},
    {"i4", DType::i32},      {"i2", DType::i16},    {"i1", DType::i8},  {"u8", DType::u64},
    {"u4", DType::u32},      {"u2", DType::u16},    {"u1", DType::u8},  {"b1", DType::boolean},
    {"c16", DType::c128, 2}, {"c8", DType::c64, 2},
};

/// The format of a dtype string such as "<f8": byte order, kind, bytes per element.
const Format& format_of(const std::string& descr, const std::string& name) {
  if (!descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos)
    for (const Format& f : formats)
      if (descr.substr(1) == f.descr) return f;
  fail<InvalidArgument>(
      name + ": NPY dtype \"" + printable(descr) +
      "\" is not supported; want f8, f4, f2, i8, i4, i2, i1, u8, u4, u2, u1, b1, c16 or c8");
}

std::size_t element_count(const std::vector<std::int64_t>& shape, const std::string& name) {
  require(shape.size() <= std::size_t(max_rank),
          name + ": NPY shape has " + std::to_string(shape.size()) + " dimensions, at most 6 are supported");
  std::int64_t count = 1, bytes = 8;  // bytes: extents of 0 are skipped, since strides must fit too
  bool fits = true;
  for (const std::int64_t extent : shape) {
    fits &= !__builtin_mul_overflow(bytes, extent == 0 ? 1 : extent, &bytes);
    count = fits ? count * extent : 0;
  }
  require(fits, name + ": NPY shape has more elements than fit in memory");
  return std::size_t(count);
}

}  // namespace

NpyElements::NpyElements(ByteReader& bytes, const std::string& name) : bytes_(bytes), name_(name) {
  header_ = read_npy_header(bytes, name);
  const Format& format = format_of(header_.descr, name);
  dtype_ = format.dtype, swapped_ = header_.descr[0] == '>';
  count_ = element_count(header_.shape, name);
  const std::size_t width = size_of(dtype_), held = std::size_t(bytes.expected()) - header_.bytes;
  part_ = width / format.parts;
  if (held / width == count_ && held % width == 0) return;
  fail<InvalidArgument>(name + ": NPY file is " + (held / width < count_ ? "truncated" : "too long") +
                        ": the header says " + std::to_string(count_) + " elements of " +
                        std::to_string(width) + " bytes, the file holds " + std::to_string(held) +
                        " bytes of data");
}

void NpyElements::read(std::byte* to, std::size_t elements) {
  const std::size_t wanted = elements * size_of(dtype_);
  if (bytes_.read(reinterpret_cast<char*>(to), wanted) != wanted)
    fail<InvalidArgument>(name_ + ": became shorter while it was read");
  for (std::size_t at = 0; swapped_ && at < wanted; at += part_) std::reverse(to + at, to + at + part_);
  if (dtype_ == DType::boolean)
    std::transform(to, to + wanted, to, [](std::byte b) { return std::byte(b != std::byte(0)); });
}

}  // namespace kolmo
