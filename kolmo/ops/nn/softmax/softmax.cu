#include "kolmo/device/row_tile.cuh"
#include "kolmo/ops/nn/softmax/softmax.hpp"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {
using A = SoftmaxArgs;

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

template <class C>
struct Partial {
  C largest, sum;  // of std::exp(x - largest); 0 where all x are -inf
};

template <class T, int Threads, int Block, int W, int E>
__global__ void __launch_bounds__(Block) whole_rows(const T* x, T* y, std::int64_t rows, int k) {
  using C = Compute<T>;
  constexpr int groups = Block / Threads;
  cuda::RowTile<T, Threads, W, E> tile;
  tile.n = k, tile.thread = int(threadIdx.x) % Threads;
  for (std::int64_t row = std::int64_t(blockIdx.x) * groups + threadIdx.x / Threads; row < rows;
       row += std::int64_t(gridDim.x) * groups) {
    tile.load(x + row * k);
    C largest = C(-INFINITY), sum = 0;
    tile.each([&](C v) { largest = cuda::Larger()(v, largest); });
    largest = cuda::combine<Threads>(largest, cuda::Larger());
    tile.each([&](C& v) { sum += v = std::exp(v - largest); });
    const C scale = 1 / cuda::combine<Threads>(sum, cuda::Plus());
    tile.each([&](C& v) { v *= scale; });
    tile.store(y + row * k);
  }
}

template <class T, int Block, int W>
__global__ void __launch_bounds__(Block) sum_parts(const T* x, Partial<Compute<T>>* partial,
                                                   std::int64_t items, std::int64_t k, std::int64_t parts) {
  using C = Compute<T>;
  for (std::int64_t item = blockIdx.x; item < items; item += gridDim.x) {
    std::int64_t begin = 0;
    auto tile = cuda::load_part<T, Block, W>(x, k, parts, item, begin);
    C largest = C(-INFINITY), sum = 0;
    tile.each([&](C v) { largest = cuda::Larger()(v, largest); });
    largest = cuda::combine<Block>(largest, cuda::Larger());
    tile.each([&](C v) { sum += v == C(-INFINITY) ? C(0) : std::exp(v - largest); });
    sum = cuda::combine<Block>(sum, cuda::Plus());
    if (threadIdx.x == 0) partial[item] = {largest, sum};
  }
}

template <class T, int Block, int W>
__global__ void __launch_bounds__(Block) scale_parts(const T* x, const Partial<Compute<T>>* partial, T* y,
                                                     std::int64_t items, std::int64_t k, std::int64_t parts) {
  using C = Compute<T>;
  for (std::int64_t item = blockIdx.x; item < items; item += gridDim.x) {
    const std::int64_t row = quotient(item, parts);
    std::int64_t begin = 0;
    auto tile = cuda::load_part<T, Block, W>(x, k, parts, item, begin);
    const auto* const of_row = partial + row * parts;
    C largest = C(-INFINITY), sum = 0;
    for (std::int64_t p = threadIdx.x; p < parts; p += Block)
      largest = cuda::Larger()(of_row[p].largest, largest);
    largest = cuda::combine<Block>(largest, cuda::Larger());
    for (std::int64_t p = threadIdx.x; p < parts; p += Block)
      sum += of_row[p].sum == 0 ? C(0) : of_row[p].sum * std::exp(of_row[p].largest - largest);
    const C scale = 1 / cuda::combine<Block>(sum, cuda::Plus());
    tile.each([&](C& v) { v = std::exp(v - largest) * scale; });
    tile.store(y + row * k + begin);
  }
}

template <class T>
__global__ void simple(const T* x, T* y, std::int64_t rows, std::int64_t k) {
  using C = Compute<T>;
  for (std::int64_t row = cuda::thread_index(); row < rows; row += cuda::thread_count()) {
    C largest = C(-INFINITY);
    double sum = 0;
    for (std::int64_t i = row * k; i < (row + 1) * k; ++i) largest = cuda::Larger()(C(x[i]), largest);
    for (std::int64_t i = row * k; i < (row + 1) * k; ++i) sum += std::exp(C(x[i]) - largest);
    for (std::int64_t i = row * k; i < (row + 1) * k; ++i) y[i] = T(std::exp(C(x[i]) - largest) / C(sum));
  }
}

std::int64_t row_length(const A& a) { return a.x.extent[std::size_t(a.x.rank - 1)]; }

template <class T, Shape S>
void launch_as(const A& a, void* workspace, Stream& s) {
  const std::int64_t k = row_length(a), rows = a.x.size() / k;
  const T* const x = a.x.as<T>();
  T* const y = a.y.as<T>();
  const bool packed = k % pack_width<T> == 0 && packed_rows<T>(rows, k, x, y);
  if constexpr (S.way == Way::thread) {
    cuda::launch(simple<T>, cuda::blocks(rows, S.block), S.block, 0, cuda::native(s), x, y, rows, k);
  } else if constexpr (S.way == Way::whole) {
    cuda::select_tile<T, S.threads>(packed, k, [&]<int W, int E> {
      cuda::launch(whole_rows<T, S.threads, S.block, W, E>, cuda::blocks(rows, S.block / S.threads), S.block,
                   0, cuda::native(s), x, y, rows, int(k));
    });
  } else {
    const std::int64_t parts = cuda::tile_parts<T>(k, S.threads), items = rows * parts;
    auto* const partial = static_cast<Partial<Compute<T>>*>(workspace);
    const auto run = [&]<int W> {
      cuda::launch(sum_parts<T, S.block, W>, cuda::blocks(items, 1), S.block, 0, cuda::native(s), x, partial,
                   items, k, parts);
      cuda::launch(scale_parts<T, S.block, W>, cuda::blocks(items, 1), S.block, 0, cuda::native(s), x,
                   partial, y, items, k, parts);
    };
    packed ? run.template operator()<pack_width<T>>() : run.template operator()<1>();
  }
}

void launch(const A& a, void* workspace, Stream& s, int variant) {
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> {
    cuda::select<std::size(shapes)>(variant, [&]<int V> { launch_as<T, shapes[V]>(a, workspace, s); });
  });
}

std::size_t workspace(const A& a, int variant) {
  if (shapes[variant].way != Way::parts) return 0;
  std::size_t bytes = 0;
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> {
    const std::int64_t k = row_length(a);
    bytes = std::size_t(a.x.size() / k * cuda::tile_parts<T>(k, shapes[variant].threads)) *
            sizeof(Partial<Compute<T>>);
  });
  return bytes;
}

bool fits(const A& a, int variant) {
  const int elements = a.x.dtype == DType::f64 ? cuda::tile_elements<double> : cuda::tile_elements<float>;
  return shapes[variant].way != Way::whole || row_length(a) <= shapes[variant].threads * elements;
}

}  // namespace

extern constinit const CudaImpl softmax_cuda = cuda_impl<A, launch, workspace, fits>(variants);

}  // namespace kolmo
