#include "kolmo/device/reduce.cuh"
#include "kolmo/op/impl.hpp"
#include "kolmo/ops/training/weights_gram/gram_tiles.hpp"
#include "kolmo/ops/training/weights_gram/weights_gram.hpp"

namespace kolmo {
namespace {

constexpr int gram_block = 128;

/// Sums of 1, 2 and 4 lanes, which wait until the sum of as many other lanes is added. In registers they would leave room for half as many
/// warps, which would wait for memory.
struct Pending {
  double value[3][gram_products][gram_block];
};

/// Sums a tile over a chunk by a warp, in the order of base/sums.hpp, and returns the sums to its first thread. A thread computes the
/// lanes of the same number modulo 32, one after the other. Of a tile on the diagonal it computes the products on and above it.
template <bool Diagonal, class Terms>
__device__ GramSums tile_of_chunk(const Terms& terms, Pending& pending) {
  constexpr int sets = sum_lanes / 32;
  static_assert(sets == 8);
  constexpr int together = sizeof(typename Terms::Fetched) > 36 ? 2 : 4;  // terms that are read at once
  const int thread = int(threadIdx.x) % 32, count = int(terms.count);
  const auto used = [](int p) { return !Diagonal || p / gram_side <= p % gram_side; };
  GramSums sum;
#pragma unroll 1
  for (int s = 0; s < sets; ++s) {
    const int set = (s & 1) * 4 + (s & 2) + s / 4;  // the tree adds lane 128 to lane 0, and so on
    sum = GramSums{};
#pragma unroll 1
    for (int first = set * 32; first < count; first += together * sum_lanes) {
      typename Terms::Fetched next[together];
#pragma unroll
      for (int a = 0; a < together; ++a)
        terms.template fetch<Diagonal>(first + a * sum_lanes + thread, next[a]);
#pragma unroll
      for (int a = 0; a < together; ++a) {
        double left[gram_side], right[gram_side];
#pragma unroll
        for (int k = 0; k < gram_side; ++k) {
          left[k] = terms.off(next[a].left[k], next[a].base);
          right[k] = Diagonal ? left[k] : terms.off(next[a].right[k], next[a].base);
        }
#pragma unroll
        for (int p = 0; p < gram_products; ++p)
          if (used(p))
            sum.value[p] = exact_add(sum.value[p], exact_mul(left[p / gram_side], right[p % gram_side]));
      }
    }
    int level = 0;
    for (; s >> level & 1; ++level)
#pragma unroll
      for (int p = 0; p < gram_products; ++p)
        if (used(p)) sum.value[p] = exact_add(pending.value[level][p][threadIdx.x], sum.value[p]);
    if (level < 3)
#pragma unroll
      for (int p = 0; p < gram_products; ++p)
        if (used(p)) pending.value[level][p][threadIdx.x] = sum.value[p];
  }
  GramSums own[1] = {sum};
  return cuda::tree<32>(own);
}

template <class T>
__global__ void __launch_bounds__(gram_block, 4) sum_gram_tiles(GramChunks<T> chunks, std::int64_t items) {
  __shared__ Pending pending;
  constexpr int warps = gram_block / 32;
  for (std::int64_t item = std::int64_t(blockIdx.x) * warps + threadIdx.x / 32; item < items;
       item += std::int64_t(gridDim.x) * warps) {
    const auto terms = chunks.terms(item);
    const GramSums sums = terms.row == terms.column ? tile_of_chunk<true>(terms, pending)
                                                    : tile_of_chunk<false>(terms, pending);
    if (threadIdx.x % 32 == 0) chunks.finish(item, sums);
  }
}

/// Tiles that are too few for a warp each are summed by a block each, with the same bits.
constexpr std::int64_t few = 1024;

struct GramKernels {
  cudaStream_t stream;
  template <class T>
  void operator()(const GramChunks<T>& chunks, std::int64_t items, std::int64_t) const {
    if (items < few) return cuda::launch_items<cuda::sum_shapes[2]>(chunks, items, stream);
    cuda::launch(sum_gram_tiles<T>, cuda::blocks(items, gram_block / 32), gram_block, 0, stream, chunks,
                 items);
  }
  template <class Partials>
  void operator()(const Partials& partials, std::int64_t items, std::int64_t) const {
    cuda::launch_items<cuda::sum_shapes[2]>(partials, items, stream);
  }
};

}  // namespace

extern constinit const Impl<WeightsGramArgs> weights_gram_cuda{
    {.launch = [](const WeightsGramArgs& a, Arena arena, Stream& s,
                  int) { gram_sums(a, arena, GramKernels{cuda::native(s)}); },
     .lay = [](Arena& arena, const WeightsGramArgs& a, const Site&) { gram_scratch(arena, a); }}};

}  // namespace kolmo
