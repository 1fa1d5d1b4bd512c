#include "kolmo/ops/elementwise/contiguous_copy/contiguous_copy.hpp"

#include <algorithm>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/elementwise/contiguous_copy/copy_items.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/cpu/vectors.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {
namespace {
using A = ContiguousCopyArgs;

/// Makes x a transposed view of its own memory: the rows of `columns` elements become columns of the view.
template <std::int64_t columns>
void transposed(A& a) {
  if (a.x.rank < 1) return;
  const std::int64_t n = a.x.dim(0);
  a.x.rank = 2;
  a.x.extent[0] = columns, a.x.extent[1] = n / columns;
  a.x.stride[0] = 1, a.x.stride[1] = columns;
}

constexpr Case<A> cases[] = {
    {.name = "as it is, f64", .sizes = {{"...", 100}}},
    {.name = "transposed f32", .sizes = {{"...", 7 * 1301}}, .dtype = DType::f32, .setup = transposed<7>},
    {.name = "transposed f16", .sizes = {{"...", 35}}, .dtype = DType::f16, .setup = transposed<7>},
    {.name = "bf16", .sizes = {{"...", 33}}, .dtype = DType::bf16},
    {.name = "transposed c128", .sizes = {{"...", 5 * 31}}, .dtype = DType::c128, .setup = transposed<5>},
    {.name = "c64", .sizes = {{"...", 31}}, .dtype = DType::c64},
    {.name = "transposed i64", .sizes = {{"...", 70}}, .dtype = DType::i64, .setup = transposed<7>},
    {.name = "100 x 150, transposed i64",
     .sizes = {{"...", 15000}},
     .dtype = DType::i64,
     .setup = transposed<150>},
    {.name = "3 x 1000, transposed f32",
     .sizes = {{"...", 3000}},
     .dtype = DType::f32,
     .setup = transposed<1000>},
    {.name = "i32", .sizes = {{"...", 1025}}, .dtype = DType::i32},
    {.name = "i16", .sizes = {{"...", 17}}, .dtype = DType::i16},
    {.name = "transposed i8", .sizes = {{"...", 49}}, .dtype = DType::i8, .setup = transposed<7>},
    {.name = "u64", .sizes = {{"...", 9}}, .dtype = DType::u64},
    {.name = "u32", .sizes = {{"...", 9}}, .dtype = DType::u32},
    {.name = "u16", .sizes = {{"...", 9}}, .dtype = DType::u16},
    {.name = "u8", .sizes = {{"...", 1000}}, .dtype = DType::u8},
    {.name = "bool", .sizes = {{"...", 10}}, .dtype = DType::boolean},
    {.name = "transposed 2^24 f32",
     .sizes = {{"...", 7 << 21}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .setup = transposed<7>},
    {.name = "transposed 4096 x 4096 f32",
     .sizes = {{"...", 1 << 24}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .setup = transposed<4096>},
};

constinit const Definition<A> definition{{.name = "contiguous_copy",
                                          .summary = "y = x, in row-major order without gaps",
                                          .source = "elementary",
                                          .determinism = Determinism::everywhere},
                                         {.flops = [](const A&) { return 0.0; }, .cases = cases}};

/// Transposes by blocks of 64 KB, which are first turned in the cache, 16 elements at a time.
template <class T>
struct Blocks {
  static constexpr std::int64_t size = (1 << 16) / std::int64_t(sizeof(T)), some = 16;
  const T* x;
  T* y;
  const Turn& turn;
  std::int64_t nears = std::min(turn.near, size / 128),
               lasts = std::min(turn.last, size / nears / some * some),
               high = (turn.near + nears - 1) / nears, wide = (turn.last + lasts - 1) / lasts;

  std::int64_t count() const { return turn.outer_size * high * wide; }
  void copy(std::int64_t block) const {
    const std::int64_t first_near = block % high * nears, first_last = block / high % wide * lasts;
    const std::int64_t n = std::min(nears, turn.near - first_near),
                       l = std::min(lasts, turn.last - first_last);
    std::int64_t at[2];
    turn.outer.at(block / high / wide, at);
    T turned[size];
    by_instruction_set([&, from = x + at[0] + first_last * turn.last_in_x + first_near] {
      for (std::int64_t j = 0; j < l; j += some)
        for (std::int64_t i = 0; i < n; ++i)
          turn_some(from + j * turn.last_in_x + i, turn.last_in_x, std::min(some, l - j),
                    turned + i * lasts + j);
    });
    for (std::int64_t i = 0; i < n; ++i)
      std::copy_n(turned + i * lasts, l, y + at[1] + (first_near + i) * turn.near_in_y + first_last);
  }

 private:
  static void turn_some(const T* from, std::int64_t step, std::int64_t n, T* to) {
    if (n == some) {
#pragma omp simd
      for (std::int64_t j = 0; j < some; ++j) to[j] = from[j * step];
    } else {
      for (std::int64_t j = 0; j < n; ++j) to[j] = from[j * step];
    }
  }
};

/// Copies the elements [begin, end) of y. Elements that are evenly spaced in x are copied together.
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
    const Turn turn(f.walk, sizeof(T));
    if (turn.found) {
      const Blocks<T> blocks{f.x, f.y, turn};
      parallel_for(s.threads(), blocks.count(), [&](std::int64_t i, int) { blocks.copy(i); });
    } else {
      parallel_ranges(s.threads(), f.n,
                      [&](std::int64_t begin, std::int64_t end) { copy_range(f, begin, end); });
    }
  });
}

}  // namespace

constinit const Op<A> contiguous_copy{definition};
extern constinit const Impl<A> contiguous_copy_cpu{ImplCode<A>{.launch = launch}};

}  // namespace kolmo
