#include "kolmo/base/pack.hpp"
#include "kolmo/device/warp.cuh"
#include "kolmo/ops/dynamics/reservoir_update/reservoir.hpp"
#include "kolmo/skeleton/item_steps.cuh"

namespace kolmo {
namespace {
using A = ReservoirUpdateArgs;

/// A lane's share of the dot product of two vectors; it reads W neighbours of each at once.
template <int W, class T>
__device__ T dot(const T* a, const T* b, std::int64_t n, int lane) {
  constexpr int together = 8, step = 32 * W;
  T sum[W] = {};
  for (std::int64_t first = lane * W; first < n; first += step * together) {
    Pack<T, W> x[together];  // reads without a branch are all in flight at once
#pragma unroll
    for (int j = 0; j < together; ++j) x[j] = load_pack<W>(a + first + (first + j * step < n ? j * step : 0));
#pragma unroll
    for (int j = 0; j < together; ++j) {
      if (first + j * step >= n) continue;
      const Pack<T, W> y = load_pack<W>(b + first + j * step);
#pragma unroll
      for (int w = 0; w < W; ++w) sum[w] += x[j].value[w] * y.value[w];
    }
  }
#pragma unroll
  for (int w = 1; w < W; ++w) sum[0] += sum[w];
  return sum[0];
}

/// The step of at most `most` states: a warp reads the weights of a neuron, and computes the neuron in each
/// state.
template <class T>
struct FewStates {
  static constexpr int block = 256;
  static constexpr std::int64_t most = 4;
  const T *input, *state, *input_weights, *weights, *bias;
  /// `sum` is null, or `next` is `state`, which other warps still read: then sums are stored, and a second
  /// kernel ends the step.
  T *next, *sum, leak;
  std::int64_t states, n, k;
  bool packs;

  FewStates(const A& a, T* sums)
      : input(a.input.as<T>()),
        state(a.state.as<T>()),
        input_weights(a.input_weights.as<T>()),
        weights(a.weights.as<T>()),
        bias(a.bias.as<T>()),
        next(a.next.as<T>()),
        sum(next == state ? sums : nullptr),
        leak(T(a.leak)),
        n(a.state.dim(-1)),
        k(a.input.dim(-1)) {
    states = a.next.size() / n;
    packs = n % pack_width<T> == 0 && packed_rows<T>(1, n, state, weights);
  }
  __device__ void operator()(std::int64_t i, std::int64_t s, int lane) const {
    const T *const from = state + s * n, *const row = weights + i * n;
    T total = packs ? dot<pack_width<T>>(row, from, n, lane) : dot<1>(row, from, n, lane);
    total = cuda::warp_sum(total + dot<1>(input_weights + i * k, input + s * k, k, lane));
    if (bias) total += bias[i];
    if (lane != 0) return;
    if (sum)
      sum[s * n + i] = total;
    else
      next[s * n + i] = leaky(total, from[i], leak);
  }
};
template <class T>
__global__ void __launch_bounds__(FewStates<T>::block, sizeof(T) == 4 ? 4 : 2)
    few_states(cuda::EarlyStart early, FewStates<T> f) {
  early.wait();
  for (std::int64_t i = cuda::thread_index() / 32; i < f.n; i += cuda::thread_count() / 32)
    for (std::int64_t s = 0; s < f.states; ++s) f(i, s, int(threadIdx.x) % 32);
}

void launch(const A& a, Arena arena, Stream& s, int) {
  visit<double, float>(a.state.dtype, [&]<class T> {
    const cuda::ItemSteps each{s};
    Arena own = arena;
    T* const sum = ReservoirSums(own, a).sum.as<T>();
    const FewStates<T> f(a, sum);
    if (!f.weights || f.states > f.most) return update_reservoir<T>(a, arena, s, each);
    cuda::launch_early(few_states<T>, cuda::blocks(f.n, f.block / 32), f.block, 0, cuda::native(s), f);
    if (f.sum) each(LeakyStep<T>{sum, f.state, f.next, f.leak, a.next.size()});
  });
}

}  // namespace

extern constinit const Impl<A> reservoir_update_cuda{
    {.launch = launch,
     .lay = [](Arena& arena, const A& a, const Site& site) { ReservoirSums(arena, a).lay(arena, site); }}};

}  // namespace kolmo
