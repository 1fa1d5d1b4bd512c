#include "kolmo/io/npy.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>

#include "kolmo/base/error.hpp"
#include "kolmo/io/atomic_file.hpp"
#include "kolmo/io/byte_reader.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/io/npy_elements.hpp"
#include "kolmo/io/npy_header.hpp"
#include "kolmo/io/npy_table.hpp"

namespace kolmo {
namespace {

/// The bytes that `source` gives; all of them at once if it does not know how many there will be.
class Known {
 public:
  Known(ByteReader& source, const std::string& name)
      : content_(source.expected() ? "" : source.rest(name)),
        held_(bytes_of(content_)),
        bytes_(source.expected() ? source : held_) {}
  ByteReader& bytes() { return bytes_; }

 private:
  std::string content_;
  ByteReader held_;
  ByteReader& bytes_;
};

constexpr std::size_t piece = 1 << 16;  // elements read at once

Array array_of(ByteReader& bytes, const std::string& name) {
  NpyElements elements(bytes, name);
  const NpyHeader& header = elements.header();
  Array array;
  try {
    array = Array(elements.dtype(), header.shape);
  } catch (const std::bad_alloc&) {
    fail<OutOfMemory>(name + ": " + std::to_string(elements.count() * size_of(elements.dtype())) +
                      " bytes cannot be had");
  }
  std::byte* const to = array.bytes().data();
  if (!header.fortran_order || header.shape.size() < 2) {
    elements.read(to, elements.count());
    return array;
  }
  const std::size_t width = size_of(elements.dtype()), rank = header.shape.size();
  std::vector<std::byte> some(piece * width);
  FileOrder at(header.shape, true);
  for (std::size_t done = 0; done < elements.count(); done += piece) {
    const std::size_t n = std::min(piece, elements.count() - done);
    elements.read(some.data(), n);
    for (std::size_t i = 0; i < n; ++i, at.next()) {
      std::int64_t offset = 0;
      for (std::size_t d = 0; d < rank; ++d) offset += std::int64_t(at[d]) * array.tensor.stride[d];
      std::memcpy(to + std::size_t(offset) * width, some.data() + i * width, width);
    }
  }
  return array;
}

}  // namespace

Array parse_npy(std::span<const std::byte> bytes, const std::string& name) {
  ByteReader reader = bytes_of({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return array_of(reader, name);
}

Array read_npy(const std::string& path) {
  ByteReader file = open_bytes(path);
  const std::string name = file_label(path);
  Known known(file, name);
  return array_of(known.bytes(), name);
}

Table read_npy_table(ByteReader& file, const std::string& name, const TableOptions& options) {
  Known known(file, name);
  NpyElements elements(known.bytes(), name);
  const NpyHeader& header = elements.header();
  TableFill fill(elements.dtype(), header.shape, header.fortran_order, name, options);
  std::vector<std::byte> some(piece * size_of(elements.dtype()));
  for (std::size_t done = 0; done < elements.count(); done += piece) {
    const std::size_t n = std::min(piece, elements.count() - done);
    elements.read(some.data(), n);
    fill.add(some.data(), n);
  }
  return std::move(fill).finish();
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
