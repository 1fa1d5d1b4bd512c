#include "kolmo/ops/elementwise/contiguous_copy/contiguous_copy.hpp"

#include <algorithm>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/elementwise/contiguous_copy/copy_items.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {
namespace {
using A = ContiguousCopyArgs;

/// x transposed, as a view of the same memory.
void transposed(A& a) {
  if (a.x.rank < 1) return;
  const std::int64_t n = a.x.dim(0), columns = n % 7 == 0 ? 7 : n % 5 == 0 ? 5 : 1;
  a.x.rank = 2;
  a.x.extent[0] = columns, a.x.extent[1] = n / columns;
  a.x.stride[0] = 1, a.x.stride[1] = columns;
}

constexpr Case<A> cases[] = {
    {.name = "as it is, f64", .sizes = {{"...", 100}}},
    {.name = "transposed f32", .sizes = {{"...", 7 * 301}}, .dtype = DType::f32, .setup = transposed},
    {.name = "transposed f16", .sizes = {{"...", 35}}, .dtype = DType::f16, .setup = transposed},
    {.name = "bf16", .sizes = {{"...", 33}}, .dtype = DType::bf16},
    {.name = "transposed c128", .sizes = {{"...", 5 * 31}}, .dtype = DType::c128, .setup = transposed},
    {.name = "c64", .sizes = {{"...", 31}}, .dtype = DType::c64},
    {.name = "transposed i64", .sizes = {{"...", 70}}, .dtype = DType::i64, .setup = transposed},
    {.name = "i32", .sizes = {{"...", 1025}}, .dtype = DType::i32},
    {.name = "i16", .sizes = {{"...", 17}}, .dtype = DType::i16},
    {.name = "transposed i8", .sizes = {{"...", 49}}, .dtype = DType::i8, .setup = transposed},
    {.name = "u64", .sizes = {{"...", 9}}, .dtype = DType::u64},
    {.name = "u32", .sizes = {{"...", 9}}, .dtype = DType::u32},
    {.name = "u16", .sizes = {{"...", 9}}, .dtype = DType::u16},
    {.name = "u8", .sizes = {{"...", 1000}}, .dtype = DType::u8},
    {.name = "bool", .sizes = {{"...", 10}}, .dtype = DType::boolean},
    {.name = "transposed 2^24 f32",
     .sizes = {{"...", 7 << 21}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .setup = transposed},
};

constinit const Definition<A> definition{{.name = "contiguous_copy",
                                          .summary = "y = x, in row-major order without gaps",
                                          .source = "elementary",
                                          .determinism = Determinism::everywhere},
                                         {.flops = [](const A&) { return 0.0; }, .cases = cases}};

/// Tile i, by way of a transposed copy of it.
template <class T>
void copy_tile(const CopyItem<T>& f, const Turn& t, std::int64_t i) {
  const std::int64_t row = i / t.wide, entry = row / t.high;
  const std::int64_t first_last = i % t.wide * t.tile_last, first_near = row % t.high * t.tile_near;
  const std::int64_t lasts = std::min<std::int64_t>(t.tile_last, t.last - first_last);
  const std::int64_t nears = std::min<std::int64_t>(t.tile_near, t.near - first_near);
  std::int64_t at[2];
  t.outer.at(entry, at);
  T part[Turn::tile];
  for (std::int64_t l = 0; l < lasts; ++l)
    for (std::int64_t n = 0; n < nears; ++n)
      part[n * lasts + l] = f.x[at[0] + (first_last + l) * t.last_in_x + first_near + n];
  for (std::int64_t n = 0; n < nears; ++n)
    std::copy_n(part + n * lasts, lasts, f.y + at[1] + (first_near + n) * t.near_in_y + first_last);
}

/// Elements begin to end of y, as many at once as have one step in x.
template <class T>
void copy_range(const CopyItem<T>& f, std::int64_t begin, std::int64_t end) {
  const int last = f.walk.rank - 1;
  const std::int64_t run = last < 0 ? 1 : f.walk.extent[last], step = last < 0 ? 0 : f.walk.step[0][last];
  for (std::int64_t i = begin, n; i < end; i += n) {
    n = std::min(end - i, run - i % run);
    std::int64_t at[1];
    f.walk.at(i, at);
    if (step == 1)
      std::copy_n(f.x + at[0], n, f.y + i);
    else
      for (std::int64_t k = 0; k < n; ++k) f.y[i + k] = f.x[at[0] + k * step];
  }
}

void launch(const A& a, Arena, Stream& s, int) {
  CopyItems::visit_type(a, [&]<class T> {
    const CopyItem<T> f(a);
    const Turn turn(f.walk);
    if (turn.found)
      parallel_ranges(
          s.threads(), turn.tiles(),
          [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) copy_tile(f, turn, i);
          },
          16);
    else
      parallel_ranges(s.threads(), f.n,
                      [&](std::int64_t begin, std::int64_t end) { copy_range(f, begin, end); });
  });
}

}  // namespace

constinit const Op<A> contiguous_copy{definition};
extern constinit const Impl<A> contiguous_copy_cpu{ImplCode<A>{.launch = launch}};

}  // namespace kolmo
