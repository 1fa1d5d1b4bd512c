#include <algorithm>

#include "kolmo/device/multiprocessors.cuh"
#include "kolmo/device/spread.cuh"
#include "kolmo/ops/nn/attention/attention_few.cuh"
#include "kolmo/ops/nn/attention/attention_mma.cuh"
#include "kolmo/ops/nn/attention/attention_tiles.cuh"
#ifndef SIMT
#include "kolmo/ops/nn/attention/attention_warpgroups.cuh"
#endif
#include "kolmo/ops/nn/attention/unfused.hpp"
#include "kolmo/skeleton/item_steps.cuh"

namespace kolmo {
namespace {
using A = AttentionArgs;

enum class Engine : std::uint8_t { warpgroups, tensor_cores, tiles, unfused };
constexpr Row<Engine> attention_engines[] = {
    {.name = "tensor wgmma", .config = Engine::warpgroups, .hardware_only = true},
    {"tensor mma", Engine::tensor_cores},
    {"tiles", Engine::tiles},
    {.name = "unfused", .config = Engine::unfused, .naive = true},
};

constexpr int tensor_cores = 1;

bool is_narrow(const A& a) { return size_of(a.q.dtype) == 2; }

/// Index of the shape for d in the tables of shapes.
int shape_of(const A& a) { return a.q.dim(-1) <= 64 ? 0 : a.q.dim(-1) <= 128 ? 1 : 2; }

std::int64_t rows_of_group(const A& a) {
  const AttentionSizes n(a);
  return n.kv_heads ? n.heads / n.kv_heads * n.s : 0;
}
/// Whether attend_few serves the call. It may take two blocks for a group, which read the same keys, one of
/// them from the cache.
bool has_few_rows(const A& a) {
  return is_narrow(a) && rows_of_group(a) <= 2 * few_rows && a.q.dim(-1) % pack_width<Half> == 0;
}

std::int64_t attention_blocks(const A& a, int of_block) {
  const AttentionSizes n(a);
  return n.batch * n.kv_heads * ((rows_of_group(a) + of_block - 1) / of_block);
}

/// Index of the shape of tiles for f32 or f64.
int tile_shape_of(const A& a) {
  const bool single = a.q.dtype == DType::f32;
  const int large = shape_of(a), few = few_tile_shapes + large,
            shapes = int(single ? std::size(tile_shapes_f32) : std::size(tile_shapes_f64));
  const int rows = (single ? tile_shapes_f32 : tile_shapes_f64)[large].rows;
  const bool has_few =
      rows_of_group(a) <= 32 || attention_blocks(a, rows) * 4 <= cuda::multiprocessors(a.q.device.index);
  return few < shapes && has_few ? few : large;
}
const AttentionTileShape& tile_of(const A& a) {
  return (a.q.dtype == DType::f32 ? tile_shapes_f32 : tile_shapes_f64)[tile_shape_of(a)];
}

int rows_of_block(const A& a) {
  if (has_few_rows(a)) return few_rows;
  return is_narrow(a) ? mma_shapes[shape_of(a)].rows() : tile_of(a).rows;
}

std::int64_t attention_blocks(const A& a) { return attention_blocks(a, rows_of_block(a)); }

/// The number of parts that the keys are split into, if there are too few blocks for the multiprocessors.
/// Each part has at least 256 keys, or 64 in tiles. The number, and so the last bits of the results, depend on
/// the shapes and on how many multiprocessors the device has.
int parts_of_keys(const A& a) {
  const std::int64_t least_keys = is_narrow(a) ? 256 : 64;
  const std::int64_t wanted_blocks = cuda::multiprocessors(a.q.device.index) * (has_few_rows(a) ? 1 : 2);
  const std::int64_t blocks = attention_blocks(a), most = AttentionSizes(a).t / least_keys;
  const std::int64_t parts = blocks ? wanted_blocks / blocks : 1;
  return int(parts < 2 || most < 2 ? 1 : parts < most ? parts : most);
}

template <class C>
KeyParts<C> lay_parts(Arena& arena, const A& a) {
  const int parts = parts_of_keys(a);
  const std::int64_t rows = a.q.size() / a.q.dim(-1), of_parts = parts > 1 ? parts * rows : 0;
  C* const sums = arena.take<C>(of_parts * a.q.dim(-1));
  return {parts, sums, arena.take<C>(of_parts * 2)};
}

template <class T>
void combine_parts_of_keys(const AttentionCall<T>& c, const KeyParts<Compute<T>>& p, Stream& s) {
  if (p.parts == 1) return;
  const std::int64_t high = combine_shares / shares_of(p.parts),
                     wide = (c.d + combine_columns - 1) / combine_columns;
  cuda::launch_early(combine_keys<T>, cuda::blocks((c.groups * c.rows + high - 1) / high * wide, 1),
                     combine_block, 0, cuda::native(s), c, p);
}

/// The largest size of 1 to 16 bytes for which all rows begin at multiples of it; rows may be copied in
/// pieces of this size.
int unit_of(const A& a) {
  std::uintptr_t bits = std::uintptr_t(a.q.dim(-1)) * size_of(a.q.dtype);
  for (const Tensor* t : {static_cast<const Tensor*>(&a.q), static_cast<const Tensor*>(&a.k),
                          static_cast<const Tensor*>(&a.v), static_cast<const Tensor*>(&a.y)})
    bits |= reinterpret_cast<std::uintptr_t>(t->data);
  return int(std::min<std::uintptr_t>(16, bits & (0 - bits)));
}

#ifdef SIMT
bool warpgroups_fit(const A&) { return false; }
void launch_warpgroups(const A&, Stream&) {}
#else
/// Whether attend_warpgroups serves the call: there must be no mask, queries of a block must be rows of one
/// matrix, and keys must not be split.
bool warpgroups_fit(const A& a) {
#ifdef KOLMO_SM90A
  const AttentionSizes n(a);
  return is_narrow(a) && (n.d == 64 || n.d == 128) && !a.mask.given() && n.batch * n.kv_heads > 0 &&
         n.t > 0 && n.s > 0 && (n.heads_first || n.heads == n.kv_heads) && unit_of(a) == 16 &&
         parts_of_keys(a) == 1 && cuda::is_hopper(a.q.device.index);
#else
  return (void)a, false;
#endif
}

/// The number of warpgroups that have queries. Three take 1.2 times as long as two, but serve more queries;
/// two are better if three leave more multiprocessors without work.
int query_groups(const A& a) {
  const AttentionSizes n(a);
  const auto time = [&](std::int64_t groups, double of_block) {
    const std::int64_t blocks = n.batch * n.kv_heads * ((rows_of_group(a) + 64 * groups - 1) / (64 * groups)),
                       multiprocessors = cuda::multiprocessors(a.q.device.index);
    return double((blocks + multiprocessors - 1) / multiprocessors) * of_block;
  };
  return n.d == 64 && time(3, 1.2) <= time(2, 1) ? 3 : 2;
}

void launch_warpgroups(const A& a, Stream& s) {
  const AttentionSizes n(a);
  const std::int64_t groups = n.batch * n.kv_heads;
  const auto boxes_of = [&](const Tensor& t, std::int64_t rows, std::int64_t heads, int box) {
    return n.heads_first ? cuda::tensor_map({t.data, groups, rows * heads / n.kv_heads, n.d, box})
                         : cuda::tensor_map({t.data, n.batch, rows, heads * n.d, box});
  };
  const cuda::TensorMap k = boxes_of(a.k, n.t, n.kv_heads, warpgroup_keys),
                        v = boxes_of(a.v, n.t, n.kv_heads, 64);
  visit<Half, BFloat16>(a.q.dtype, [&]<class T> {
    const auto launch = [&]<int D, int Groups> {
      using M = AttentionMemory<D, Groups>;
      const auto tiles = unsigned(attention_blocks(a, M::rows));
      // Tiles may be out of order, so that a block's first one is not its longest. Then each block has one
      // tile, and the next block starts as another one ends.
      const bool unsorted = a.causal != Causal::none && n.heads > n.kv_heads && n.s % M::rows;
      const unsigned blocks =
          unsorted ? tiles : std::min(tiles, unsigned(cuda::multiprocessors(a.q.device.index)));
      cuda::launch_spread(attend_warpgroups<T, D, Groups>, blocks, M::threads, M::bytes, s,
                          AttentionCall<T>(a), tiles, !n.heads_first, boxes_of(a.q, n.s, n.heads, M::rows), k,
                          v);
    };
    if (n.d == 128)
      launch.template operator()<128, 2>();
    else if (query_groups(a) == 2)
      launch.template operator()<64, 2>();
    else
      launch.template operator()<64, 3>();
  });
}
#endif

void launch_tensor_cores(const A& a, Arena& arena, Stream& s) {
  visit<Half, BFloat16>(a.q.dtype, [&]<class T> {
    const AttentionCall<T> c(a);
    const auto p = lay_parts<float>(arena, a);
    cuda::select<std::size(mma_shapes)>(shape_of(a), [&]<int V> {
      if (has_few_rows(a) && unit_of(a) == 16)
        return cuda::launch_spread(attend_few<T, V>, unsigned(attention_blocks(a) * p.parts), few_block,
                                   std::size_t(few_shapes[V].bytes()), s, c, p);
      constexpr MmaShape shape = mma_shapes[V];
      cuda::launch(attend_mma<T, V>, unsigned(attention_blocks(a, shape.rows()) * p.parts), mma_block,
                   std::size_t(shape.bytes()), cuda::native(s), c, p, unit_of(a));
    });
    combine_parts_of_keys(c, p, s);
  });
}

void launch_attention_tiles(const A& a, Arena& arena, Stream& s) {
  visit<double, float>(a.q.dtype, [&]<class T> {
    const AttentionCall<T> c(a);
    const auto p = lay_parts<T>(arena, a);
    constexpr int shapes = int(sizeof(T) == 4 ? std::size(tile_shapes_f32) : std::size(tile_shapes_f64));
    cuda::select<shapes>(tile_shape_of(a), [&]<int V> {
      constexpr AttentionTileShape shape = attention_tile_shape<T, V>;
      cuda::launch(attend_tiles<T, V>, unsigned(attention_blocks(a) * p.parts), tile_block,
                   std::size_t(shape.template bytes<T>()), cuda::native(s), c, p, unit_of(a));
    });
    combine_parts_of_keys(c, p, s);
  });
}

void lay_attention(Arena& arena, const A& a, const Site& site) {
  if (attention_engines[site.row].config == Engine::unfused)
    UnfusedAttention(arena, a).lay(arena, site);
  else if (a.q.dtype == DType::f64)
    lay_parts<double>(arena, a);
  else
    lay_parts<float>(arena, a);
}

bool attention_fits(const A& a, int row) {
  const Engine engine = attention_engines[row].config;
  if (engine == Engine::unfused) return UnfusedAttention::fits(a);
  constexpr std::int64_t limit = (std::int64_t(1) << 31) - 512;  // of block counts, and of places in kernels
  if (engine == Engine::warpgroups && !warpgroups_fit(a)) return false;
  const AttentionMask m(a);
  return is_narrow(a) == (engine != Engine::tiles) && m.rows < limit && m.t < limit &&
         attention_blocks(a) < limit;
}

}  // namespace

extern constinit const Impl<AttentionArgs> attention_cuda{
    {.rows = attention_engines,
     .launch =
         [](const A& a, Arena arena, Stream& s, int row) {
           switch (attention_engines[row].config) {
             case Engine::warpgroups:
               return launch_warpgroups(a, s);
             case Engine::tensor_cores:
               return launch_tensor_cores(a, arena, s);
             case Engine::tiles:
               return launch_attention_tiles(a, arena, s);
             case Engine::unfused:
               return attend_unfused(a, arena, s, cuda::ItemSteps{s});
           }
         },
     .lay = lay_attention,
     .fits = attention_fits,
     .preferred = [](const A& a) { return has_few_rows(a) ? tensor_cores : -1; }}};

}  // namespace kolmo
