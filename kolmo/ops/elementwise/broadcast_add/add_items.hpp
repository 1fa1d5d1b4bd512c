#pragma once
#include "kolmo/base/convert.hpp"
#include "kolmo/base/pack.hpp"
#include "kolmo/base/quotient.hpp"
#include "kolmo/ops/elementwise/broadcast_add/broadcast_add.hpp"
#include "kolmo/skeleton/each_item.hpp"

namespace kolmo {

/// An item consists of 16 bytes of a row, or of one element if rows do not start at multiples of 16 bytes.
template <class T>
struct AddItem {
  static constexpr int width = pack_width<T>;
  const T *x, *bias;
  T* y;
  std::int64_t n, columns;
  bool packed;

  explicit AddItem(const BroadcastAddArgs& a)
      : x(a.x.as<T>()),
        bias(a.bias.as<T>()),
        y(a.y.as<T>()),
        n(a.y.size()),
        columns(a.bias.size()),
        packed(columns % width == 0 && packed_rows<T>(1, 0, x, bias, y)) {}
  std::int64_t items() const { return packed ? n / width : n; }
  KOLMO_HD void operator()(std::int64_t i) const {
    if (packed)
      add<width>(i, columns / width);
    else
      add<1>(i, columns);
  }

 private:
  template <int W>
  KOLMO_HD void add(std::int64_t i, std::int64_t row) const {
    Pack<Compute<T>, W> sum = widened(load_pack<W>(x + i * W));
    const Pack<Compute<T>, W> summand = widened(load_pack<W>(bias + (i - quotient(i, row) * row) * W));
    for (int w = 0; w < W; ++w) sum.value[w] += summand.value[w];
    store_pack(y + i * W, narrowed<T>(sum));
  }
};
using AddItems = Items<BroadcastAddArgs, AddItem, &BroadcastAddArgs::x, double, float, Half, BFloat16>;

}  // namespace kolmo
