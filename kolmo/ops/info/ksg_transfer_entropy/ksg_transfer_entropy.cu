#include "kolmo/device/grid.cuh"
#include "kolmo/ops/info/ksg_conditional_mutual_information/ksg_conditional_mutual_information.hpp"
#include "kolmo/ops/info/ksg_transfer_entropy/ksg_transfer_entropy.hpp"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {

using Args = KsgTransferEntropyArgs;

constexpr Variant variants[] = {{"ksg_conditional_mutual_information"}};

template <class T>
struct Embedding {
  const T *source, *target, *given;
  T *x, *y, *z;
  std::int32_t* set;
  std::int64_t b, trials, n, rows, back, condition, history, tau, source_history, source_tau, lag;
};

template <class T>
__global__ void embed(Embedding<T> e) {
  const std::int64_t m = e.trials * e.rows, all = e.trials * e.n;
  for (std::int64_t r = cuda::thread_index(); r < m; r += cuda::thread_count()) {
    const std::int64_t trial = r / e.rows, now = trial * e.n + e.back + r % e.rows;
    e.set[r] = std::int32_t(trial);
    e.y[r] = e.target[now];
    T* z = e.z + r * e.condition;
    for (std::int64_t i = 0; i < e.history; ++i) *z++ = e.target[now - 1 - i * e.tau];
    for (std::int64_t i = 0; i < e.condition - e.history; ++i) *z++ = e.given[i * all + now - 1];
    for (std::int64_t s = 0; s < e.b; ++s)
      for (std::int64_t j = 0; j < e.source_history; ++j)
        e.x[(s * m + r) * e.source_history + j] = e.source[s * all + now - e.lag - j * e.source_tau];
  }
}

void launch(const Args& a, void* workspace, Stream& s, int) {
  const EmbeddedSeries e = embedded(a, workspace);
  visit<double, float>(a.source.dtype, [&]<class T> {
    const Embedding<T> embedding{.source = a.source.as<T>(),
                                 .target = a.target.as<T>(),
                                 .given = a.given.as<T>(),
                                 .x = e.x.as<T>(),
                                 .y = e.y.as<T>(),
                                 .z = e.z.as<T>(),
                                 .set = e.set.as<std::int32_t>(),
                                 .b = a.source.extent[0],
                                 .trials = a.target.extent[0],
                                 .n = a.target.extent[1],
                                 .rows = e.rows,
                                 .back = e.back,
                                 .condition = e.condition,
                                 .history = a.history,
                                 .tau = a.tau,
                                 .source_history = a.source_history,
                                 .source_tau = a.source_tau,
                                 .lag = a.lag};
    constexpr int threads = 256;
    cuda::launch(embed<T>, cuda::blocks(embedding.trials * e.rows, threads), threads, 0, cuda::native(s),
                 embedding);
  });
  ksg_conditional_mutual_information(estimation(a, e), s);
}

std::size_t workspace(const Args& a, int) { return embedded(a).bytes; }

}  // namespace

extern constinit const CudaImpl ksg_transfer_entropy_cuda = cuda_impl<Args, launch, workspace>(variants);

}  // namespace kolmo
