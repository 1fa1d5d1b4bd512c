#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "kolmo/base/error.hpp"
#include "kolmo/io/text_reader.hpp"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void check_message(const std::string& what) {
  check(what.starts_with("f.csv:") && what.find('\n') == std::string::npos);
}

}  // namespace

// Any bytes give either a table of finite numbers and NaN, or one line that starts with the file's name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  const kolmo::Table table = kolmo::parse_text({reinterpret_cast<const char*>(data), size}, "f.csv");
  check(table.rows() > 0 && table.names.size() == table.columns.size() &&
        table.faults.size() == table.columns.size());
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    check(table.columns[c].size() == table.rows());
    for (const double value : table.columns[c]) check(!std::isinf(value));
    for (const kolmo::Fault& fault : table.faults[c]) {
      check_message(fault.what);
      check(fault.row < table.rows() && std::isnan(table.columns[c][fault.row]));
    }
  }
  kolmo::select_columns(kolmo::select_rows(table, ":1"), table.names[0]);
  return 0;
} catch (const kolmo::InvalidArgument& error) {
  check_message(error.what());
  return 0;
}
