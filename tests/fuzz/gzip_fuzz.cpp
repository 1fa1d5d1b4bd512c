#include <cstdint>
#include <cstdlib>

#include "kolmo/base/error.hpp"
#include "kolmo/io/gzip.hpp"
#include "kolmo/io/text_reader.hpp"

// Any input must give either a table or a one-line error that starts with the file's name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  kolmo::ByteReader bytes =
      kolmo::gunzip(kolmo::bytes_of({reinterpret_cast<const char*>(data), size}), "f.gz");
  if (kolmo::read_text(bytes, "f.gz").rows() == 0) std::abort();
  return 0;
} catch (const kolmo::InvalidArgument& error) {
  const std::string what = error.what();
  if (!what.starts_with("f.gz:") || what.find('\n') != std::string::npos) std::abort();
  return 0;
}
