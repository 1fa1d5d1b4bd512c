#include <algorithm>

#include "kolmo/device/unit_vectors.cuh"
#include "kolmo/ops/nn/rope_encoding/rope_items.hpp"
#include "kolmo/skeleton/steps.cuh"

namespace kolmo {
namespace {
using A = RopeEncodingArgs;

/// An item rotates a pack of pairs at one place, in several heads (or other leading indices), which share its
/// angles.
template <class T, int W, bool Halves, bool Packed>
struct RotateHeads {
  using C = Compute<T>;
  using Rope = RopePack<T, W, Halves, Packed>;
  static constexpr int most = 16, together = Halves ? 2 : 4;  // heads of an item, and heads read at once
  const T* x;
  T* y;
  RopeAngles angles;
  std::int64_t heads;

  explicit RotateHeads(const A& a)
      : x(a.x.as<T>()),
        y(a.y.as<T>()),
        angles(a),
        heads(a.x.size() ? a.x.size() / (angles.places * 2 * angles.pairs) : 0) {}
  std::int64_t items() const { return (heads + most - 1) / most * angles.places * (angles.pairs / W); }
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t line = quotient(i, angles.pairs / W), pair = (i - line * (angles.pairs / W)) * W,
                       group = quotient(line, angles.places), place = line - group * angles.places,
                       step = angles.places * 2 * angles.pairs;
    std::int64_t at = Rope::first(group * most * angles.places + place, pair, angles.pairs);
    int left = int(std::min<std::int64_t>(most, heads - group * most));
    Rope rope[together];
    const auto load = [&] {
#pragma unroll
      for (int h = 0; h < together; ++h)
        if (h < left) rope[h].load(x + at + h * step, angles.pairs);
    };
    load();
    constexpr int part = W < 4 ? W : 4;  // angles that are computed at a time
    Pack<C, W> cosine, sine;
#pragma unroll
    for (int first = 0; first < W; first += part) {
      double angle[part];
#pragma unroll
      for (int w = 0; w < part; ++w) angle[w] = angles(place, pair + first + w);
      const auto vectors = cuda::unit_vectors(angle);
#pragma unroll
      for (int w = 0; w < part; ++w)
        cosine.value[first + w] = C(vectors.cosine[w]), sine.value[first + w] = C(vectors.sine[w]);
    }
    while (left > 0) {
      Rope now[together];
#pragma unroll
      for (int h = 0; h < together; ++h) now[h] = rope[h];
      const std::int64_t to = at;
      const int count = left;
      at += together * step, left -= together;
      load();  // the next heads arrive while these are rotated
#pragma unroll
      for (int h = 0; h < together; ++h)
        if (h < count) now[h].turn(cosine, sine), now[h].store(y + to + h * step, angles.pairs);
    }
  }
};

void launch(const A& a, Arena, Stream& s, int) {
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> {
    with_rope_packs<T>(
        a, [&]<int W, bool Halves, bool Packed> { cuda::do_step(RotateHeads<T, W, Halves, Packed>(a), s); });
  });
}

}  // namespace

extern constinit const Impl<A> rope_encoding_cuda{{.launch = launch}};

}  // namespace kolmo
