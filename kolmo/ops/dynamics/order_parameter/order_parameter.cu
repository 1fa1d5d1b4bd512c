#include "kolmo/device/unit_vectors.cuh"
#include "kolmo/ops/dynamics/order_parameter/order_parameter_terms.hpp"
#include "kolmo/skeleton/row_sum.cuh"

namespace kolmo {
namespace {
using A = OrderParameterArgs;

template <class T>
struct PhaseRows {
  const T* theta;
  std::int64_t n;

  struct Row {
    const T* theta;
    __device__ Sums<2> operator()(std::int64_t i) const {
      const T phase[] = {theta[i]};
      const auto vector = cuda::unit_vectors(phase);
      return {{vector.cosine[0], vector.sine[0]}};
    }
    template <int W>
    __device__ void load(std::int64_t i, Sums<2> (&terms)[W]) const {
      const auto vectors = cuda::unit_vectors(load_pack<W>(theta + i).value);
#pragma unroll
      for (int w = 0; w < W; ++w) terms[w] = {{vectors.cosine[w], vectors.sine[w]}};
    }
  };
  KOLMO_HD Row operator()(std::int64_t row) const { return {theta + row * n}; }
};

constexpr int phase_block = 256;

/// Sums the chunks of rows by a warp each. A thread adds W neighbours at a time: the bits need not be those
/// of a CPU.
template <int W, class Chunks>
__global__ void __launch_bounds__(phase_block, 3)
    sum_phases(cuda::EarlyStart early, Chunks chunks, std::int64_t items) {
  constexpr int warps = phase_block / 32;
  const int thread = int(threadIdx.x) % 32;
  early.wait();
  for (std::int64_t item = std::int64_t(blockIdx.x) * warps + threadIdx.x / 32; item < items;
       item += std::int64_t(gridDim.x) * warps) {
    const auto terms = chunks.terms(item);
    const std::int64_t n = terms.count, whole = n - n % W;
    Sums<2> lane[1] = {};
    for (std::int64_t i = thread * W; i < whole; i += 32 * W) {
      Sums<2> next[W];
      terms.load(i, next);
#pragma unroll
      for (int half = W / 2; half; half /= 2)
#pragma unroll
        for (int w = 0; w < half; ++w) next[w] = next[w] + next[w + half];
      lane[0] = lane[0] + next[0];
    }
    if (whole + thread < n) lane[0] = lane[0] + terms(whole + thread);
    const auto sum = cuda::tree<32>(lane);
    if (thread == 0) chunks.finish(item, sum);
  }
}

/// Runs the sums. Short rows are summed by parts of a warp. Longer rows are read in packs if they are
/// aligned, else one phase at a time.
struct SumPhases {
  Stream& s;
  bool packed;
  template <class Job>
  void operator()(const Job& job, std::int64_t items, std::int64_t terms) const {
    if constexpr (cuda::are_partials<Job>) {
      cuda::SumItems{cuda::native(s), 256}(job, items, terms);
    } else if (terms <= cuda::sum_shapes[0].width()) {
      cuda::launch_items<cuda::sum_shapes[0]>(job, items, cuda::native(s));
    } else {
      using T = std::remove_cvref_t<decltype(*job.rows.theta)>;
      const auto launch = [&](auto* kernel) {
        cuda::launch_early(kernel, cuda::blocks(items, phase_block / 32), phase_block, 0, cuda::native(s),
                           job, items);
      };
      packed ? launch(sum_phases<pack_width<T>, Job>) : launch(sum_phases<1, Job>);
    }
  }
};

using R = OrderSums<PhaseRows>;

void launch(const A& a, Arena scratch, Stream& s, int) {
  R::DTypes::visit(a.theta.dtype, [&]<class T> {
    const bool packed = packed_rows<T>(R::rows(a), R::length(a), a.theta.as<T>());
    sum_rows<2>(R::terms<T>(a), R::done<T>(a), R::rows(a), R::length(a), row_sum_scratch<R>(scratch, a),
                SumPhases{s, packed});
  });
}

}  // namespace

extern constinit const Impl<A> order_parameter_cuda{
    {.launch = launch, .lay = [](Arena& arena, const A& a, const Site&) { row_sum_scratch<R>(arena, a); }}};

}  // namespace kolmo
