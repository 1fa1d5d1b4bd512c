#pragma once
// matmul on Hopper's tensor cores: f16 or bf16 factors, sums in f32. A block has three warpgroups. One thread
// of the first copies pieces of a and b by the copy engine, while the other two warpgroups multiply them; the
// first pieces of the next tile arrive while the last tile is written. Blocks stay until no tile is left. The
// blocks of a cluster compute tiles below each other, and each copies a share of b to all of them. A `Source`
// says where the pieces come from, so that conv2d can use the same kernel.
#include "kolmo/device/hopper.cuh"
#include "kolmo/ops/dense/matmul/gemm.cuh"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {

/// A block's tile has rows x columns elements and takes 64 products at a time, with `stages` pieces in shared
/// memory. The two warpgroups that multiply share the tile.
struct WarpgroupShape {
  int rows, columns, stages, cluster;
  StepTime step;
  static constexpr int depth = 64;
  static constexpr int multipliers = 2;  ///< number of warpgroups that multiply
  constexpr int threads() const { return (multipliers + 1) * 128; }
};
constexpr WarpgroupShape warpgroup_shapes[] = {{128, 256, 4, 2, {0.70, 0.70}},
                                               {128, 128, 6, 1, {0.36, 0.43}},
                                               {128, 64, 8, 1, {0.20, 0.27}},
                                               {256, 128, 4, 1, {0.62, 0.62}},  // conv2d
                                               {256, 64, 5, 1, {0.38, 0.38}}};  // conv2d

/// The first shapes are those that matmul uses.
constexpr int matmul_warpgroup_shapes = 3;

/// How results are written. single: one by one. packs: 16 bytes at a time; rows of y consist of such packs.
/// plain_packs: likewise, where y is only activation(alpha a b + bias) and the bias begins at a multiple of 4
/// bytes.
enum class Writing : std::uint8_t { single, packs, plain_packs };
inline Writing writing_of(bool packs, const Tensor& bias, bool adds_c) {
  const bool plain = reinterpret_cast<std::uintptr_t>(bias.data) % 4 == 0 && !adds_c;
  return !packs ? Writing::single : plain ? Writing::plain_packs : Writing::packs;
}

/// Number of tiles of y if the tiles of a cluster are counted as one.
inline std::int64_t clusters_of(const MatmulArgs& x, const WarpgroupShape& shape) {
  const MatmulSizes s(x);
  const std::int64_t rows = std::int64_t(shape.rows) * shape.cluster;
  return s.batch * ((s.m + rows - 1) / rows) * ((s.n + shape.columns - 1) / shape.columns);
}

/// Layout of shared memory: pieces of a and b for each stage, at multiples of 1024 bytes; a buffer for what
/// each warp writes of y at a time; the barriers.
template <int Shape>
struct WarpgroupMemory {
  static constexpr WarpgroupShape S = warpgroup_shapes[Shape];
  static constexpr int piece_a = S.rows * S.depth * 2, piece_b = S.columns * S.depth * 2,
                       stage = piece_a + piece_b;
  static constexpr int row = 128, padded_row = row + 16, out = 16 * padded_row;
  static constexpr int written = S.stages * stage, barriers = written + S.multipliers * 4 * out,
                       bytes = barriers + 2 * S.stages * 8 + 1024;
};

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// The stage in use, and the parity of the phase of its barriers.
template <int Stages>
struct Ring {
  int stage = 0, parity = 0;
  __device__ void advance() {
    if (++stage == Stages) stage = 0, parity ^= 1;
  }
};

/// Starts copying a piece of `Count` rows or columns of a factor; Along: k is contiguous in memory.
template <bool Along, int Count, int Blocks>
__device__ void copy_rows(std::uint32_t to, const cuda::TensorMap& map, std::uint32_t barrier, int k,
                          int first, int entry) {
  if constexpr (Along)
    cuda::copy_box<Blocks>(to, map, barrier, k, first, entry);
  else
#pragma unroll
    for (int i = 0; i < Count; i += 64)
      cuda::copy_box<Blocks>(to + i * 128, map, barrier, first + i, k, entry);
}

