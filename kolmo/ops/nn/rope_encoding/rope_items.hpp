#pragma once
#include <cmath>

#include "kolmo/base/arena.hpp"
#include "kolmo/base/pack.hpp"
#include "kolmo/base/quotient.hpp"
#include "kolmo/ops/nn/rope_encoding/rope_encoding.hpp"

namespace kolmo {

/// Cosine and sine of the angle of each pair at each place.
template <class C>
struct RopeTables {
  C *cosine, *sine;
  const std::int64_t* position;
  std::int64_t places, pairs, offset;
  double log2_theta;

  RopeTables(Arena& arena, const RopeEncodingArgs& a)
      : position(a.position.as<std::int64_t>()),
        places(a.x.dim(-2)),
        pairs(a.x.dim(-1) / 2),
        offset(a.offset),
        log2_theta(std::log2(a.theta)) {
    cosine = arena.take<C>(items()), sine = arena.take<C>(items());
  }
  KOLMO_HD std::int64_t items() const { return places * pairs; }
  KOLMO_HD void operator()(std::int64_t i) const {
    const std::int64_t place = quotient(i, pairs), pair = i - place * pairs;
    const double at = double((position ? position[place] : place) + offset);
    const double angle = at * std::exp2(-(double(pair) / double(pairs)) * log2_theta);
    cosine[i] = C(std::cos(angle)), sine[i] = C(std::sin(angle));
  }
};

/// An item is as many pairs of a row as elements fill 16 bytes, or one pair.
template <class T>
struct RotateItem {
  using C = Compute<T>;
  static constexpr int width = pack_width<T>;
  const T* x;
  T* y;
  RopeTables<C> table;
  std::int64_t rows;
  bool halves, packed;

  RotateItem(const RopeEncodingArgs& a, const RopeTables<C>& t)
      : x(a.x.as<T>()),
        y(a.y.as<T>()),
        table(t),
        rows(t.pairs ? a.x.size() / (2 * t.pairs) : 0),
        halves(a.pairs == RopePairs::halves),
        packed(t.pairs % width == 0 && packed_rows<T>(1, 0, x, y)) {}
  std::int64_t items() const { return rows * table.pairs / (packed ? width : 1); }
  KOLMO_HD void operator()(std::int64_t i) const { packed ? rotate<width>(i) : rotate<1>(i); }

 private:
  template <int W>
  KOLMO_HD void rotate(std::int64_t i) const {
    const std::int64_t row = quotient(i * W, table.pairs), pair = i * W - row * table.pairs;
    const std::int64_t in_table = (row - quotient(row, table.places) * table.places) * table.pairs + pair;
    const Pack<C, W> cosine = load_pack<W>(table.cosine + in_table),
                     sine = load_pack<W>(table.sine + in_table);
    const std::int64_t first = row * 2 * table.pairs + (halves ? pair : 2 * pair);
    const std::int64_t second = first + (halves ? table.pairs : W);
    Pack<T, W> low = load_pack<W>(x + first), high = load_pack<W>(x + second);
    for (int w = 0; w < W; ++w)
      if (halves) {
        turn(low.value[w], high.value[w], cosine.value[w], sine.value[w]);
      } else {
        T& a = 2 * w < W ? low.value[2 * w] : high.value[2 * w - W];
        T& b = 2 * w + 1 < W ? low.value[2 * w + 1] : high.value[2 * w + 1 - W];
        turn(a, b, cosine.value[w], sine.value[w]);
      }
    store_pack(y + first, low), store_pack(y + second, high);
  }
  KOLMO_HD static void turn(T& a, T& b, C cosine, C sine) {
    const C from_a = C(a), from_b = C(b);
    a = T(from_a * cosine - from_b * sine), b = T(from_a * sine + from_b * cosine);
  }
};

}  // namespace kolmo
