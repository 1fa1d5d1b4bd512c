#pragma once
#include <cmath>

#include "kolmo/base/arena.hpp"
#include "kolmo/base/convert.hpp"
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
    const double at = double(position ? position[place] : place) + double(offset);
    const double angle = at * std::exp2(-(double(pair) / double(pairs)) * log2_theta);
    cosine[i] = C(std::cos(angle)), sine[i] = C(std::sin(angle));
  }
};

/// An item is a pack of 16 bytes of neighbouring pairs, or two packs of halves; or one pair.
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
  std::int64_t items() const { return rows * table.pairs / (!packed ? 1 : halves ? width : width / 2); }
  KOLMO_HD void operator()(std::int64_t i) const {
    if (halves)
      packed ? rotate_halves<width>(i) : rotate_halves<1>(i);
    else
      packed ? rotate_neighbours<width / 2>(i) : rotate_neighbours<1>(i);
  }

 private:
  struct Place {
    std::int64_t row, pair, in_table;
  };
  KOLMO_HD Place place(std::int64_t i) const {
    const std::int64_t row = quotient(i, table.pairs), pair = i - row * table.pairs;
    return {row, pair, (row - quotient(row, table.places) * table.places) * table.pairs + pair};
  }
  template <int W>
  KOLMO_HD void rotate_halves(std::int64_t i) const {
    const Place at = place(i * W);
    const Pack<C, W> cosine = load_pack<W>(table.cosine + at.in_table),
                     sine = load_pack<W>(table.sine + at.in_table);
    const std::int64_t first = at.row * 2 * table.pairs + at.pair, second = first + table.pairs;
    Pack<C, W> low = widened(load_pack<W>(x + first)), high = widened(load_pack<W>(x + second));
    for (int w = 0; w < W; ++w) turn(low.value[w], high.value[w], cosine.value[w], sine.value[w]);
    store_pack(y + first, narrowed<T>(low)), store_pack(y + second, narrowed<T>(high));
  }
  template <int W>
  KOLMO_HD void rotate_neighbours(std::int64_t i) const {
    const Place at = place(i * W);
    const Pack<C, W> cosine = load_pack<W>(table.cosine + at.in_table),
                     sine = load_pack<W>(table.sine + at.in_table);
    const std::int64_t first = 2 * (at.row * table.pairs + at.pair);
    Pack<T, 2 * W> raw;
    if (packed) {
      raw = load_pack<2 * W>(x + first);
    } else {
      for (int w = 0; w < 2 * W; ++w) raw.value[w] = x[first + w];
    }
    Pack<C, 2 * W> pairs = widened(raw);
    for (int w = 0; w < W; ++w)
      turn(pairs.value[2 * w], pairs.value[2 * w + 1], cosine.value[w], sine.value[w]);
    raw = narrowed<T>(pairs);
    if (packed) return store_pack(y + first, raw);
    for (int w = 0; w < 2 * W; ++w) y[first + w] = raw.value[w];
  }
  KOLMO_HD static void turn(C& a, C& b, C cosine, C sine) {
    const C from_a = a, from_b = b;
    a = from_a * cosine - from_b * sine, b = from_a * sine + from_b * cosine;
  }
};

}  // namespace kolmo
