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

/// What items that normalise share. `packed`: tensors start at multiples of 16 bytes.
template <class T>
struct Normaliser {
  using C = Compute<T>;
  static constexpr int width = pack_width<T>;
  const T* x;
  T* y;
  const ChannelMap<C>* map;
  BatchShape shape;
  Activation activation;
  bool training, packed;

  Normaliser(const A& a, const ChannelMap<C>* m)
      : x(a.x.as<T>()),
        y(a.y.as<T>()),
        map(m),
        shape(a),
        activation(a.activation),
        training(a.training),
        packed(a.x.size() % width == 0 && packed_rows<T>(1, 0, x, y)) {}

 protected:
  template <int W>
  __device__ void write(T* to, Pack<C, W> v) const {
    if (activation != Activation::none) v = cuda::activated(activation, v);
    if (training)
      cuda::write_once(to, narrowed<T>(v));
    else
      store_pack(to, narrowed<T>(v));
  }
};

/// An item is 16 bytes of x, or one element if tensors are not packed. In training from the last item on, as caches hold what was
/// read last for the statistics.
template <class T>
struct NormaliseItem : Normaliser<T> {
  using typename Normaliser<T>::C;
  using Normaliser<T>::Normaliser, Normaliser<T>::width, Normaliser<T>::packed, Normaliser<T>::shape;
  KOLMO_HD std::int64_t items() const { return shape.n * shape.c * shape.s / (packed ? width : 1); }
  __device__ void operator()(std::int64_t i) const {
    if (this->training) i = items() - 1 - i;
    packed ? normalise<width>(i) : normalise<1>(i);
  }

 private:
  template <int W>
  __device__ void normalise(std::int64_t i) const {
    const std::int64_t row = quotient(i * W, shape.s);
    std::int64_t place = i * W - row * shape.s, channel = row - quotient(row, shape.c) * shape.c;
    Pack<C, W> v = widened(load_pack<W>(this->x + i * W));
    ChannelMap<C> of = this->map[channel];
#pragma unroll
    for (int w = 0; w < W; ++w) {
      if (place == shape.s) {
        place = 0, channel = channel + 1 == shape.c ? 0 : channel + 1;
        of = this->map[channel];
      }
      v.value[w] = of(v.value[w]), ++place;
    }
    this->write(this->y + i * W, v);
  }
};

/// An item is 16 bytes of each of some rows of channels, likewise from the last on.
template <class T>
struct NormaliseRows : Normaliser<T> {
  using typename Normaliser<T>::C;
  using Normaliser<T>::Normaliser, Normaliser<T>::width, Normaliser<T>::shape;
  static constexpr int rows = 4;
  bool fits() const { return this->packed && shape.s == 1 && shape.c % width == 0; }
  KOLMO_HD std::int64_t items() const { return (shape.n + rows - 1) / rows * (shape.c / width); }
  __device__ void operator()(std::int64_t i) const {
    if (this->training) i = items() - 1 - i;
    const std::int64_t packs = shape.c / width, block = quotient(i, packs), pack = i - block * packs,
                       left = shape.n - block * rows, first = block * rows * packs + pack;
    constexpr int numbers = pack_width<C>;
    alignas(16) ChannelMap<C> of[width];
    const C* const maps = reinterpret_cast<const C*>(this->map + pack * width);
#pragma unroll
    for (int at = 0; at < 3 * width; at += numbers)
      store_pack(reinterpret_cast<C*>(of) + at, load_pack<numbers>(maps + at));
    Pack<T, width> next[rows];
#pragma unroll
    for (int r = 0; r < rows; ++r)
      if (r < left) next[r] = load_pack<width>(this->x + (first + r * packs) * width);
#pragma unroll
    for (int r = 0; r < rows; ++r)
      if (r < left) {
        Pack<C, width> v = widened(next[r]);
#pragma unroll
        for (int w = 0; w < width; ++w) v.value[w] = of[w](v.value[w]);
        this->write(this->y + (first + r * packs) * width, v);
      }
  }
};

void launch(const A& a, Arena arena, Stream& s, int) {
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> {
    const BatchNormScratch<T> scratch(arena, a);
    if (a.training)
      scratch.measure_channels(a, SumsOfChannels{cuda::native(s)});
    else
      cuda::do_step(scratch.prepare(a), s);
    if (const NormaliseRows<T> rows(a, scratch.map); rows.fits())
      cuda::do_step(rows, s);
    else
      cuda::do_step(NormaliseItem<T>(a, scratch.map), s);
  });
}

void lay(Arena& arena, const A& a, const Site&) {
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> { BatchNormScratch<T>(arena, a); });
}

}  // namespace

extern constinit const Impl<A> batch_norm_cuda{{.launch = launch, .lay = lay}};

}  // namespace kolmo
