#include <algorithm>
#include <cmath>
#include <limits>

#include "kolmo/device/multiprocessors.cuh"
#include "kolmo/op/impl.hpp"
#include "kolmo/ops/dense/matmul/dots.cuh"
#include "kolmo/ops/dense/matmul/double_tiles.cuh"
#include "kolmo/ops/dense/matmul/few_rows.cuh"
#include "kolmo/ops/dense/matmul/few_rows_f32.cuh"
#include "kolmo/ops/dense/matmul/launches.cuh"
#include "kolmo/ops/dense/matmul/matmul_split.hpp"
#include "kolmo/ops/dense/matmul/tensor_cores.cuh"
#include "kolmo/ops/dense/matmul/tiles.cuh"
#ifndef SIMT
#include "kolmo/ops/dense/matmul/warpgroup_tiles.cuh"
#include "kolmo/runtime/cuda/tensor_copies.hpp"
#endif
#include "kolmo/runtime/cuda/cublaslt.hpp"

namespace kolmo {
namespace {

using Plan = MatmulPlan;
using Engine = Plan::Engine;
constexpr Row<Plan> plans[] = {
    {"tensor wmma 128x128", {Engine::tensor_cores, 0}},
    {"tensor wmma 64x64", {Engine::tensor_cores, 1}},
    {"tensor wmma 32x32", {Engine::tensor_cores, 2}},
    {"tensor wmma 64x64, k in 4", {Engine::tensor_cores, 1, 4}},
    {"tensor wmma 64x64, k in 16", {Engine::tensor_cores, 1, 16}},
    {"tensor wmma 64x64, k in 64", {Engine::tensor_cores, 1, 64}},
    {"tensor wmma 32x32, k in 16", {Engine::tensor_cores, 2, 16}},
    {"tensor mma 16x32", {Engine::few_rows}},
    {"f32 rows 16x32", {Engine::few_rows_f32}},
    {"f32 tiles 128x256", {Engine::tiles_f32, 0}},
    {"f32 tiles 128x128", {Engine::tiles_f32, 1}},
    {"f32 tiles 128x64", {Engine::tiles_f32, 2}},
    {"f32 tiles 32x32", {Engine::tiles_f32, 3}},
    {"f32 tiles 128x64, 2 teams", {Engine::tiles_f32, 4}},
    {"f32 tiles 64x64, 4 teams", {Engine::tiles_f32, 5}},
    {"f32 tiles 64x64, 4 teams, k in 4", {Engine::tiles_f32, 5, 4}},
    {"f32 tiles 64x64, 4 teams, k in 32", {Engine::tiles_f32, 5, 32}},
    {"f32 tiles 64x64, 4 teams, k in 128", {Engine::tiles_f32, 5, 128}},
    {"f32 tiles 32x32, k in 4", {Engine::tiles_f32, 3, 4}},
    {"f64 tiles 32x32", {Engine::tiles_f64, 6}},
    {"f64 tensor tiles 128x64", {Engine::doubles, 0}},
    {"f64 tensor tiles 64x64", {Engine::doubles, 1}},
    {"f64 tensor tiles 64x64, k in 8", {Engine::doubles, 1, 8}},
    {"f64 tensor tiles 64x64, k in 64", {Engine::doubles, 1, 64}},
    {"dot products", {Engine::dots}},
    {.name = "tensor wgmma 128x256", .config = {Engine::warpgroups, 0}, .hardware_only = true},
    {.name = "tensor wgmma 128x128", .config = {Engine::warpgroups, 1}, .hardware_only = true},
    {.name = "tensor wgmma 128x64", .config = {Engine::warpgroups, 2}, .hardware_only = true},
    {"f32 by bf16, wmma 128x128", {Engine::split_tensor_cores, 0}},
    {"f32 by bf16, wmma 64x64", {Engine::split_tensor_cores, 1}},
    {.name = "f32 by bf16, wgmma 128x256", .config = {Engine::split_warpgroups, 0}, .hardware_only = true},
    {.name = "f32 by bf16, wgmma 128x128", .config = {Engine::split_warpgroups, 1}, .hardware_only = true},
    {.name = "cublaslt", .config = {Engine::vendor}, .hardware_only = true, .vendor = true},
    {.name = "naive", .config = {Engine::naive}, .naive = true},
};

constexpr int naive_block = 128;

/// Each thread computes one element of y directly from a and b in global memory.
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

void launch_dots(const MatmulArgs& x, Stream& s) {
  const MatmulSizes of(x);
  visit<double, float, Half, BFloat16>(x.a.dtype, [&]<class T> {
    const auto launch = [&](auto* kernel) {
      cuda::launch(kernel, cuda::blocks(of.batch * of.n, dot_block / 32), dot_block, 0, cuda::native(s),
                   gemm_of<T>(x), whole_packs(x.a) && whole_packs(x.b));
    };
    of.m == 1 ? launch(dots<T, 1>) : launch(dots<T, most_dot_rows>);
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

std::size_t workspace_bytes(const MatmulArgs& x, int variant) {
  const Plan plan = plans[variant].config;
  if (plan.engine == Engine::vendor) return cuda::vendor_matmul_workspace;
  const std::size_t sum = x.a.dtype == DType::f64 ? sizeof(double) : sizeof(float);
  return plan.parts > 1 ? std::size_t(plan.parts) * std::size_t(x.y.size()) * sum : 0;
}

bool splits(const Plan& plan) {
  return plan.engine == Engine::split_warpgroups || plan.engine == Engine::split_tensor_cores;
}

void* take_workspace(Arena& arena, const MatmulArgs& x, int variant) {
  return arena.take<std::byte>(std::int64_t(workspace_bytes(x, variant)));
}

void launch(const MatmulArgs& x, Arena scratch, Stream& s, int variant) {
  const Plan plan = plans[variant].config;
  if (splits(plan)) return on_cuda::launch_split(x, plan, scratch, s);
  void* const workspace = take_workspace(scratch, x, variant);
  switch (plan.engine) {
    case Engine::warpgroups:
#ifndef SIMT
      on_cuda::launch_warpgroups(x, plan, s);
#endif
      break;
    case Engine::tensor_cores:
      return on_cuda::launch_wmma(x, plan, workspace, s);
    case Engine::few_rows:
      return on_cuda::launch_few_rows(x, s);
    case Engine::few_rows_f32:
      return on_cuda::launch_few_rows_f32(x, s);
    case Engine::tiles_f32:
      return on_cuda::launch_tiles_f32(x, plan, workspace, s);
    case Engine::tiles_f64:
      return on_cuda::launch_tiles_f64(x, plan, workspace, s);
    case Engine::doubles:
      return on_cuda::launch_doubles(x, plan, workspace, s);
    case Engine::dots:
      return launch_dots(x, s);
    case Engine::vendor:
      return cuda::vendor_matmul(vendor_call(x), workspace, s);
    case Engine::naive:
      return launch_naive(x, s);
    case Engine::split_warpgroups:
    case Engine::split_tensor_cores:
      break;
  }
}

#ifdef SIMT
bool warpgroups_fit(const MatmulArgs&, int) { return false; }
bool split_warpgroups_fit(const MatmulArgs&, int) { return false; }
#else
/// Whether the copy engine can copy the factors: their rows must begin at multiples of 16 bytes.
bool warpgroups_fit(const MatmulArgs& x, int shape) {
#ifdef KOLMO_SM90A
  const MatmulSizes s(x);
  const std::int64_t clusters = clusters_of(x, warpgroup_shapes[shape]);
  return (x.a.dtype == DType::f16 || x.a.dtype == DType::bf16) && s.k > 0 && x.alpha != 0 &&
         whole_packs(x.a) && whole_packs(x.b) && s.batch < limit && clusters > 0 && clusters < limit &&
         cuda::is_hopper(x.y.device.index);
#else
  return (void)x, (void)shape, false;
#endif
}
/// The parts of the factors always lie as the copy engine needs them.
bool split_warpgroups_fit(const MatmulArgs& x, int shape) {
#ifdef KOLMO_SM90A
  const std::int64_t clusters = clusters_of(x, warpgroup_shapes[shape]);
  return MatmulSizes(x).batch < limit && clusters > 0 && clusters < limit &&
         cuda::is_hopper(x.y.device.index);
#else
  return (void)x, (void)shape, false;
#endif
}
#endif

constexpr std::size_t most_workspace = std::size_t(256) << 20;

/// Whether every part of k has at least one step.
template <class Shape>
bool shape_fits(const MatmulArgs& x, const Shape& shape, const Plan& plan) {
  return blocks_of(x, shape, plan) < limit &&
         (plan.parts == 1 || MatmulSizes(x).k > std::int64_t(plan.parts - 1) * shape.depth);
}

/// Whether f32 may be multiplied by products of bf16, with the workspace that this takes.
bool split_fits(const MatmulArgs& x) {
  constexpr double most_bytes = 1 << 30;
  const MatmulSizes s(x);
  return x.a.dtype == DType::f32 && x.accuracy >= MatmulSplit::accuracy && s.k > 0 && x.alpha != 0 &&
         x.y.size() > 0 && MatmulSplit::bytes(x) <= most_bytes;
}

void lay(Arena& arena, const MatmulArgs& x, const Site& site) {
  if (splits(plans[site.row].config))
    MatmulSplit(arena, x);
  else
    take_workspace(arena, x, site.row);
}

bool fits(const MatmulArgs& x, int variant) {
  const MatmulSizes s(x);
  if (s.m > limit || s.n > limit || s.k > limit || workspace_bytes(x, variant) > most_workspace) return false;
  const Plan plan = plans[variant].config;
  const DType t = x.a.dtype;
  switch (plan.engine) {
    case Engine::warpgroups:
      return x.y.device.kind != DeviceKind::simt && warpgroups_fit(x, plan.shape);
    case Engine::tensor_cores:
      return (t == DType::f16 || t == DType::bf16) && shape_fits(x, warp_tile_shapes[plan.shape], plan);
    case Engine::split_warpgroups:
      return x.y.device.kind != DeviceKind::simt && split_fits(x) && split_warpgroups_fit(x, plan.shape);
    case Engine::split_tensor_cores:
      return split_fits(x) && shape_fits(x, warp_tile_shapes[plan.shape], plan);
    case Engine::few_rows:
      return (t == DType::f16 || t == DType::bf16) && s.m <= FewRows::rows && whole_packs(x.b) &&
             shape_fits(x, FewRows{}, plan);
    case Engine::few_rows_f32:
      return t == DType::f32 && s.m <= FewRowsF32::rows && s.k <= FewRowsF32::most_k && whole_packs(x.b) &&
             shape_fits(x, FewRowsF32{}, plan);
    case Engine::tiles_f32:
      return t == DType::f32 && shape_fits(x, tile_shapes[plan.shape], plan);
    case Engine::tiles_f64:
      return t == DType::f64 && shape_fits(x, tile_shapes[plan.shape], plan);
    case Engine::doubles:
      return t == DType::f64 && shape_fits(x, double_tile_shapes[plan.shape], plan);
    case Engine::dots:
      return s.m <= most_dot_rows && x.transpose_b && (!x.transpose_a || s.m == 1);
    case Engine::vendor:
      return x.y.device.kind != DeviceKind::simt && cuda::vendor_matmul_fits(vendor_call(x));
    default:
      return true;
  }
}

/// Estimated microseconds on a device whose multiprocessors are those of an H200, without the cost that all plans have in
/// common. A multiprocessor computes its share of the blocks in the time of their arithmetic, but not faster than one block
/// takes for its steps; then it writes the tiles. If k is split, the parts' sums additionally pass through memory and a
/// second kernel.
template <class Shape>
double estimate(const MatmulArgs& x, const Shape& shape, const Plan& plan, double of_element) {
  constexpr double of_byte = 2.5e-7, of_combine = 4;
  const double multiprocessors = cuda::multiprocessors(x.y.device.index);
  const double steps = std::ceil(std::ceil(double(MatmulSizes(x).k) / shape.depth) / plan.parts);
  const double blocks = std::ceil(double(blocks_of(x, shape, plan)) / multiprocessors);
  const double time = std::max(shape.step.alone, blocks * shape.step.shared) * steps +
                      blocks * shape.rows * shape.columns * of_element;
  const double bytes = 2.0 * plan.parts * double(x.y.size()) * (x.a.dtype == DType::f64 ? 8 : 4);
  return plan.parts == 1 ? time : time + of_combine + bytes * of_byte;
}

/// Estimates the time of the engine `dots`, which is that of reading b.
double estimated_dots(const MatmulArgs& x) {
  constexpr double of_byte = 2.8e-7, of_round = 1;
  return of_round + double(x.b.size()) * double(size_of(x.b.dtype)) * of_byte;
}

/// The cost of three kernels for each chunk of k, which pass the parts of the factors through memory.
template <class Shape>
double estimated_split(const MatmulArgs& x, const Shape& shape, const Plan& plan, double of_element) {
  constexpr double of_byte = 2.5e-7, of_kernels = 6;
  const MatmulSizes s(x);
  const double chunks = std::ceil(double(s.k) / MatmulSplit::chunk);
  const double bytes = 16. * double(s.batch) * double(s.m + s.n) * double(s.k);
  const double tiles =
      chunks * std::ceil(double(blocks_of(x, shape, plan)) / cuda::multiprocessors(x.y.device.index));
  return MatmulSplit::products * estimate(x, shape, plan, 0) +
         tiles * shape.rows * shape.columns * of_element + bytes * of_byte + chunks * of_kernels;
}

double estimate(const MatmulArgs& x, const Plan& plan) {
  // The time until the first pieces are there, if they have many stages or come by the copy engine.
  constexpr double of_pipeline = 1.5;
  switch (plan.engine) {
#ifndef SIMT
    case Engine::warpgroups: {
      const WarpgroupShape& shape = warpgroup_shapes[plan.shape];
      const bool smooth = x.activation > Activation::relu;
      return estimate(x, shape, plan, smooth ? 1.2e-4 : 0.5e-4) + of_pipeline;
    }
#endif
    case Engine::tensor_cores:
      return estimate(x, warp_tile_shapes[plan.shape], plan, 1.6e-4);
#ifndef SIMT
    case Engine::split_warpgroups:
      return estimated_split(x, warpgroup_shapes[plan.shape], plan, 0.8e-4);
#endif
    case Engine::split_tensor_cores:
      return estimated_split(x, warp_tile_shapes[plan.shape], plan, 1.6e-4);
    case Engine::few_rows:
      return estimate(x, FewRows{}, plan, 0);
    case Engine::few_rows_f32:
      return estimate(x, FewRowsF32{}, plan, 0) + of_pipeline;
    case Engine::doubles:
      return estimate(x, double_tile_shapes[plan.shape], plan,
                      adds_c(x) || x.activation > Activation::relu ? 1e-3 : 2e-4) +
             of_pipeline;
    case Engine::dots:
      return estimated_dots(x);
    default:
      return estimate(x, tile_shapes[plan.shape], plan, tile_shapes[plan.shape].teams > 1 ? 4e-4 : 2e-4);
  }
}

/// Chooses the plan of tiles with the shortest estimated time; never the vendor's library.
int preferred(const MatmulArgs& x) {
  constexpr int last = int(std::size(plans)) - 1;
  static_assert(plans[last].config.engine == Engine::naive);
  int best = last;
  double least = std::numeric_limits<double>::infinity();
  for (int v = 0; v < last; ++v) {
    if (plans[v].vendor || !fits(x, v)) continue;
    if (const double time = estimate(x, plans[v].config); time < least) best = v, least = time;
  }
  return best;
}

}  // namespace

extern constinit const Impl<MatmulArgs> matmul_cuda{
    {.rows = plans, .launch = launch, .lay = lay, .fits = fits, .preferred = preferred}};

}  // namespace kolmo
