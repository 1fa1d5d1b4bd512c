#include "kolmo/base/convert.hpp"
#include "kolmo/base/quotient.hpp"
#include "kolmo/device/activation.cuh"
#include "kolmo/device/read_once.cuh"
#include "kolmo/device/reduce.cuh"
#include "kolmo/ops/nn/batch_norm/batch_norm_channels.hpp"
#include "kolmo/skeleton/steps.cuh"

namespace kolmo {
namespace {
using A = BatchNormArgs;

/// The `run` of sum_rows: a thread for each sum of a column, a warp for each of a short row, else a block.
struct SumsOfChannels {
  cudaStream_t stream;
  template <class Job>
  void operator()(const Job& job, std::int64_t items, std::int64_t terms) const {
    if constexpr (requires { job.rows.shape; }) {
      if (job.rows.shape.columns())
        return cuda::launch_column_sums<Job::sums>(job.rows, job.done, items, stream);
      if (terms <= 256) return run<1>(job, items);
    }
    run<2>(job, items);
  }
  template <int Shape, class Job>
  void run(const Job& job, std::int64_t items) const {
    cuda::launch_items<cuda::sum_shapes[Shape]>(job, items, stream);
  }
};

/// An item is 16 bytes of x, or one element if tensors do not start at multiples of 16 bytes.
template <class T>
struct NormaliseItem {
  using C = Compute<T>;
  static constexpr int width = pack_width<T>;
  const T* x;
  T* y;
  const ChannelMap<C>* map;
  BatchShape shape;
  Activation activation;
  bool training, packed;

  NormaliseItem(const A& a, const ChannelMap<C>* m)
      : x(a.x.as<T>()),
        y(a.y.as<T>()),
        map(m),
        shape(a),
        activation(a.activation),
        training(a.training),
        packed(a.x.size() % width == 0 && packed_rows<T>(1, 0, x, y)) {}
  KOLMO_HD std::int64_t items() const { return shape.n * shape.c * shape.s / (packed ? width : 1); }
  /// In training from the last item on, as caches hold what was read last for the statistics.
  __device__ void operator()(std::int64_t i) const {
    if (training) i = items() - 1 - i;
    packed ? normalise<width>(i) : normalise<1>(i);
  }

  /// Writes results of W elements from the (i W)-th on.
  template <int W>
  __device__ void keep(std::int64_t i, Pack<C, W> v) const {
    if (activation != Activation::none) v = cuda::activated(activation, v);
    if (training)
      cuda::write_once(y + i * W, narrowed<T>(v));
    else
      store_pack(y + i * W, narrowed<T>(v));
  }

 private:
  template <int W>
  __device__ void normalise(std::int64_t i) const {
    const std::int64_t row = quotient(i * W, shape.s);
    std::int64_t place = i * W - row * shape.s, channel = row - quotient(row, shape.c) * shape.c;
    Pack<C, W> v = widened(load_pack<W>(x + i * W));
    ChannelMap<C> of = map[channel];
#pragma unroll
    for (int w = 0; w < W; ++w) {
      if (place == shape.s) {
        place = 0, channel = channel + 1 == shape.c ? 0 : channel + 1;
        of = map[channel];
      }
      v.value[w] = of(v.value[w]), ++place;
    }
    keep<W>(i, v);
  }
};

/// Channels that lie side by side: a thread has 16 bytes of them in every rows-th row, from the last row on, with their maps.
template <class T>
__global__ void __launch_bounds__(256)
    normalise_columns(cuda::EarlyStart early, NormaliseItem<T> f, std::int64_t rows) {
  using C = typename NormaliseItem<T>::C;
  constexpr int W = NormaliseItem<T>::width, width = pack_width<C>;
  early.wait();
  const std::int64_t packs = f.shape.c / W, thread = cuda::thread_index(), first = quotient(thread, packs),
                     pack = thread - first * packs;
  if (first >= rows) return;
  alignas(16) ChannelMap<C> of[W];
  const C* const from = reinterpret_cast<const C*>(f.map + pack * W);
#pragma unroll
  for (int at = 0; at < 3 * W; at += width)
    store_pack(reinterpret_cast<C*>(of) + at, load_pack<width>(from + at));
#pragma unroll 4
  for (std::int64_t row = f.shape.n - 1 - first; row >= 0; row -= rows) {
    const std::int64_t i = row * packs + pack;
    Pack<C, W> v = widened(load_pack<W>(f.x + i * W));
#pragma unroll
    for (int w = 0; w < W; ++w) v.value[w] = of[w](v.value[w]);
    f.template keep<W>(i, v);
  }
}

template <class T>
void normalise(const NormaliseItem<T>& f, Stream& s) {
  constexpr std::int64_t rows_each = 8;
  const auto& [n, c, size] = f.shape;
  if (!f.packed || size != 1 || c % f.width != 0) return cuda::do_step(f, s);
  const std::int64_t rows = (n + rows_each - 1) / rows_each;
  cuda::launch_early(normalise_columns<T>, cuda::blocks(rows * (c / f.width), 256), 256, 0, cuda::native(s),
                     f, rows);
}

void launch(const A& a, Arena arena, Stream& s, int) {
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> {
    const BatchNormScratch<T> scratch(arena, a);
    if (a.training)
      scratch.measure_channels(a, SumsOfChannels{cuda::native(s)});
    else
      cuda::do_step(scratch.prepare(a), s);
    normalise(NormaliseItem<T>(a, scratch.map), s);
  });
}

void lay(Arena& arena, const A& a, const Site&) {
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> { BatchNormScratch<T>(arena, a); });
}

}  // namespace

extern constinit const Impl<A> batch_norm_cuda{{.launch = launch, .lay = lay}};

}  // namespace kolmo
