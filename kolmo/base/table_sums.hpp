#pragma once
// Sums over tables of non-negative weights, with the same bits on every device: of rows, of columns, and of what these add to
// entropies.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kolmo/base/arena.hpp"
#include "kolmo/base/entropy.hpp"
#include "kolmo/base/quotient.hpp"
#include "kolmo/base/sums.hpp"

namespace kolmo {

/// Column sums of pieces of at most rows_at_a_time rows of tables of shape (bx, by). Row (table * pieces + p) * by + y of the
/// job is column y of a table's piece p. T may be Sums<1>, for the pieces of pieces.
template <class T>
struct ColumnPieces {
  static constexpr int rows_at_a_time = 32;
  const T* x;
  std::int64_t bx, by, pieces;

  struct Row {
    const T* x;
    std::int64_t step;
    int count;
    KOLMO_HD Sums<1> of(const T& w) const {
      if constexpr (std::is_same_v<T, Sums<1>>)
        return w;
      else
        return {{double(w)}};
    }
    KOLMO_HD Sums<1> operator()(std::int64_t i) const { return i < count ? of(x[i * step]) : Sums<1>{}; }
  };
  KOLMO_HD Row of(std::int64_t table, std::int64_t piece, std::int64_t column) const {
    const std::int64_t first = piece * rows_at_a_time, left = bx - first;
    return {x + (table * bx + first) * by + column, by, int(left < rows_at_a_time ? left : rows_at_a_time)};
  }
  KOLMO_HD Row operator()(std::int64_t row) const {
    const std::int64_t piece = quotient(row, by), table = quotient(piece, pieces);
    return of(table, piece - table * pieces, row - piece * by);
  }
};

/// What a row contributes to the entropies of its table, by its sums: sum w; w_x ln w_x - sum_y w_xy ln w_xy; bins less 1 if w_x > 0.
KOLMO_HD inline Sums<3> margin_of_row(const Sums<3>& sums) {
  const auto& [total, log_sum, bins] = sums.value;
  return {{total, exact_add(x_log_x(total), -log_sum), bins - double(total > 0)}};
}
/// What a column does: w_y ln w_y; 1 if w_y > 0.
KOLMO_HD inline Sums<2> margin_of_column(double total) { return {{x_log_x(total), double(total > 0)}}; }

/// Stores the margins of rows.
struct StoreRows {
  Sums<3>* to;
  KOLMO_HD void operator()(std::int64_t row, const Sums<3>& s) const { to[row] = margin_of_row(s); }
};
/// Stores the margins of columns or, where columns are of several pieces, their sums.
struct StoreColumns {
  Sums<2>* margins;
  Sums<1>* pieces;  ///< or null
  KOLMO_HD void operator()(std::int64_t column, const Sums<1>& s) const {
    if (pieces)
      pieces[column] = s;
    else
      margins[column] = margin_of_column(s.value[0]);
  }
};

/// The margins of each row (i < bx) and then of each of the `by` columns of a table, those of columns in value[3] and value[4].
struct TableMargins {
  const Sums<3>* rows;
  const Sums<2>* columns;
  std::int64_t bx, by;

  struct Row {
    const Sums<3>* rows;
    const Sums<2>* columns;
    std::int64_t bx;
    /// The margin of a row; of a column its two numbers, and one below 0.
    KOLMO_HD Sums<3> fetch(std::int64_t i) const {
      return i < bx ? rows[i] : Sums<3>{{columns[i - bx].value[0], columns[i - bx].value[1], -1}};
    }
    KOLMO_HD Sums<5> of(const Sums<3>& margin) const {
      const auto& [first, second, third] = margin.value;
      return third < 0 ? Sums<5>{{0, 0, 0, first, second}} : Sums<5>{{first, second, third, 0, 0}};
    }
    KOLMO_HD Sums<5> operator()(std::int64_t i) const { return of(fetch(i)); }
  };
  KOLMO_HD Row operator()(std::int64_t table) const { return {rows + table * bx, columns + table * by, bx}; }
};

/// Leading dimensions flattened to a number of tables, and the rows and columns of each.
struct TableShape {
  std::int64_t tables = 1, bx, by;