/// Writes the 16 x Columns sums of a warp, as cuda::multiply leaves them, from (row, column) of y on. 32
/// columns at a time go through `out`, so that neighbouring threads write neighbouring elements, in packs if
/// rows of y consist of packs. The loop is not unrolled, since every copy of its body would hold the code of
/// each activation; instead the sums move down in the registers.
template <int Columns, class T>
__device__ void write_sums(const Gemm<T>& g, float (&sum)[Columns / 2], unsigned char* out,
                           std::int64_t entry, int row, int column, bool packs) {
  constexpr int padded = WarpgroupMemory<0>::padded_row / 4;
  float* const staged = reinterpret_cast<float*>(out);
  const int lane = int(threadIdx.x) % 32, rows = g.m - row < 16 ? g.m - row : 16;
#pragma unroll 1
  for (int first = 0; first < Columns; first += 32) {
#pragma unroll
    for (int i = 0; i < 16; i += 2)
      reinterpret_cast<float2*>(staged + (lane / 4 + i / 2 % 2 * 8) * padded)[i / 4 * 4 + lane % 4] =
          make_float2(sum[i], sum[i + 1]);
#pragma unroll
    for (int i = 16; i < Columns / 2; ++i) sum[i - 16] = sum[i];
    __syncwarp();
    if (packs) {
#pragma unroll
      for (int r = lane / 4; r < 16; r += 8) {
        const float* const at = staged + r * padded + lane % 4 * 8;
        const auto a = load_pack<4>(at), b = load_pack<4>(at + 4);
        g.put_pack(
            0, entry, row + r, column + first + lane % 4 * 8,
            {a.value[0], a.value[1], a.value[2], a.value[3], b.value[0], b.value[1], b.value[2], b.value[3]});
      }
    } else if (const int c = column + first + lane; c < g.n) {
#pragma unroll 1
      for (int r = 0; r < rows; ++r)
        g.finish((entry * g.m + row + r) * g.n + c, c, staged[r * padded + lane]);
    }
    __syncwarp();
  }
}

/// The bias of the columns whose sums a thread has, two of every eight. It is 0 if there is no bias, and
/// outside the matrix.
template <int Columns, class T>
using BiasOfTile = Pack<T, 2>[Columns / 8];
template <int Columns, class T>
__device__ void read_bias(const Gemm<T>& g, int column, BiasOfTile<Columns, T>& bias) {
#pragma unroll
  for (int i = 0; i < Columns / 8; ++i) {
    const int c = column + i * 8 + int(threadIdx.x) % 4 * 2;
    bias[i] = {};
    if (g.bias && c < g.n) bias[i] = load_pack<2>(g.bias + c);
  }
}

