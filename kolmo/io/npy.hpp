#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kolmo/io/byte_reader.hpp"
#include "kolmo/io/table.hpp"
#include "kolmo/runtime/array.hpp"

namespace kolmo {

/// Reads NPY 1.0, 2.0 and 3.0, of either byte order and either memory order (the result is row-major, in the
/// machine's byte order). Elements keep their dtype: f8 f4 f2 i8 i4 i2 i1 u8 u4 u2 u1 b1 c16 c8. Throws
/// InvalidArgument, "NAME: ...", for any other dtype, more than 6 dimensions, a malformed header, and a file
/// shorter or longer than its header says.
/// Source: NEP 1, "A simple file format for NumPy arrays", and numpy.lib.format.
Array parse_npy(std::span<const std::byte> bytes, const std::string& name);
Array read_npy(const std::string& path);

/// The table of an NPY file (see to_table), of which little more than the table itself is in memory at a time.
Table read_npy_table(ByteReader& file, const std::string& name, const TableOptions& options = {});

/// Whether the bytes start with the magic string of NPY, which is this long.
inline constexpr std::size_t npy_magic_bytes = 6;
bool is_npy(std::span<const std::byte> bytes);

/// Writes NPY 1.0, little-endian and row-major, atomically. The tensor is on the host and may be strided.
/// Any dtype; bf16, which NPY does not have, is written as f4, which is exact.
void write_npy(const std::string& path, const Tensor& tensor);

/// Turns an array into a table: a 1-D array becomes one column, a 2-D array has time along rows, a 3-D array
/// has the axes trials, time and columns: its trials follow one another, and Table::trial numbers them from
/// 0. `options.transpose` swaps time and columns. Infinite values, and integers that a double cannot
/// represent, are faults; numbers of `options.cells.missing` are missing. Messages count rows from 1, as they
/// do lines of text. If there are at least twice as many columns as rows, the table has a remark. Throws
/// InvalidArgument for other ranks, for complex numbers, for an empty array, for more than most_columns
/// columns, and if `names`, the names of the columns, are given in another number.
Table to_table(const Array& array, const std::string& name, const TableOptions& options = {},
               const std::vector<std::string>& names = {});

}  // namespace kolmo