  TableShape(std::int64_t t, std::int64_t x, std::int64_t y) : tables(t), bx(x), by(y) {}
  TableShape(int rank, const std::int64_t* extent) : bx(extent[rank - 2]), by(extent[rank - 1]) {
    for (int d = 0; d < rank - 2; ++d) tables *= extent[d];
  }
};

/// Scratch memory of sum_tables: margins of all rows and columns, partial sums of long rows, and two lists of sums of pieces.
struct TableScratch {
  Sums<3>*rows, *row_parts;
  Sums<2>* columns;
  Sums<1>* pieces[2];
  Sums<5>* table_parts;

  TableScratch(Arena& arena, const TableShape& shape)
      : rows(arena.take<Sums<3>>(shape.tables * shape.bx)),
        row_parts(take_partial_sums<3>(arena, shape.tables * shape.bx, shape.by)),
        columns(arena.take<Sums<2>>(shape.tables * shape.by)),
        table_parts(take_partial_sums<5>(arena, shape.tables, shape.bx + shape.by)) {
    std::int64_t rows_left = shape.bx;
    for (auto& list : pieces) {
      rows_left = pieces_of(rows_left);
      list = arena.take<Sums<1>>(rows_left > 1 ? shape.tables * rows_left * shape.by : 0);
    }
  }
  static std::int64_t pieces_of(std::int64_t rows) {
    constexpr int each = ColumnPieces<double>::rows_at_a_time;
    return rows <= each ? 1 : (rows + each - 1) / each;
  }
};

/// Where the sums of columns go that are of as many pieces: of several to the list named, to be summed likewise.
inline StoreColumns store_columns(const TableScratch& scratch, std::int64_t pieces, int list) {
  return {scratch.columns, pieces > 1 ? scratch.pieces[list] : nullptr};
}
/// The margins of the columns of x of the shape.
template <class T, class Run>
void sum_columns(const T* x, const TableShape& shape, const TableScratch& scratch, int list, const Run& run) {
  const auto [tables, bx, by] = shape;
  const std::int64_t pieces = scratch.pieces_of(bx);
  const std::int64_t terms = std::min<std::int64_t>(bx, ColumnPieces<T>::rows_at_a_time);
  const ChunkSums<1, ColumnPieces<T>, StoreColumns> of_one_chunk{
      {x, bx, by, pieces}, store_columns(scratch, pieces, list), terms, 1, nullptr};
  run(of_one_chunk, tables * pieces * by, terms);
  if (pieces > 1) sum_columns(scratch.pieces[list], TableShape{tables, pieces, by}, scratch, 1 - list, run);
}

/// The margins of all rows and, WithColumns, of all columns to `scratch`.
template <bool WithColumns, class T, class Run>
void sum_margins(const T* weight, const TableShape& shape, const TableScratch& scratch, const Run& run) {
  const auto [tables, bx, by] = shape;
  sum_rows<3>(WeightRows<T>{weight, by}, StoreRows{scratch.rows}, tables * bx, by, scratch.row_parts, run);
  if constexpr (WithColumns) sum_columns(weight, shape, scratch, 0, run);
}

/// Calls done(table, sums of TableMargins) for every table; `run` is that of sum_rows, and may have a way of its own for
/// sum_margins.
template <bool WithColumns, class T, class Done, class Run>
void sum_tables(const T* weight, const TableShape& shape, const Done& done, const TableScratch& scratch,
                const Run& run) {
  if constexpr (requires { run.template sum_margins<WithColumns>(weight, shape, scratch); })
    run.template sum_margins<WithColumns>(weight, shape, scratch);
  else
    sum_margins<WithColumns>(weight, shape, scratch, run);
  const TableMargins margins{scratch.rows, scratch.columns, shape.bx, WithColumns ? shape.by : 0};
  sum_rows<5>(margins, done, shape.tables, shape.bx + margins.by, scratch.table_parts, run);
}

}  // namespace kolmo
