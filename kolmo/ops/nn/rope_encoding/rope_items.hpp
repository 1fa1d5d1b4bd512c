#pragma once
#include <cmath>

#include "kolmo/base/arena.hpp"
#include "kolmo/base/convert.hpp"
#include "kolmo/base/pack.hpp"
#include "kolmo/base/quotient.hpp"
#include "kolmo/ops/nn/rope_encoding/rope_encoding.hpp"

namespace kolmo {

/// The angle of each pair at each place.
struct RopeAngles {
  const std::int64_t* position;
  std::int64_t places, pairs, offset;
  /// Logarithm of the ratio of the wavelengths of neighbouring pairs.
  double log2_step;

  explicit RopeAngles(const RopeEncodingArgs& a)
      : position(a.position.as<std::int64_t>()),
        places(a.x.dim(-2)),
        pairs(a.x.dim(-1) / 2),
        offset(a.offset),
        log2_step(std::log2(a.theta) / double(pairs)) {}
  KOLMO_HD double operator()(std::int64_t place, std::int64_t pair) const {
    const double at = double(position ? position[place] : place) + double(offset);
    return at * std::exp2(-double(pair) * log2_step);
  }
};

/// Cosine and sine of the angle of each pair at each place.
template <class C>
struct RopeTables : RopeAngles {
  C *cosine, *sine;

  RopeTables(Arena& arena, const RopeEncodingArgs& a) : RopeAngles(a) {
    cosine = arena.take<C>(items()), sine = arena.take<C>(items());
  }
  std::int64_t items() const { return places * pairs; }
  void operator()(std::int64_t i) const {
    const std::int64_t place = quotient(i, pairs);
    const double angle = RopeAngles::operator()(place, i - place * pairs);
    cosine[i] = C(std::cos(angle)), sine[i] = C(std::sin(angle));
  }
};

/// Rotates W neighbouring pairs of a row. With interleaved pairs they are one pack of elements; with Halves
/// two packs, one from each half of the row. If they are not Packed, their address is only a multiple of an
/// element.
template <class T, int W, bool Halves, bool Packed>
struct RopePack {
  using C = Compute<T>;
  static constexpr int parts = Halves ? 2 : 1, size = 2 * W / parts;
  Pack<T, size> part[parts];

  /// The place of the first element in an array of rows. A second part is `pairs` elements behind it.
  KOLMO_HD static std::int64_t first(std::int64_t row, std::int64_t pair, std::int64_t pairs) {
    return 2 * row * pairs + (Halves ? pair : 2 * pair);
  }
  KOLMO_HD void load(const T* x, std::int64_t pairs) {
    for (int i = 0; i < parts; ++i, x += pairs)
      if constexpr (Packed || size == 1)
        part[i] = load_pack<size>(x);
      else
        for (int w = 0; w < size; ++w) part[i].value[w] = x[w];
  }
  KOLMO_HD void store(T* y, std::int64_t pairs) const {
    for (int i = 0; i < parts; ++i, y += pairs)
      if constexpr (Packed || size == 1)
        store_pack(y, part[i]);
      else
        for (int w = 0; w < size; ++w) y[w] = part[i].value[w];
  }
  KOLMO_HD void turn(const Pack<C, W>& cosine, const Pack<C, W>& sine) {
    Pack<C, size> wide[parts];
    for (int i = 0; i < parts; ++i) wide[i] = widened(part[i]);
    for (int w = 0; w < W; ++w) {
      C &a = wide[0].value[Halves ? w : 2 * w], &b = wide[parts - 1].value[Halves ? w : 2 * w + 1];
      const C from_a = a, from_b = b;
      a = from_a * cosine.value[w] - from_b * sine.value[w];
      b = from_a * sine.value[w] + from_b * cosine.value[w];
    }
    for (int i = 0; i < parts; ++i) part[i] = narrowed<T>(wide[i]);
  }
};

/// Calls f.operator()<W, Halves, Packed>() with the kind of packs that serves a call.
template <class T, class F>
void with_rope_packs(const RopeEncodingArgs& a, F&& f) {
  constexpr int width = pack_width<T>;
  const bool packed = a.x.dim(-1) / 2 % width == 0 && packed_rows<T>(1, 0, a.x.as<T>(), a.y.as<T>());
  if (a.pairs == RopePairs::halves)
    packed ? f.template operator()<width, true, true>() : f.template operator()<1, true, false>();
  else
    packed ? f.template operator()<width / 2, false, true>() : f.template operator()<1, false, false>();
}

/// An item rotates a pack of pairs.
template <class T, int W, bool Halves, bool Packed>
struct RotateItem {
  using C = Compute<T>;
  using Rope = RopePack<T, W, Halves, Packed>;
  const T* x;
  T* y;
  RopeTables<C> table;
  std::int64_t rows;

  RotateItem(const RopeEncodingArgs& a, const RopeTables<C>& t)
      : x(a.x.as<T>()), y(a.y.as<T>()), table(t), rows(t.pairs ? a.x.size() / (2 * t.pairs) : 0) {}
  std::int64_t items() const { return rows * table.pairs / W; }
  void operator()(std::int64_t i) const {
    const std::int64_t row = quotient(i * W, table.pairs), pair = i * W - row * table.pairs,
                       in_table = (row - quotient(row, table.places) * table.places) * table.pairs + pair,
                       at = Rope::first(row, pair, table.pairs);
    Rope rope;
    rope.load(x + at, table.pairs);
    rope.turn(load_pack<W>(table.cosine + in_table), load_pack<W>(table.sine + in_table));
    rope.store(y + at, table.pairs);
  }
};

}  // namespace kolmo
