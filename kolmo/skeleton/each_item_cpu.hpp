#pragma once
#include <algorithm>

#include "kolmo/op/impl.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/stream.hpp"
#include "kolmo/skeleton/each_item.hpp"

namespace kolmo::cpu {

/// Calls f(i) for every item, on all threads of the stream, `Grain` items at a time.
template <class I, std::int64_t Grain = 1024>
constexpr Impl<typename I::A> each_item() {
  using A = typename I::A;
  return ImplCode<A>{
      .launch =
          [](const A& a, Arena arena, Stream& s, int) {
            I::visit_type(a, [&]<class T> {
              typename I::template Function<T> f(a);
              if constexpr (has_status<decltype(f)>) f.status = s.status();
              const std::int64_t n = f.items();
              T* const scratch = item_scratch<T>(arena, f, s.threads());
              parallel_for(s.threads(), (n + Grain - 1) / Grain, [&](std::int64_t part, int thread) {
                T* own = scratch;
                if constexpr (has_scratch<decltype(f)>) own += thread * f.scratch();
                for (std::int64_t i = part * Grain, end = std::min(n, i + Grain); i < end; ++i)
                  do_item(f, i, own);
              });
            });
          },
      .lay =
          [](Arena& arena, const A& a, const Site& site) {
            I::visit_type(a, [&]<class T> {
              item_scratch<T>(arena, typename I::template Function<T>(a), site.threads);
            });
          }};
}

}  // namespace kolmo::cpu
