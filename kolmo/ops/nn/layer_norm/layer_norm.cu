#include "kolmo/device/row_tile.cuh"
#include "kolmo/ops/nn/layer_norm/layer_norm.hpp"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {
using A = LayerNormArgs;

/// Who takes a row: `threads` hold it in registers; or blocks of `threads` hold parts of it; or one thread
/// goes over it three times.
enum class Way { whole, parts, thread };
struct Shape {
  Way way;
  int threads, block;
};
constexpr Shape shapes[] = {{Way::whole, 32, 128},  {Way::whole, 128, 128}, {Way::whole, 256, 256},
                            {Way::whole, 512, 512}, {Way::parts, 256, 256}, {Way::parts, 128, 128},
                            {Way::thread, 1, 128}};
constexpr Variant variants[] = {{"warp per row"},
                                {"block of 128 per row"},
                                {"block of 256 per row"},
                                {"block of 512 per row"},
                                {"row in parts of a block of 256"},
                                {"row in parts of a block of 128"},
                                {.name = "thread per row", .naive = true}};

/// Inlined for each pack of a tile, the error function would be most of the kernel.
template <class C, int W>
[[gnu::noinline]] __device__ Pack<C, W> activated(Activation f, Pack<C, W> x) {
#pragma unroll
  for (int w = 0; w < W; ++w) x.value[w] = activate(f, x.value[w]);
  return x;
}

template <class T>
struct Problem {
  using C = Compute<T>;
  const T *x, *scale, *shift;
  T* y;
  double *mean, *rstd;
  std::int64_t rows, k;
  C eps;
  Activation activation;

  __device__ C rstd_of(C squares) const { return 1 / std::sqrt(squares / C(k) + eps); }
  __device__ void keep(std::int64_t row, C mean_, C rstd_) const {
    if (mean) mean[row] = double(mean_);
    if (rstd) rstd[row] = double(rstd_);
  }
  /// Writes W normalised elements of v to y from `at` of row `row` on.
  template <int W>
  __device__ void write(const C* v, std::int64_t row, std::int64_t at, C mean_, C rstd_) const {
    Pack<T, W> factor{}, summand{}, out;
    if (scale) factor = load_pack<W>(scale + at);
    if (shift) summand = load_pack<W>(shift + at);
    Pack<C, W> result;
#pragma unroll
    for (int w = 0; w < W; ++w)
      result.value[w] = (v[w] - mean_) * rstd_ * (scale ? C(factor.value[w]) : C(1)) + C(summand.value[w]);
    if (activation != Activation::none) result = activated(activation, result);
#pragma unroll
    for (int w = 0; w < W; ++w) out.value[w] = T(result.value[w]);
    store_pack(y + row * k + at, out);
  }
};

/// Mean and sum of squared deviations of n elements.
template <class C>
struct Moments {
  C mean, squares;
};

template <int Threads, class Tile, class C>
__device__ Moments<C> moments(Tile& tile, C n) {
  C sum = 0, squares = 0;
  tile.each([&](C v) { sum += v; });
  const C mean = cuda::combine<Threads>(sum, cuda::Plus()) / n;
  tile.each([&](C v) { squares += (v - mean) * (v - mean); });
  return {mean, cuda::combine<Threads>(squares, cuda::Plus())};
}

template <class T, int Threads, int Block, int W, int E>
__global__ void __launch_bounds__(Block) whole_rows(Problem<T> p) {
  using C = Compute<T>;
  constexpr int groups = Block / Threads;
  cuda::RowTile<T, Threads, W, E> tile;
  tile.n = int(p.k), tile.thread = int(threadIdx.x) % Threads;
  for (std::int64_t row = std::int64_t(blockIdx.x) * groups + threadIdx.x / Threads; row < p.rows;
       row += std::int64_t(gridDim.x) * groups) {
    tile.load(p.x + row * p.k);
    const Moments<C> m = moments<Threads>(tile, C(p.k));
    const C rstd = p.rstd_of(m.squares);
    tile.each_pack([&](const C* v, int at) { p.template write<W>(v, row, at, m.mean, rstd); });
    if (tile.thread == 0) p.keep(row, m.mean, rstd);
  }
}

template <class T, int Block, int W>
__global__ void __launch_bounds__(Block)
    moments_of_parts(Problem<T> p, Moments<Compute<T>>* partial, std::int64_t parts) {
  using C = Compute<T>;
  for (std::int64_t item = blockIdx.x; item < p.rows * parts; item += gridDim.x) {
    std::int64_t begin = 0;
    auto tile = cuda::load_part<T, Block, W>(p.x, p.k, parts, item, begin);
    const Moments<C> m = moments<Block>(tile, C(tile.n));
    if (threadIdx.x == 0) partial[item] = m;
  }
}

