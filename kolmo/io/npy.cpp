#include "kolmo/io/npy.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>

#include "kolmo/base/error.hpp"
#include "kolmo/io/atomic_file.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/io/npy_header.hpp"

namespace kolmo {
namespace {

static_assert(std::endian::native == std::endian::little);

/// How an element on disk becomes one in memory.
struct Conversion {
  std::string_view descr;  // without byte order
  DType dtype;
  void (*convert)(const std::byte* from, std::byte* to, const std::string& name);
};

template <class Disk, class Memory>
void widen(const std::byte* from, std::byte* to, const std::string& name) {
  Disk value;
  std::memcpy(&value, from, sizeof value);
  if constexpr (sizeof(Disk) == sizeof(Memory) && std::is_unsigned_v<Disk> && std::is_signed_v<Memory>) {
    if (value > Disk(std::numeric_limits<Memory>::max())) {
      fail<InvalidArgument>(name + ": the unsigned integer " + std::to_string(value) +
                            " does not fit in i64");
    }
  }
  const auto wide = Memory(value);  // NOLINT(bugprone-signed-char-misuse): i1 is a number with a sign
  std::memcpy(to, &wide, sizeof wide);
}

template <class T>
void keep(const std::byte* from, std::byte* to, const std::string&) {
  std::memcpy(to, from, sizeof(T));
}

void truth(const std::byte* from, std::byte* to, const std::string&) {
  *to = std::byte(*from != std::byte(0));
}

constexpr Conversion conversions[] = {
    {"f8", DType::f64, keep<double>},
    {"f4", DType::f32, keep<float>},
    {"f2", DType::f16, keep<Half>},
    {"i8", DType::i64, keep<std::int64_t>},
    {"i4", DType::i32, keep<std::int32_t>},
    {"i2", DType::i32, widen<std::int16_t, std::int32_t>},
    {"i1", DType::i32, widen<std::int8_t, std::int32_t>},
    {"u8", DType::i64, widen<std::uint64_t, std::int64_t>},
    {"u4", DType::i64, widen<std::uint32_t, std::int64_t>},
    {"u2", DType::i32, widen<std::uint16_t, std::int32_t>},
    {"u1", DType::u8, keep<std::uint8_t>},
    {"b1", DType::u8, truth},
};

/// A dtype string such as "<f8": byte order, kind, bytes per element.
struct ElementType {
  const Conversion* conversion;
  std::size_t bytes;
  bool swapped;
};

ElementType element_type(const std::string& descr, const std::string& name) {
  if (descr.size() == 3 && std::string_view("<>|=").find(descr[0]) != std::string_view::npos) {
    for (const Conversion& c : conversions) {
      if (descr.substr(1) == c.descr) return {&c, std::size_t(descr[2] - '0'), descr[0] == '>'};
    }
  }
  fail<InvalidArgument>(name + ": NPY dtype \"" + printable(descr) +
                        "\" is not supported; want f8, f4, f2, i8, i4, i2, i1, u8, u4, u2, u1 or b1");
}

std::int64_t element_count(const std::vector<std::int64_t>& shape, const std::string& name) {
  require(shape.size() <= std::size_t(max_rank),
          name + ": NPY shape has " + std::to_string(shape.size()) + " dimensions, at most 6 are supported");
  std::int64_t count = 1, bytes = 8;  // bytes of the largest type, without extents of 0: strides must fit too
  bool fits = true;
  for (const std::int64_t extent : shape) {
    fits &= !__builtin_mul_overflow(bytes, extent == 0 ? 1 : extent, &bytes);
    count = fits ? count * extent : 0;
  }
  require(fits, name + ": NPY shape has more elements than fit in memory");
  return count;
}

/// Visits row-major positions of `shape` in order, with the offset of the element in column-major order.
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

/// Why a series cannot hold the element; empty where it can.
template <class T>
std::string why_unusable(T element) {
  const auto value = double(element);
  if (std::isinf(value))
    return (value < 0 ? "-inf" : "inf") + std::string(" is infinite; a series holds finite numbers or NaN");
  if constexpr (std::is_same_v<T, std::int64_t>) {
    const bool exact = value < 0x1p63 && std::int64_t(value) == element;
    if (!exact) return std::to_string(element) + " cannot be held by a double exactly";
  }
  return "";
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
  Array array{type.conversion->dtype, header.shape, {}};
  const std::size_t width = size_of(array.dtype);
  try {
    array.data.resize(count * width);
  } catch (const std::bad_alloc&) {
    fail<OutOfMemory>(name + ": " + std::to_string(count * width) + " bytes cannot be had");
  }
  const auto convert = [&](std::size_t to, std::size_t from) {
    std::byte element[8];
    std::memcpy(element, data.data() + from * type.bytes, type.bytes);
    if (type.swapped) std::reverse(element, element + type.bytes);
    type.conversion->convert(element, array.data.data() + to * width, name);
  };
  if (header.fortran_order && header.shape.size() > 1) {
    for_each_fortran(header.shape, count, convert);
  } else {
    for (std::size_t i = 0; i < count; ++i) convert(i, i);
  }
  return array;
}

Array read_npy(const std::string& path) {
  const std::string content = read_file(path);
  return parse_npy(std::as_bytes(std::span(content)), file_label(path));
}

void write_npy(const std::string& path, const Tensor& tensor) {
  require(tensor.given() && tensor.device.kind == DeviceKind::cpu,
          file_label(path) + ": write_npy wants a tensor on the host");
  static constexpr std::string_view descrs[] = {"<f8", "<f4", "<f2", "<f4", "<i8", "<i4", "|u1"};
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

Table to_table(const Array& array, const std::string& name) {
  const std::size_t rank = array.shape.size();
  if (rank != 1 && rank != 2) {
    fail<InvalidArgument>(name + ": NPY array has " + std::to_string(rank) +
                          " dimensions; series want 1 or 2 (rows are time)");
  }
  const auto rows = std::size_t(array.shape[0]), width = rank == 2 ? std::size_t(array.shape[1]) : 1;
  require(rows > 0 && width > 0, name + ": NPY array is empty");
  Table table;
  table.file = name;
  table.columns.assign(width, std::vector<double>(rows));
  table.faults.resize(width);
  for (std::size_t c = 0; c < width; ++c) table.names.push_back(std::to_string(c));
  visit<double, float, Half, std::int64_t, std::int32_t, std::uint8_t>(array.dtype, [&]<class T>() {
    for (std::size_t i = 0; i < rows * width; ++i) {
      const std::size_t t = i / width, c = i % width;
      T element;
      std::memcpy(&element, array.data.data() + i * sizeof(T), sizeof(T));
      table.columns[c][t] = double(element);
      const std::string fault = why_unusable(element);
      if (fault.empty()) continue;
      table.columns[c][t] = std::numeric_limits<double>::quiet_NaN();
      if (table.faults[c].size() < Table::max_faults) {
        table.faults[c].push_back(
            {t, name + ":" + std::to_string(t + 1) + ":" + column_label(table, c) + ": " + fault});
      }
    }
  });
  return table;
}

}  // namespace kolmo
