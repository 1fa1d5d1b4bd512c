#include "kolmo/device/reduce.cuh"
#include "kolmo/op/impl.hpp"
#include "kolmo/ops/dynamics/entropy_production/flux_terms.hpp"

namespace kolmo {
namespace {
using A = EntropyProductionArgs;

constexpr int flux_states = 8, flux_block = 32 * flux_states, flux_step = flux_block;

[[gnu::noinline]] __device__ double flux_term_called(double f, double g) { return flux_term_of_any(f, g); }

/// Sums the fluxes of `flux_states` neighbouring states by a block, each by a warp. In each step the block
/// reads the rates back to these states together, so that it reads whole sectors of memory.
template <class T>
__global__ void __launch_bounds__(flux_block, 3)
    sum_fluxes(cuda::EarlyStart early, StateSums<T> job, std::int64_t items) {
  constexpr int together = 4, lanes = flux_step / 32;
  __shared__ T back[flux_states][flux_step + 4];
  __shared__ double p_of[flux_step];
  const int thread = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
  const int n = int(job.n), groups = (n + flux_states - 1) / flux_states;
  early.wait();
  for (std::int64_t item = blockIdx.x; item < items; item += gridDim.x) {
    const std::int64_t process = quotient(item, groups);
    const int first_state = int(item - process * groups) * flux_states, i = first_state + warp;
    const auto row = job.terms(process * n + first_state);
    Sums<1> lane[lanes] = {};
    const double p_of_i = row.p && i < n ? double(row.p[i]) : 1;
    for (int j0 = (first_state + 1) / flux_step * flux_step; j0 < n; j0 += flux_step) {
      T there[lanes];
      const auto read = [&]<bool Whole> {
        const T* from = row.rates + std::int64_t(i) * n + j0 + thread;
#pragma unroll
        for (int a = 0; a < lanes; ++a) {
          const int j = j0 + a * 32 + thread;
          there[a] = Whole || (i < j && j < n) ? from[a * 32] : T(0);
        }
        const int state = int(threadIdx.x) % flux_states, column = int(threadIdx.x) / flux_states;
        from = row.rates + std::int64_t(j0 + column) * n + first_state + state;
        __syncthreads();
        const int own = j0 + int(threadIdx.x);
        p_of[threadIdx.x] = row.p && own < n ? double(row.p[own]) : 1;
#pragma unroll
        for (int a = 0; a < lanes; ++a, from += 32 * std::int64_t(n)) {
          const int j = j0 + a * 32 + column, to = first_state + state;
          back[state][a * 32 + column] = Whole || (to < j && j < n) ? *from : T(0);
        }
        __syncthreads();
      };
      const bool whole = first_state + flux_states <= j0 && j0 + flux_step <= n;
      whole ? read.template operator()<true>() : read.template operator()<false>();
#pragma unroll
      for (int first_lane = 0; first_lane < lanes; first_lane += together) {
        double f[together], g[together], term[together];
        bool moderate = true;
#pragma unroll
        for (int w = 0; w < together; ++w) {
          const int column = (first_lane + w) * 32 + thread;
          f[w] = exact_mul(p_of_i, double(there[first_lane + w]));
          g[w] = exact_mul(p_of[column], double(back[warp][column]));
          // A pair without flux in either direction must add 0. The fluxes 1 and 1 do, and take no special
          // way.
          if ((std::bit_cast<std::uint64_t>(f[w]) | std::bit_cast<std::uint64_t>(g[w])) << 1 == 0)
            f[w] = g[w] = 1;
          moderate &= is_moderate(f[w]) & is_moderate(g[w]);
        }
        flux_terms(f, g, term);
        if (!moderate) {
#pragma unroll
          for (int w = 0; w < together; ++w)
            if (!(is_moderate(f[w]) && is_moderate(g[w]))) term[w] = flux_term_called(f[w], g[w]);
        }
#pragma unroll
        for (int w = 0; w < together; ++w)
          lane[first_lane + w].value[0] = exact_add(lane[first_lane + w].value[0], term[w]);
      }
    }
    const auto sum = cuda::tree<32>(lane);
    if (thread == 0 && i < n) job.finish(process * n + i, sum);
  }
}

/// Runs the sums: those over few states by parts of a warp.
struct SumFluxes {
  Stream& s;
  template <class Job>
  void operator()(const Job& job, std::int64_t items, std::int64_t terms) const {
    cuda::SumItems{cuda::native(s), 256}(job, items, terms);
  }
  template <class T>
  void operator()(const StateSums<T>& job, std::int64_t items, std::int64_t n) const {
    if (n <= cuda::sum_shapes[0].width())
      return cuda::launch_items<cuda::sum_shapes[0]>(job, items, cuda::native(s));
    const std::int64_t groups = items / n * ((n + flux_states - 1) / flux_states);
    cuda::launch_early(sum_fluxes<T>, cuda::blocks(groups, 1), flux_block, 0, cuda::native(s), job, groups);
  }
};

}  // namespace

extern constinit const Impl<A> entropy_production_cuda{
    {.launch = [](const A& a, Arena arena, Stream& s,
                  int) { produce_entropy(a, arena, s.status(), SumFluxes{s}); },
     .lay = [](Arena& arena, const A& a, const Site&) { FluxScratch(arena, a); }}};

}  // namespace kolmo
