#include <algorithm>
#include <cmath>
#include <limits>

#include "kolmo/device/grid.cuh"
#include "kolmo/ops/dense/matmul/gemm.cuh"
#include "kolmo/ops/dense/matmul/matmul_sizes.hpp"
#include "kolmo/ops/dense/matmul/tensor_cores.cuh"
#include "kolmo/ops/dense/matmul/tiles.cuh"
#include "kolmo/runtime/cuda/cublaslt.hpp"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {

enum class Engine : std::uint8_t { tensor_cores, tiles_f32, tiles_f64, vendor, naive };

/// How a variant computes: an engine, the row of its table of shapes, and into how many parts k is cut.
struct Plan {
  Engine engine;
  int shape = 0, parts = 1;
};
constexpr Plan plans[] = {
    {Engine::tensor_cores, 0},
    {Engine::tensor_cores, 1},
    {Engine::tensor_cores, 2},
    {Engine::tensor_cores, 3},
    {Engine::tensor_cores, 4},
    {Engine::tensor_cores, 2, 4},
    {Engine::tensor_cores, 2, 16},
    {Engine::tensor_cores, 3, 16},
    {Engine::tensor_cores, 4, 4},
    {Engine::tiles_f32, 0},
    {Engine::tiles_f32, 1},
    {Engine::tiles_f32, 2},
    {Engine::tiles_f32, 3},
    {Engine::tiles_f32, 2, 4},
    {Engine::tiles_f32, 2, 32},
    {Engine::tiles_f32, 2, 128},
    {Engine::tiles_f32, 3, 4},
    {Engine::tiles_f64, 4},
    {Engine::tiles_f64, 5},
    {Engine::tiles_f64, 4, 8},
    {Engine::tiles_f64, 4, 64},
    {Engine::vendor},
    {Engine::naive},
};
constexpr Variant variants[] = {
    {"tensor wmma 128x128"},
    {"tensor wmma 128x256"},
    {"tensor wmma 64x64"},
    {"tensor wmma 32x32"},
    {"tensor wmma 16x128"},
    {"tensor wmma 64x64, k in 4"},
    {"tensor wmma 64x64, k in 16"},
    {"tensor wmma 32x32, k in 16"},
    {"tensor wmma 16x128, k in 4"},
    {"f32 tiles 128x128"},
    {"f32 tiles 128x64"},
    {"f32 tiles 64x64"},
    {"f32 tiles 32x32"},
    {"f32 tiles 64x64, k in 4"},
    {"f32 tiles 64x64, k in 32"},
    {"f32 tiles 64x64, k in 128"},
    {"f32 tiles 32x32, k in 4"},
    {"f64 tiles 64x64"},
    {"f64 tiles 32x32"},
    {"f64 tiles 64x64, k in 8"},
    {"f64 tiles 64x64, k in 64"},
    {"cublaslt", true, false, true},
    {"naive", false, true},
};
static_assert(std::size(plans) == std::size(variants));

constexpr int naive_block = 128;

/// A thread computes one element of y straight from a and b.
template <class T>
__global__ void __launch_bounds__(naive_block) naive(Gemm<T> g, bool turned_a, bool turned_b) {
  const std::int64_t rows = g.batch * g.m;
  for (std::int64_t i = cuda::thread_index(); i < rows * g.n; i += cuda::thread_count()) {
    const std::int64_t entry = i / g.n / g.m;
    const int row = int(i / g.n % g.m), column = int(i % g.n);
    const T *a = g.a + entry * g.m * g.k + (turned_a ? row : std::int64_t(row) * g.k),
            *b = g.b + entry * g.k * g.n + (turned_b ? std::int64_t(column) * g.k : column);
    const int step_a = turned_a ? g.m : 1, step_b = turned_b ? 1 : g.n;
    SumOf<T> sum = 0;
    for (std::int64_t k = 0; k < g.k; ++k) sum += SumOf<T>(a[k * step_a]) * SumOf<T>(b[k * step_b]);
    g.finish(i, column, sum);
  }
}

template <class T>
Gemm<T> gemm_of(const MatmulArgs& x, int parts = 1, void* partial = nullptr) {
  const MatmulSizes s(x);
  return {x.a.as<T>(),
          x.b.as<T>(),
          adds_c(x) ? x.c.as<T>() : nullptr,
          x.bias.given() ? x.bias.as<T>() : nullptr,
          x.y.data,
          s.batch,
          int(s.m),
          int(s.n),
          x.alpha == 0 ? 0 : int(s.k),
          parts,
          static_cast<SumOf<T>*>(partial),
          SumOf<T>(x.alpha),
          SumOf<T>(x.beta),
          x.activation,
          x.y.dtype == DType::f32};
}

