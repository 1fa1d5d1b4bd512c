#include "kolmo/io/npy.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <new>

#include "kolmo/base/complex.hpp"
#include "kolmo/base/error.hpp"
#include "kolmo/io/atomic_file.hpp"
#include "kolmo/io/byte_reader.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/io/npy_header.hpp"

namespace kolmo {
namespace {

static_assert(std::endian::native == std::endian::little);

/// How elements are stored on disk, and what they become in memory.
struct Format {
  std::string_view descr;  // without byte order
  DType dtype;
  std::size_t parts = 1;  // parts of a number, each in the byte order of the file
};

constexpr Format formats[] = {
    {"f8", DType::f64},      {"f4", DType::f32},    {"f2", DType::f16}, {"i8", DType::i64},
    {"i4", DType::i32},      {"i2", DType::i16},    {"i1", DType::i8},  {"u8", DType::u64},
    {"u4", DType::u32},      {"u2", DType::u16},    {"u1", DType::u8},  {"b1", DType::boolean},
    {"c16", DType::c128, 2}, {"c8", DType::c64, 2},
};

/// A dtype string such as "<f8": byte order, kind, bytes per element.
struct ElementType {
  const Format* format;
  std::size_t bytes;
  bool swapped;
};

ElementType element_type(const std::string& descr, const std::string& name) {
  if (!descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos) {
    for (const Format& f : formats) {
      if (descr.substr(1) == f.descr) return {&f, size_of(f.dtype), descr[0] == '>'};
    }
  }
  fail<InvalidArgument>(
      name + ": NPY dtype \"" + printable(descr) +
      "\" is not supported; want f8, f4, f2, i8, i4, i2, i1, u8, u4, u2, u1, b1, c16 or c8");
}

std::int64_t element_count(const std::vector<std::int64_t>& shape, const std::string& name) {
  require(shape.size() <= std::size_t(max_rank),
          name + ": NPY shape has " + std::to_string(shape.size()) + " dimensions, at most 6 are supported");
  // An extent of 0 does not count towards the bytes, since strides must fit too.
  std::int64_t count = 1, bytes = 8;
  bool fits = true;
  for (const std::int64_t extent : shape) {
    fits &= !__builtin_mul_overflow(bytes, extent == 0 ? 1 : extent, &bytes);
    count = fits ? count * extent : 0;
  }
  require(fits, name + ": NPY shape has more elements than fit in memory");
  return count;
}

/// Visits all positions of `shape` in row-major order, with the offset of the element in column-major order.
template <class Visit>
void for_each_fortran(const std::vector<std::int64_t>& shape, std::size_t count, Visit&& visit) {
  std::vector<std::int64_t> index(shape.size(), 0), stride(shape.size(), 1);
  for (std::size_t d = 1; d < shape.size(); ++d) stride[d] = stride[d - 1] * shape[d - 1];
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < count; ++i) {
    visit(i, std::size_t(offset));
    for (std::size_t d = shape.size(); d-- > 0;) {
      offset += stride[d];
      if (++index[d] < shape[d]) break;
      offset -= stride[d] * shape[d];
      index[d] = 0;
    }
  }
}

}  // namespace

Array parse_npy(std::span<const std::byte> bytes, const std::string& name) {
  const NpyHeader header = parse_npy_header(bytes, name);
  const ElementType type = element_type(header.descr, name);
  const auto count = std::size_t(element_count(header.shape, name));
  const auto data = bytes.subspan(header.bytes);
  if (data.size() / type.bytes != count || data.size() % type.bytes != 0) {
    const bool shorter = data.size() / type.bytes < count;
    fail<InvalidArgument>(name + ": NPY file is " + (shorter ? "truncated" : "too long") +
                          ": the header says " + std::to_string(count) + " elements of " +
                          std::to_string(type.bytes) + " bytes, the file holds " +
                          std::to_string(data.size()) + " bytes of data");
  }
  Array array;
  try {
    array = Array(type.format->dtype, header.shape);
  } catch (const std::bad_alloc&) {
    fail<OutOfMemory>(name + ": " + std::to_string(data.size()) + " bytes cannot be had");
  }
  const std::size_t part = type.bytes / type.format->parts;
  const auto copy = [&](std::size_t to, std::size_t from) {
    std::byte* const element = array.bytes().data() + to * type.bytes;
    std::memcpy(element, data.data() + from * type.bytes, type.bytes);
    for (std::size_t b = 0; type.swapped && b < type.bytes; b += part)
      std::reverse(element + b, element + b + part);
    if (type.format->dtype == DType::boolean) *element = std::byte(*element != std::byte(0));
  };
  if (header.fortran_order && header.shape.size() > 1) {
    for_each_fortran(header.shape, count, copy);
  } else {
    for (std::size_t i = 0; i < count; ++i) copy(i, i);
  }
  return array;
}

Array read_npy(const std::string& path) {
  const std::string content = open_bytes(path).rest(file_label(path));
  return parse_npy(std::as_bytes(std::span(content)), file_label(path));
}

void write_npy(const std::string& path, const Tensor& tensor) {
  require(tensor.given() && tensor.device.kind == DeviceKind::cpu,
          file_label(path) + ": write_npy wants a tensor on the host");
  static constexpr std::string_view descrs[] = {"<f8", "<f4", "<f2", "<f4", "<i8", "<i4", "|u1", "<c16",
                                                "<c8", "<i2", "|i1", "<u8", "<u4", "<u2", "|b1"};
  static_assert(std::size(descrs) == std::size(all_dtypes));
  AtomicFile file(path);
  file.write(npy_header(descrs[std::size_t(tensor.dtype)],
                        {tensor.extent.begin(), tensor.extent.begin() + tensor.rank}));
  const bool widen_bf16 = tensor.dtype == DType::bf16;
  const std::size_t width = size_of(tensor.dtype);
  const auto* data = static_cast<const char*>(tensor.data);
  if (tensor.contiguous() && !widen_bf16) {
    file.write({data, tensor.bytes()});
    return file.commit();
  }
  std::string buffer;
  std::array<std::int64_t, max_rank> index{};
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < std::size_t(tensor.rank); ++d) offset += index[d] * tensor.stride[d];
    const char* element = data + offset * std::int64_t(width);
    if (widen_bf16) {
      BFloat16 value;
      std::memcpy(&value, element, sizeof value);
      const float wide = value;
      buffer.append(reinterpret_cast<const char*>(&wide), sizeof wide);
    } else {
      buffer.append(element, width);
    }
    if (buffer.size() >= 1 << 20) file.write(buffer), buffer.clear();
    for (std::size_t d = std::size_t(tensor.rank); d-- > 0;) {
      if (++index[d] < tensor.extent[d]) break;
      index[d] = 0;
    }
  }
  file.write(buffer);
  file.commit();
}

}  // namespace kolmo
