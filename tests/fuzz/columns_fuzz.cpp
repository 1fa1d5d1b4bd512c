#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "kolmo/base/error.hpp"
#include "kolmo/io/text_reader.hpp"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

const kolmo::Table& table() {
  static const kolmo::Table t =
      kolmo::parse_text("x,0-1,\"a,b\",3,x\n1,2,3,4,5\n", "f.csv", {.header = kolmo::Header::yes});
  return t;
}

}  // namespace

// Any list of columns, and of columns left out after a line end, must give different columns that exist, or a
// one-line error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = text.find('\n');
  const std::string excluded = end == std::string::npos ? "" : text.substr(end + 1);
  std::vector<std::size_t> chosen = kolmo::select_columns(table(), text.substr(0, end), excluded);
  check(!chosen.empty());
  std::sort(chosen.begin(), chosen.end());
  check(std::adjacent_find(chosen.begin(), chosen.end()) == chosen.end() &&
        chosen.back() < table().columns.size());
  return 0;
} catch (const kolmo::InvalidArgument& error) {
  const std::string what = error.what();
  check(what.starts_with("f.csv: ") && what.find('\n') == std::string::npos);
  return 0;
}
