#pragma once
#include "kolmo/base/pack.hpp"
#include "kolmo/base/quotient.hpp"
#include "kolmo/ops/nn/embedding_lookup/embedding_lookup.hpp"
#include "kolmo/skeleton/each_item.hpp"

namespace kolmo {

/// An item is 16 bytes of a row, or one element if rows do not start at multiples of 16 bytes.
template <class T>
struct LookupItem {
  static constexpr int width = pack_width<T>;
  Status status;
  const T* table;
  T* y;
  const void* index;
  std::int64_t rows, words, columns;
  bool wide, packed;

  explicit LookupItem(const EmbeddingLookupArgs& a)
      : table(a.table.as<T>()),
        y(a.y.as<T>()),
        index(a.index.data),
        rows(a.index.size()),
        words(a.table.dim(0)),
        columns(a.table.dim(1)),
        wide(a.index.dtype == DType::i64),
        packed(columns % width == 0 && packed_rows<T>(1, 0, table, y)) {}
  std::int64_t items() const { return rows * columns / (packed ? width : 1); }
  /// The table's row for a row of y; null if its index is not one.
  KOLMO_HD const T* entry(std::int64_t row) const {
    const std::int64_t word =
        wide ? static_cast<const std::int64_t*>(index)[row] : static_cast<const std::int32_t*>(index)[row];
    return word >= 0 && word < words ? table + word * columns : nullptr;
  }
  KOLMO_HD void operator()(std::int64_t i) const { packed ? copy<width>(i) : copy<1>(i); }

 private:
  template <int W>
  KOLMO_HD void copy(std::int64_t i) const {
    const std::int64_t row = quotient(i * W, columns), at = i * W - row * columns;
    Pack<T, W> values{};
    if (const T* const from = entry(row))
      values = load_pack<W>(from + at);
    else if (at == 0)
      status.report(0, row);
    store_pack(y + row * columns + at, values);
  }
};
using LookupItems =
    Items<EmbeddingLookupArgs, LookupItem, &EmbeddingLookupArgs::table, double, float, Half, BFloat16>;

}  // namespace kolmo