/// Writes such sums as plain packs (see Writing), with y of type U. `sum` changes.
template <class U, int Columns, class T>
__device__ void write_packs(const Gemm<T>& g, float (&sum)[Columns / 2], const BiasOfTile<Columns, T>& bias,
                            unsigned char* out, std::int64_t entry, int row, int column) {
  using M = WarpgroupMemory<0>;
  constexpr int wide = M::row / int(sizeof(U)), pack = 16 / int(sizeof(U));
  const int lane = int(threadIdx.x) % 32;
#pragma unroll
  for (int i = 0; i < Columns / 2; i += 4) {
    const auto summands = widened(bias[i / 4]);
#pragma unroll
    for (int e = 0; e < 4; ++e) sum[i + e] = sum[i + e] * g.alpha + summands.value[e % 2];
  }
  if (g.activation > Activation::relu) {
    constexpr int at_once = 8;
#pragma unroll
    for (int i = 0; i < Columns / 2; i += at_once) {
      Pack<float, at_once> done;
#pragma unroll
      for (int e = 0; e < at_once; ++e) done.value[e] = sum[i + e];
      done = cuda::activated(g.activation, done);
#pragma unroll
      for (int e = 0; e < at_once; ++e) sum[i + e] = done.value[e];
    }
  } else if (g.activation == Activation::relu) {
#pragma unroll
    for (int i = 0; i < Columns / 2; ++i) asm("max.NaN.f32 %0, %0, 0f00000000;" : "+f"(sum[i]));
  }
#pragma unroll
  for (int first = 0; first < Columns; first += wide) {
#pragma unroll
    for (int i = 0; i < wide / 2; i += 2) {
      const Pack<float, 2> pair{sum[first / 2 + i], sum[first / 2 + i + 1]};
      store_pack(
          reinterpret_cast<U*>(out + (lane / 4 + i / 2 % 2 * 8) * M::padded_row) + i / 4 * 8 + lane % 4 * 2,
          narrowed<U, 2>(pair));
    }
    __syncwarp();
#pragma unroll
    for (int pass = 0; pass < 4; ++pass) {
      const int r = row + pass * 4 + lane / 8, c = column + first + lane % 8 * pack;
      if (r < g.m && c < g.n)
        *reinterpret_cast<int4*>(static_cast<U*>(g.y) + (entry * g.m + r) * g.n + c) =
            reinterpret_cast<const int4*>(out + (r - row) * M::padded_row)[lane % 8];
    }
    __syncwarp();
  }
}

#endif

/// Pieces of matmul's own matrices.
template <bool TurnedA, bool TurnedB>
struct MatrixSource {
  static constexpr bool along_a = !TurnedA, along_b = TurnedB;
  cuda::TensorMap a, b;

  __device__ void prefetch() const {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    cuda::prefetch(a), cuda::prefetch(b);
#endif
  }

  /// Starts the copies of a step: the rows of a from `row` on, and this block's share of the columns of b,
  /// which begin at `column`.
  template <int Shape>
  __device__ void copy(std::uint32_t to_a, std::uint32_t to_b, std::uint32_t barrier, int step, int row,
                       int column, int entry, int rank) const {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    constexpr WarpgroupShape S = warpgroup_shapes[Shape];
    constexpr int columns = S.columns / S.cluster;
    copy_rows<along_a, S.rows, 1>(to_a, a, barrier, step * S.depth, row, entry);
    copy_rows<along_b, columns, S.cluster>(to_b + rank * columns * 128, b, barrier, step * S.depth,
                                           column + rank * columns, entry);
#endif
  }
};

// For other architectures nvcc refuses this attribute.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define KOLMO_CLUSTER(blocks)
#else
#define KOLMO_CLUSTER(blocks) __cluster_dims__(blocks, 1, 1)
#endif

