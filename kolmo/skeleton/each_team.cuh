#pragma once
// Kernels that call f(i) for every item, by a warp or a block each: see skeleton/each_team.hpp.
#include <iterator>

#include "kolmo/device/grid.cuh"
#include "kolmo/device/row_tile.cuh"
#include "kolmo/op/impl.hpp"
#include "kolmo/runtime/cuda/launch.cuh"
#include "kolmo/skeleton/each_team.hpp"

namespace kolmo::cuda {
namespace {

constexpr Row<int> team_rows[] = {{"warp per item", 32}, {"block of 128 per item", 128}};
/// The most teams, and the most doubles of scratch of all teams.
constexpr std::int64_t team_limit = 1 << 13, team_scratch = std::int64_t(1) << 25;
/// From this number of items on a warp each fills a GPU. Below it blocks do, though they wait for their slowest
/// thread at each step.
constexpr std::int64_t many_items = 1 << 13;

struct Times {
  __device__ double operator()(double a, double b) const { return a * b; }
};

/// A team that consists of the threads of a block.
template <int Threads>
struct BlockTeam {
  template <class F>
  __device__ void each(std::int64_t n, const F& f) const {
    for (std::int64_t i = threadIdx.x; i < n; i += Threads) f(i);
  }
  __device__ void sync() const {
    if constexpr (Threads == 32)
      __syncwarp();
    else
      __syncthreads();
  }
  __device__ double sum(double value) const { return combine<Threads>(value, Plus()); }
  __device__ double product(double value) const { return combine<Threads>(value, Times()); }
  __device__ bool first() const { return threadIdx.x == 0; }
};

template <int Threads, class F>
__global__ void __launch_bounds__(Threads, 256 / Threads)
    do_team_items(F f, double* scratch, std::int64_t n) {
  const BlockTeam<Threads> team;
  scratch += blockIdx.x * f.scratch();
  for (std::int64_t i = blockIdx.x; i < n; i += gridDim.x) {
    f(i, team, scratch);
    team.sync();  // the next item overwrites the scratch
  }
}

/// Number of teams: one per item, limited by their scratch.
template <class F>
std::int64_t teams(const F& f) {
  const std::int64_t most = f.scratch() ? team_scratch / f.scratch() : team_limit;
  return blocks(f.items(), 1, most < 1 ? 1 : most < team_limit ? most : team_limit);
}

template <class I>
constexpr Impl<typename I::A> each_team() {
  using A = typename I::A;
  return ImplCode<A>{.rows = team_rows,
                     .launch =
                         [](const A& a, Arena arena, Stream& s, int row) {
                           I::visit_type(a, [&]<class T> {
                             using F = typename I::template Function<T>;
                             F f(a);
                             if constexpr (has_status<F>) f.status = s.status();
                             select<std::size(team_rows)>(row, [&]<int V> {
                               constexpr int threads = team_rows[V].config;
                               cuda::launch(do_team_items<threads, F>, unsigned(teams(f)), threads, 0,
                                            native(s), f, arena.take<double>(teams(f) * f.scratch()),
                                            f.items());
                             });
                           });
                         },
                     .lay =
                         [](Arena& arena, const A& a, const Site&) {
                           I::visit_type(a, [&]<class T> {
                             const typename I::template Function<T> f(a);
                             arena.take<double>(teams(f) * f.scratch());
                           });
                         },
                     .preferred =
                         [](const A& a) {
                           int row = 0;
                           I::visit_type(a, [&]<class T> {
                             const typename I::template Function<T> f(a);
                             row = f.width() > 128 && f.items() < many_items ? 1 : 0;
                           });
                           return row;
                         }};
}

}  // namespace
}  // namespace kolmo::cuda