/// Whether rows of a matrix, and so of every batch entry, begin at multiples of 16 bytes.
bool whole_packs(const Tensor& t) {
  const std::size_t row = std::size_t(t.extent[std::size_t(t.rank - 1)]) * size_of(t.dtype);
  return row % 16 == 0 && reinterpret_cast<std::uintptr_t>(t.data) % 16 == 0;
}

/// Calls f.operator()<turned_a, turned_b>().
template <class F>
void with_turns(const MatmulArgs& x, F&& f) {
  cuda::select<4>(2 * x.transpose_a + x.transpose_b,
                  [&]<int I> { f.template operator()<I / 2 == 1, I % 2 == 1>(); });
}

/// Blocks that a plan of tiles of this shape takes.
template <class Shape>
std::int64_t blocks_of(const MatmulArgs& x, const Shape& shape, const Plan& plan) {
  const MatmulSizes s(x);
  return s.batch * ((s.m + shape.rows - 1) / shape.rows) * ((s.n + shape.columns - 1) / shape.columns) *
         plan.parts;
}

template <class T>
void combine_parts(const Gemm<T>& g, Stream& s) {
  if (g.parts > 1)
    cuda::launch(combine<T>, cuda::blocks(g.batch * g.m * g.n, combine_block), combine_block, 0,
                 cuda::native(s), g);
}

template <class T, int Shape>
void launch_tiles(const MatmulArgs& x, const Plan& plan, void* workspace, Stream& s) {
  constexpr TileShape shape = tile_shapes[Shape];
  const Gemm<T> g = gemm_of<T>(x, plan.parts, workspace);
  with_turns(x, [&]<bool A, bool B> {
    cuda::launch(tiles<T, Shape, A, B>, unsigned(blocks_of(x, shape, plan)), shape.threads(), 0,
                 cuda::native(s), g, whole_packs(x.a), whole_packs(x.b));
  });
  combine_parts(g, s);
}

template <int Shape>
void launch_tensor_cores(const MatmulArgs& x, const Plan& plan, void* workspace, Stream& s) {
  constexpr WarpTileShape shape = warp_tile_shapes[Shape];
  visit<Half, BFloat16>(x.a.dtype, [&]<class T> {
    const Gemm<T> g = gemm_of<T>(x, plan.parts, workspace);
    with_turns(x, [&]<bool A, bool B> {
      cuda::launch(warp_tiles<T, Shape, A, B>, unsigned(blocks_of(x, shape, plan)), shape.threads(),
                   WarpTiles<Shape, A, B>::bytes, cuda::native(s), g, whole_packs(x.a), whole_packs(x.b));
    });
    combine_parts(g, s);
  });
}

void launch_naive(const MatmulArgs& x, Stream& s) {
  visit<double, float, Half, BFloat16>(x.a.dtype, [&]<class T> {
    cuda::launch(naive<T>, cuda::blocks(x.y.size(), naive_block), naive_block, 0, cuda::native(s),
                 gemm_of<T>(x), x.transpose_a, x.transpose_b);
  });
}

cuda::VendorMatmul vendor_call(const MatmulArgs& x) {
  const MatmulSizes s(x);
  return {x.y.device.index,
          x.a.dtype,
          x.y.dtype,
          s.batch,
          s.m,
          s.n,
          x.alpha == 0 ? 0 : s.k,
          x.transpose_a,
          x.transpose_b,
          x.alpha,
          x.beta,
          x.activation,
          x.a.data,
          x.b.data,
          adds_c(x) ? x.c.data : nullptr,
          x.bias.given() ? x.bias.data : nullptr,
          x.y.data};
}

void launch(const MatmulArgs& x, void* workspace, Stream& s, int variant) {
  cuda::select<int(std::size(plans))>(variant, [&]<int V> {
    constexpr Plan plan = plans[V];
    if constexpr (plan.engine == Engine::tensor_cores)
      launch_tensor_cores<plan.shape>(x, plan, workspace, s);
    else if constexpr (plan.engine == Engine::tiles_f32)
      launch_tiles<float, plan.shape>(x, plan, workspace, s);
    else if constexpr (plan.engine == Engine::tiles_f64)
      launch_tiles<double, plan.shape>(x, plan, workspace, s);
    else if constexpr (plan.engine == Engine::vendor)
      cuda::vendor_matmul(vendor_call(x), workspace, s);
    else
      launch_naive(x, s);
  });
}

