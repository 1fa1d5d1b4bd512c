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

/// The argument `run` of sum_rows. A sum along a column is computed by a thread, that of a short row by a
/// warp, all others by a block.
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

/// Maps 16 bytes of x, or one element if tensors do not start at multiples of 16 bytes.
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
  /// In training the last items come first, since caches still hold what was read last for the statistics.
  __device__ void operator()(std::int64_t i) const {
    if (training) i = items() - 1 - i;
    packed ? normalise<width>(i) : normalise<1>(i);
  }

 private:
  template <int W>
  __device__ void normalise(std::int64_t i) const {
    const std::int64_t row = shape.s == 1 ? i * W : quotient(i * W, shape.s);
    std::int64_t place = i * W - row * shape.s, channel = row - quotient(row, shape.c) * shape.c;
    Pack<C, W> v = widened(load_pack<W>(x + i * W));
    if (W > 1 && shape.s == 1 && shape.c % W == 0) {
      constexpr int width = pack_width<C>;
      alignas(16) ChannelMap<C> of[W];
      const C* const from = reinterpret_cast<const C*>(map + channel);
#pragma unroll
      for (int at = 0; at < 3 * W; at += width)
        store_pack(reinterpret_cast<C*>(of) + at, load_pack<width>(from + at));
#pragma unroll
      for (int w = 0; w < W; ++w) v.value[w] = of[w](v.value[w]);
    } else {
      ChannelMap<C> of = map[channel];
#pragma unroll
      for (int w = 0; w < W; ++w) {
        if (place == shape.s) {
          place = 0, channel = channel + 1 == shape.c ? 0 : channel + 1;
          of = map[channel];
        }
        v.value[w] = of(v.value[w]), ++place;
      }
    }
    if (activation != Activation::none) v = cuda::activated(activation, v);
    if (training)
      cuda::write_once(y + i * W, narrowed<T>(v));
    else
      store_pack(y + i * W, narrowed<T>(v));
  }
};

void launch(const A& a, Arena arena, Stream& s, int) {
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> {
    const BatchNormScratch<T> scratch(arena, a);
    if (a.training)
      scratch.measure_channels(a, SumsOfChannels{cuda::native(s)});
    else
      cuda::do_step(scratch.prepare(a), s);
    cuda::do_step(NormaliseItem<T>(a, scratch.map), s);
  });
}

void lay(Arena& arena, const A& a, const Site&) {
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> { BatchNormScratch<T>(arena, a); });
}

}  // namespace

extern constinit const Impl<A> batch_norm_cuda{{.launch = launch, .lay = lay}};

}  // namespace kolmo
