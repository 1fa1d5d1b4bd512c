#pragma once
#include "kolmo/op/impl.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/stream.hpp"
#include "kolmo/skeleton/each_team.hpp"

namespace kolmo::cpu {

/// Calls f(i) for every item, each on one thread of the stream.
template <class I>
constexpr Impl<typename I::A> each_team() {
  using A = typename I::A;
  return ImplCode<A>{.launch =
                         [](const A& a, Arena arena, Stream& s, int) {
                           I::visit_type(a, [&]<class T> {
                             typename I::template Function<T> f(a);
                             if constexpr (has_status<decltype(f)>) f.status = s.status();
                             auto* const scratch = arena.take<double>(s.threads() * f.scratch());
                             parallel_for(s.threads(), f.items(), [&](std::int64_t i, int thread) {
                               f(i, LoneThread(), scratch + thread * f.scratch());
                             });
                           });
                         },
                     .lay =
                         [](Arena& arena, const A& a, const Site& site) {
                           I::visit_type(a, [&]<class T> {
                             arena.take<double>(site.threads * typename I::template Function<T>(a).scratch());
                           });
                         }};
}

}  // namespace kolmo::cpu
