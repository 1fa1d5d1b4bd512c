#pragma once
#include "kolmo/base/pack.hpp"
#include "kolmo/base/quotient.hpp"
#include "kolmo/ops/nn/embedding_lookup/embedding_lookup.hpp"
#include "kolmo/skeleton/each_item.hpp"

namespace kolmo {

/// An item copies a pack of 16 bytes from each quarter of a row. If rows cannot be quartered, it copies one
/// pack; if rows do not start at multiples of 16 bytes, one element.
template <class T>
struct LookupItem {
  static constexpr int width = pack_width<T>;
  Status status;
  const T* table;
  T* y;
  const void* index;
  std::int64_t rows, words, columns;
  bool wide, packed, quarters;

  explicit LookupItem(const EmbeddingLookupArgs& a)
      : table(a.table.as<T>()),
        y(a.y.as<T>()),
        index(a.index.data),
        rows(a.index.size()),
        words(a.table.dim(0)),
        columns(a.table.dim(1)),
        wide(a.index.dtype == DType::i64),
        packed(columns % width == 0 && packed_rows<T>(1, 0, table, y)),
        quarters(packed && columns % (4 * width) == 0) {}
  std::int64_t items() const { return rows * columns / (quarters ? 4 * width : packed ? width : 1); }
  /// The row of the table for a row of y; null if the index is out of range.
  KOLMO_HD const T* entry(std::int64_t row) const {
    const std::int64_t word =
        wide ? static_cast<const std::int64_t*>(index)[row] : static_cast<const std::int32_t*>(index)[row];
    return word >= 0 && word < words ? table + word * columns : nullptr;
  }
  KOLMO_HD void operator()(std::int64_t i) const {
    if (quarters)
      copy<width, 4>(i);
    else if (packed)
      copy<width, 1>(i);
    else
      copy<1, 1>(i);
  }

 private:
  template <int W, int Parts>
  KOLMO_HD void copy(std::int64_t i) const {
    const std::int64_t part = columns / Parts, row = quotient(i * W, part), at = i * W - row * part;
    Pack<T, W> values[Parts] = {};
    if (const T* const from = entry(row)) {
      for (int p = 0; p < Parts; ++p) values[p] = load_pack<W>(from + p * part + at);
    } else if (at == 0) {
      status.report(0, row);
    }
    for (int p = 0; p < Parts; ++p) store_pack(y + row * columns + p * part + at, values[p]);
  }
};
using LookupItems =
    Items<EmbeddingLookupArgs, LookupItem, &EmbeddingLookupArgs::table, double, float, Half, BFloat16>;

}  // namespace kolmo
