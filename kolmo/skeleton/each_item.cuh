#pragma once
// Kernels that call f(i) for every item: see skeleton/each_item.hpp.
#include <iterator>

#include "kolmo/device/grid.cuh"
#include "kolmo/op/impl.hpp"
#include "kolmo/runtime/cuda/launch.cuh"
#include "kolmo/skeleton/each_item.hpp"

namespace kolmo::cuda {
namespace {

constexpr Row<int> item_rows[] = {{"block 256", 256}, {"block 64", 64}};
constexpr std::int64_t item_workers = 1 << 17;  // threads, if each needs scratch
constexpr std::int64_t few_items = 1 << 16;     // fewer would not keep an H200 busy in blocks of 256

template <int Block, class F, class T>
__global__ void __launch_bounds__(Block) do_items(EarlyStart early, F f, T* scratch, std::int64_t n) {
  early.wait();
  if constexpr (has_scratch<F>) scratch += thread_index() * f.scratch();
  for (std::int64_t i = thread_index(); i < n; i += thread_count()) do_item(f, i, scratch);
}

/// Number of threads of the grid: one per item, limited by the available scratch.
template <class F>
std::int64_t item_threads(const F& f, int block) {
  const std::int64_t limit = has_scratch<F> ? item_workers / block : 1 << 20;
  return std::int64_t(blocks(f.items(), block, limit)) * block;
}

template <class I>
constexpr Impl<typename I::A> each_item() {
  using A = typename I::A;
  return ImplCode<A>{
      .rows = item_rows,
      .launch =
          [](const A& a, Arena arena, Stream& s, int row) {
            I::visit_type(a, [&]<class T> {
              using F = typename I::template Function<T>;
              F f(a);
              if constexpr (has_status<F>) f.status = s.status();
              select<std::size(item_rows)>(row, [&]<int V> {
                constexpr int block = item_rows[V].config;
                const std::int64_t threads = item_threads(f, block);
                cuda::launch_early(do_items<block, F, T>, unsigned(threads / block), block, 0, native(s), f,
                                   item_scratch<T>(arena, f, threads), f.items());
              });
            });
          },
      .lay =
          [](Arena& arena, const A& a, const Site& site) {
            I::visit_type(a, [&]<class T> {
              const typename I::template Function<T> f(a);
              item_scratch<T>(arena, f, item_threads(f, item_rows[site.row].config));
            });
          },
      .preferred =
          [](const A& a) {
            int row = 0;
            I::visit_type(a,
                          [&]<class T> { row = typename I::template Function<T>(a).items() <= few_items; });
            return row;
          }};
}

}  // namespace
}  // namespace kolmo::cuda