template <class T, int Shape, class Source>
__global__ void KOLMO_CLUSTER(warpgroup_shapes[Shape].cluster)
    __launch_bounds__(warpgroup_shapes[Shape].threads(), 1)
        warpgroup_tiles(cuda::EarlyStart early, Gemm<T> g, Writing writing, std::int64_t tiles,
                        const __grid_constant__ Source source) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using M = WarpgroupMemory<Shape>;
  constexpr WarpgroupShape S = M::S;
  constexpr int high = S.rows / (S.multipliers * 64);  // how many products of 64 rows a warpgroup computes
  unsigned char* const shared = cuda::dynamic_shared<unsigned char>();
  const std::uint32_t start = (cuda::shared_address(shared) + 1023) / 1024 * 1024, full = start + M::barriers,
                      empty = full + S.stages * 8;
  const int group = int(threadIdx.x) / 128 - 1, rank = S.cluster == 1 ? 0 : cuda::block_in_cluster();
  if (threadIdx.x == 0) {
    source.prefetch();
    for (int i = 0; i < S.stages; ++i) {
      cuda::make_barrier(full + i * 8, 1);
      cuda::make_barrier(empty + i * 8, S.multipliers * 4 * S.cluster);
    }
    cuda::publish_barriers();
  }
  early.wait();
  if constexpr (S.cluster == 1)
    __syncthreads();
  else
    cuda::meet_cluster();

  const std::int64_t first = blockIdx.x / S.cluster, next = gridDim.x / S.cluster;
  Ring<S.stages> ring;
  if (group < 0) {
    cuda::give_up_registers<40>();
    if (threadIdx.x == 0)
      for (std::int64_t t = first; t < tiles; t += next) {
        const TileIndex tile(g, t, S.rows * S.cluster, S.columns, S.depth);
        const int row = tile.row + rank * S.rows, entry = int(tile.entry);
        for (int step = tile.first_step; step < tile.last_step; ++step, ring.advance()) {
          const std::uint32_t a = start + ring.stage * M::stage, b = a + M::piece_a,
                              barrier = full + ring.stage * 8;
          cuda::wait_for(empty + ring.stage * 8, ring.parity ^ 1);
          cuda::expect_bytes(barrier, M::stage);
          source.template copy<Shape>(a, b, barrier, step, row, tile.column, entry, rank);
        }
      }
    __syncwarp();
  } else {
    cuda::take_registers<232>();
    const int warp = int(threadIdx.x) / 32 - 4, lane = int(threadIdx.x) % 32;
    const auto release = [&](int stage) {
      if (lane < S.cluster) cuda::arrive_at(empty + stage * 8, lane);
    };
    float sum[high][S.columns / 2] = {};
    for (std::int64_t t = first; t < tiles; t += next) {
      const TileIndex tile(g, t, S.rows * S.cluster, S.columns, S.depth);
      int last = 0;
      for (int step = tile.first_step; step < tile.last_step; ++step, ring.advance()) {
        cuda::wait_for(full + ring.stage * 8, ring.parity);
        const std::uint32_t piece = start + ring.stage * M::stage;
        std::uint64_t a = cuda::factor<Source::along_a>(piece + group * high * 64 * 128),
                      b = cuda::factor<Source::along_b>(piece + M::piece_a);
        cuda::begin_products();
#pragma unroll
        for (int k = 0; k < S.depth; k += 16) {
#pragma unroll
          for (int i = 0; i < high; ++i)
            cuda::multiply<T, S.columns, Source::along_a, Source::along_b>(sum[i], a + i * (64 * 128 >> 4), b,
                                                                           step > tile.first_step || k > 0);
          a += cuda::next_factor<Source::along_a>, b += cuda::next_factor<Source::along_b>;
        }
        cuda::commit_products();
        cuda::wait_products<1>();
        if (step > tile.first_step) release(last);
        last = ring.stage;
      }
      BiasOfTile<S.columns, T> bias;  // read while the last products are computed
      if (writing == Writing::plain_packs) read_bias<S.columns>(g, tile.column, bias);
      cuda::wait_products<0>();
      release(last);
      unsigned char* const out = shared + (start - cuda::shared_address(shared)) + M::written + warp * M::out;
#pragma unroll
      for (int i = 0; i < high; ++i) {
        const int row = tile.row + rank * S.rows + (group * high + i) * 64 + warp % 4 * 16;
        if (writing != Writing::plain_packs)
          write_sums<S.columns>(g, sum[i], out, tile.entry, row, tile.column, writing == Writing::packs);
        else if (g.y_is_f32)
          write_packs<float, S.columns>(g, sum[i], bias, out, tile.entry, row, tile.column);
        else
          write_packs<T, S.columns>(g, sum[i], bias, out, tile.entry, row, tile.column);
      }
    }
  }
  if constexpr (S.cluster > 1) cuda::meet_cluster();  // other blocks still arrive at the barriers of this one
#endif
}
#undef KOLMO_CLUSTER

}  // namespace
}  // namespace kolmo
