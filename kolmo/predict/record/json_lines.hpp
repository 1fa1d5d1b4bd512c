#pragma once
#include <string>

#include "kolmo/io/cell.hpp"
#include "kolmo/io/table.hpp"

namespace kolmo::predict {

/// Whether a file holds JSON objects: its first character that is no blank is "{".
bool is_json_lines(const std::string& path);

/// Reads a file with a JSON object on each line as a table with a column for each name whose values are numbers; NaN where a line has
/// no value or null. NaN and infinities, as Python writes them or as strings, are read as +infinity. Throws InvalidArgument, "FILE:LINE:
/// ...", for a line that is no object; a value that is no number is a fault of its column. A last line that has no line end and is no
/// object is being written: it is left out, with a remark.
Table read_json_lines(const std::string& path, CellFormat format = {});

/// The remark on a line of a log that is being written.
Remark cut_line(const std::string& label);

}  // namespace kolmo::predict
