#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "kolmo/base/error.hpp"
#include "kolmo/io/npy.hpp"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

// Any input must give either an array of the size of its shape, or a one-line error that starts with the
// file's name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  kolmo::Array array = kolmo::parse_npy(std::as_bytes(std::span(data, size)), "f.npy");
  check(array.tensor.bytes() == array.bytes().size());
  const kolmo::Table table = kolmo::to_table(array, "f.npy");
  const auto& extent = array.tensor.extent;
  check(table.rows() == std::size_t(array.tensor.rank == 3 ? extent[0] * extent[1] : extent[0]));
  for (const auto& column : table.columns) {
    for (const double value : column) check(!std::isinf(value));
  }
  return 0;
} catch (const kolmo::InvalidArgument& error) {
  const std::string what = error.what();
  check(what.starts_with("f.npy: ") && what.find('\n') == std::string::npos);
  return 0;
}