/// Joins the moments of the parts (Chan, Golub & LeVeque 1979) and writes one part.
template <class T, int Block, int W>
__global__ void __launch_bounds__(Block)
    write_parts(Problem<T> p, const Moments<Compute<T>>* partial, std::int64_t parts) {
  using C = Compute<T>;
  constexpr std::int64_t part = Block * cuda::tile_elements<T>;
  const auto length = [&](std::int64_t i) { return C(i + 1 < parts ? part : p.k - i * part); };
  for (std::int64_t item = blockIdx.x; item < p.rows * parts; item += gridDim.x) {
    const std::int64_t row = quotient(item, parts);
    std::int64_t begin = 0;
    auto tile = cuda::load_part<T, Block, W>(p.x, p.k, parts, item, begin);
    const Moments<C>* const of_row = partial + row * parts;
    C mean = 0, squares = 0;
    for (std::int64_t i = threadIdx.x; i < parts; i += Block) mean += length(i) * of_row[i].mean;
    mean = cuda::combine<Block>(mean, cuda::Plus()) / C(p.k);
    for (std::int64_t i = threadIdx.x; i < parts; i += Block) {
      const C d = of_row[i].mean - mean;
      squares += of_row[i].squares + length(i) * d * d;
    }
    const C rstd = p.rstd_of(cuda::combine<Block>(squares, cuda::Plus()));
    tile.each_pack([&](const C* v, int at) { p.template write<W>(v, row, begin + at, mean, rstd); });
    if (begin == 0 && threadIdx.x == 0) p.keep(row, mean, rstd);
  }
}

template <class T>
__global__ void simple(Problem<T> p) {
  using C = Compute<T>;
  for (std::int64_t row = cuda::thread_index(); row < p.rows; row += cuda::thread_count()) {
    const T* const x = p.x + row * p.k;
    double sum = 0, squares = 0;
    for (std::int64_t i = 0; i < p.k; ++i) sum += double(x[i]);
    const double mean = sum / double(p.k);
    for (std::int64_t i = 0; i < p.k; ++i) squares += (double(x[i]) - mean) * (double(x[i]) - mean);
    const C rstd = p.rstd_of(C(squares));
    for (std::int64_t i = 0; i < p.k; ++i) {
      const C v = C(x[i]);
      p.template write<1>(&v, row, i, C(mean), rstd);
    }
    p.keep(row, C(mean), rstd);
  }
}

std::int64_t row_length(const A& a) { return a.x.extent[std::size_t(a.x.rank - 1)]; }

template <class T, Shape S>
void launch_as(const Problem<T>& p, void* workspace, Stream& s) {
  const auto start = [&](auto kernel, std::int64_t blocks, auto... arguments) {
    cuda::launch(kernel, cuda::blocks(blocks, 1), S.block, 0, cuda::native(s), p, arguments...);
  };
  const bool packed = p.k % pack_width<T> == 0 && packed_rows<T>(p.rows, p.k, p.x, p.y, p.scale, p.shift);
  if constexpr (S.way == Way::thread) {
    start(simple<T>, (p.rows + S.block - 1) / S.block);
  } else if constexpr (S.way == Way::whole) {
    constexpr int groups = S.block / S.threads;
    cuda::select_tile<T, S.threads>(packed, p.k, [&]<int W, int E> {
      start(whole_rows<T, S.threads, S.block, W, E>, (p.rows + groups - 1) / groups);
    });
  } else {
    const std::int64_t parts = cuda::tile_parts<T>(p.k, S.threads);
    auto* const partial = static_cast<Moments<Compute<T>>*>(workspace);
    const auto run = [&]<int W> {
      start(moments_of_parts<T, S.block, W>, p.rows * parts, partial, parts);
      start(write_parts<T, S.block, W>, p.rows * parts, partial, parts);
    };
    packed ? run.template operator()<pack_width<T>>() : run.template operator()<1>();
  }
}

void launch(const A& a, void* workspace, Stream& s, int variant) {
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> {
    const std::int64_t k = row_length(a);
    const Problem<T> p{a.x.as<T>(),         a.scale.as<T>(),     a.shift.as<T>(), a.y.as<T>(),
                       a.mean.as<double>(), a.rstd.as<double>(), a.x.size() / k,  k,
                       Compute<T>(a.eps),   a.activation};
    cuda::select<std::size(shapes)>(variant, [&]<int V> { launch_as<T, shapes[V]>(p, workspace, s); });
  });
}

std::size_t workspace(const A& a, int variant) {
  if (shapes[variant].way != Way::parts) return 0;
  std::size_t bytes = 0;
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> {
    const std::int64_t k = row_length(a);
    bytes = std::size_t(a.x.size() / k * cuda::tile_parts<T>(k, shapes[variant].threads)) *
            sizeof(Moments<Compute<T>>);
  });
  return bytes;
}

bool fits(const A& a, int variant) {
  const int elements = a.x.dtype == DType::f64 ? cuda::tile_elements<double> : cuda::tile_elements<float>;
  return shapes[variant].way != Way::whole || row_length(a) <= shapes[variant].threads * elements;
}

}  // namespace

extern constinit const CudaImpl layer_norm_cuda = cuda_impl<A, launch, workspace, fits>(variants);

}  // namespace kolmo
