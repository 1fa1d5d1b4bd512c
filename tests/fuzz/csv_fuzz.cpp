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

bool equal(const kolmo::Table& a, const kolmo::Table& b) {
  if (a.names != b.names || a.columns.size() != b.columns.size()) return false;
  for (std::size_t c = 0; c < a.columns.size(); ++c)
    for (std::size_t t = 0; t < a.rows(); ++t)
      if (a.columns[c][t] != b.columns[c][t] && !(std::isnan(a.columns[c][t]) && std::isnan(b.columns[c][t])))
        return false;
  return true;
}

/// Reads the same text in pieces of three bytes, so that anything may be cut.
kolmo::Table read_in_pieces(std::string_view text, const kolmo::TableOptions& options) {
  kolmo::ByteReader bytes([text](char* to, std::size_t n) mutable {
    n = std::min({n, text.size(), std::size_t(3)});
    std::copy_n(text.data(), n, to);
    text.remove_prefix(n);
    return n;
  });
  return kolmo::read_text(bytes, "f.csv", options);
}

// Any input must give either a table of finite numbers and NaN, or a one-line error that starts with the
// file's name.
void read(std::string_view text, const kolmo::TableOptions& options) try {
  const kolmo::Table table = kolmo::parse_text(text, "f.csv", options);
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
  check(equal(table, read_in_pieces(text, options)));
  kolmo::select_columns(kolmo::select_rows(table, ":1"), table.names[0]);
} catch (const kolmo::InvalidArgument& error) {
  check_message(error.what());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const kolmo::Header header : {kolmo::Header::automatic, kolmo::Header::yes, kolmo::Header::no})
    read(text, {.header = header});
  read(text, {.cells = {.decimal = ',', .missing = {"-999", "1,5", "x"}}});
  read(text, {.transpose = true});
  return 0;
}
