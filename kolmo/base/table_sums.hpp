#pragma once
// Sums over tables of non-negative weights, with the same bits on every device: the sums of rows, those of
// columns, and what these contribute to entropies.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kolmo/base/arena.hpp"
#include "kolmo/base/entropy.hpp"
#include "kolmo/base/quotient.hpp"
#include "kolmo/base/sums.hpp"

namespace kolmo {

/// Stores the sums of a row.
template <int N>
struct StoreSums {
  Sums<N>* to;
  KOLMO_HD void operator()(std::int64_t row, const Sums<N>& s) const { to[row] = s; }
};

/// Column sums of pieces of at most rows_at_a_time rows of tables of shape (bx, by). Row
/// (table * pieces + p) * by + y of the job is column y of piece p of a table. With T = Sums<1> it adds up
/// sums of pieces in the same way.
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
  KOLMO_HD Row operator()(std::int64_t row) const {
    const std::int64_t piece = quotient(row, by), table = quotient(piece, pieces),
                       first = (piece - table * pieces) * rows_at_a_time, left = bx - first;
    return {x + (table * bx + first) * by + (row - piece * by), by,
            int(left < rows_at_a_time ? left : rows_at_a_time)};
  }
};

/// What each row (i < bx) and then each of the `by` columns of a table contributes to its entropies:
/// sum w; sum_x (w_x ln w_x - sum_y w_xy ln w_xy); bins minus rows > 0; sum_y w_y ln w_y; columns > 0.
struct TableMargins {
  const Sums<3>* rows;
  const Sums<1>* columns;
  std::int64_t bx, by;

  struct Row {
    const Sums<3>* rows;
    const Sums<1>* columns;
    std::int64_t bx;
    /// Returns the sums of a row, or the total of a column. A count of -1 marks the latter for of().
    KOLMO_HD Sums<3> fetch(std::int64_t i) const {
      return i < bx ? rows[i] : Sums<3>{{columns[i - bx].value[0], 0, -1}};
    }
    KOLMO_HD Sums<5> of(const Sums<3>& margin) const {
      const auto& [total, log_sum, nonzero] = margin.value;
      const double term = x_log_x(total), above = double(total > 0);
      return nonzero < 0 ? Sums<5>{{0, 0, 0, term, above}}
                         : Sums<5>{{total, exact_add(term, -log_sum), nonzero - above, 0, 0}};
    }
    KOLMO_HD Sums<5> operator()(std::int64_t i) const { return of(fetch(i)); }
  };
  KOLMO_HD Row operator()(std::int64_t table) const { return {rows + table * bx, columns + table * by, bx}; }
};

/// The shape of tables: their number, which the leading dimensions give, and the rows and columns of each.
struct TableShape {
  std::int64_t tables = 1, bx, by;

  TableShape(std::int64_t t, std::int64_t x, std::int64_t y) : tables(t), bx(x), by(y) {}
  TableShape(int rank, const std::int64_t* extent) : bx(extent[rank - 2]), by(extent[rank - 1]) {
    for (int d = 0; d < rank - 2; ++d) tables *= extent[d];
  }
};

/// Scratch memory of sum_tables: sums of all rows and columns, partial sums of long rows, and two lists of sums of pieces.
struct TableScratch {
  Sums<3>*rows, *row_parts;
  Sums<1>*columns, *pieces[2];
  Sums<5>* table_parts;

  TableScratch(Arena& arena, const TableShape& shape)
      : rows(arena.take<Sums<3>>(shape.tables * shape.bx)),
        row_parts(take_partial_sums<3>(arena, shape.tables * shape.bx, shape.by)),
        columns(arena.take<Sums<1>>(shape.tables * shape.by)),
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

/// Sums the columns of x. If they consist of several pieces, the sums of pieces go to scratch.pieces[list]
/// and are summed in the same way.
template <class T, class Run>
void sum_columns(const T* x, const TableShape& shape, const TableScratch& scratch, int list, const Run& run) {
  const auto [tables, bx, by] = shape;
  const std::int64_t pieces = scratch.pieces_of(bx);
  Sums<1>* const to = pieces == 1 ? scratch.columns : scratch.pieces[list];
  sum_rows<1>(ColumnPieces<T>{x, bx, by, pieces}, StoreSums<1>{to}, tables * pieces * by,
              std::min<std::int64_t>(bx, ColumnPieces<T>::rows_at_a_time), nullptr, run);
  if (pieces > 1) sum_columns(to, TableShape{tables, pieces, by}, scratch, 1 - list, run);
}

/// Calls done(table, sums) for every table, with the sums of TableMargins; `run` is that of sum_rows.
template <bool WithColumns, class T, class Done, class Run>
void sum_tables(const T* weight, const TableShape& shape, const Done& done, const TableScratch& scratch,
                const Run& run) {
  const auto [tables, bx, by] = shape;
  sum_rows<3>(WeightRows<T>{weight, by}, StoreSums<3>{scratch.rows}, tables * bx, by, scratch.row_parts, run);
  if constexpr (WithColumns) sum_columns(weight, shape, scratch, 0, run);
  const TableMargins margins{scratch.rows, scratch.columns, bx, WithColumns ? by : 0};
  sum_rows<5>(margins, done, tables, bx + margins.by, scratch.table_parts, run);
}

}  // namespace kolmo
