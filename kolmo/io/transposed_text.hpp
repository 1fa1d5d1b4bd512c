#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "kolmo/io/table.hpp"
#include "kolmo/io/text_rows.hpp"

namespace kolmo {

/// Whether cells are a header: each is text that does not look like a number, or missing, but not all are
/// missing.
bool is_header(const std::vector<std::string_view>& cells, const CellFormat& format);
std::vector<std::string_view> texts_of(const std::vector<RowSplitter::Field>& row);

/// Reads a text table whose rows are series; see parse_text.
Table read_transposed(TextRows& text, const std::string& name, const TableOptions& options);

}  // namespace kolmo