/// Extents are int in kernels, and blocks are counted in 31 bits.
constexpr std::int64_t limit = (std::int64_t(1) << 31) - 512;
constexpr std::size_t most_workspace = std::size_t(256) << 20;

/// Every part has a step to do.
template <class Shape>
bool shape_fits(const MatmulArgs& x, const Shape& shape, const Plan& plan) {
  return blocks_of(x, shape, plan) < limit &&
         (plan.parts == 1 || MatmulSizes(x).k > std::int64_t(plan.parts - 1) * shape.depth);
}

std::size_t workspace(const MatmulArgs& x, int variant) {
  const Plan plan = plans[variant];
  if (plan.engine == Engine::vendor) return cuda::vendor_matmul_workspace;
  const std::size_t sum = x.a.dtype == DType::f64 ? sizeof(double) : sizeof(float);
  return plan.parts > 1 ? std::size_t(plan.parts) * std::size_t(x.y.size()) * sum : 0;
}

bool fits(const MatmulArgs& x, int variant) {
  const MatmulSizes s(x);
  if (s.m > limit || s.n > limit || s.k > limit || workspace(x, variant) > most_workspace) return false;
  const Plan plan = plans[variant];
  const DType t = x.a.dtype;
  switch (plan.engine) {
    case Engine::tensor_cores:
      return (t == DType::f16 || t == DType::bf16) && shape_fits(x, warp_tile_shapes[plan.shape], plan);
    case Engine::tiles_f32:
      return t == DType::f32 && shape_fits(x, tile_shapes[plan.shape], plan);
    case Engine::tiles_f64:
      return t == DType::f64 && shape_fits(x, tile_shapes[plan.shape], plan);
    case Engine::vendor:
      return x.y.device.kind != DeviceKind::simt && cuda::vendor_matmul_fits(vendor_call(x));
    default:
      return true;
  }
}

/// Microseconds on an H200, without what all plans have in common. A multiprocessor takes its share of the
/// blocks in the time of its arithmetic, but no less than one block takes for its steps, and then writes
/// tiles; parts pass through memory and a second kernel.
template <class Shape>
double estimate(const MatmulArgs& x, const Shape& shape, const Plan& plan) {
  constexpr double multiprocessors = 132, of_element = 4.5e-4, of_byte = 2.5e-7, of_combine = 4;
  const double steps = std::ceil(std::ceil(double(MatmulSizes(x).k) / shape.depth) / plan.parts);
  const double blocks = std::ceil(double(blocks_of(x, shape, plan)) / multiprocessors);
  const double time = std::max(shape.step.alone, blocks * shape.step.shared) * steps +
                      blocks * shape.rows * shape.columns * of_element;
  const double bytes = 2.0 * plan.parts * double(x.y.size()) * (x.a.dtype == DType::f64 ? 8 : 4);
  return plan.parts == 1 ? time : time + of_combine + bytes * of_byte;
}

/// The plan of tiles that is estimated to take the least time; never the vendor's library.
int preferred(const MatmulArgs& x) {
  constexpr int last = int(std::size(plans)) - 1;
  static_assert(plans[last].engine == Engine::naive);
  const DType t = x.a.dtype;
  const Engine engine = t == DType::f64   ? Engine::tiles_f64
                        : t == DType::f32 ? Engine::tiles_f32
                                          : Engine::tensor_cores;
  int best = last;
  double least = std::numeric_limits<double>::infinity();
  for (int v = 0; v < last; ++v) {
    const Plan& plan = plans[v];
    if (plan.engine != engine || !fits(x, v)) continue;
    const double time = engine == Engine::tensor_cores ? estimate(x, warp_tile_shapes[plan.shape], plan)
                                                       : estimate(x, tile_shapes[plan.shape], plan);
    if (time < least) best = v, least = time;
  }
  return best;
}

}  // namespace

extern constinit const CudaImpl matmul_cuda =
    cuda_impl<MatmulArgs, launch, workspace, fits, preferred>(variants);

}  // namespace kolmo
