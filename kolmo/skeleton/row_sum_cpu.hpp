#pragma once
#include "kolmo/op/impl.hpp"
#include "kolmo/runtime/cpu/sum_items.hpp"
#include "kolmo/runtime/stream.hpp"
#include "kolmo/skeleton/row_sum.hpp"

namespace kolmo::cpu {

/// Computes the sums of R, on all threads of the stream.
template <class R>
constexpr Impl<typename R::A> row_sum() {
  using A = typename R::A;
  return ImplCode<A>{.launch =
                         [](const A& a, Arena scratch, Stream& s, int) {
                           R::DTypes::visit(R::element(a).dtype, [&]<class T> {
                             sum_rows<R::sums>(R::template terms<T>(a), row_sum_done<R, T>(a, s.status()),
                                               R::rows(a), R::length(a), row_sum_scratch<R>(scratch, a),
                                               SumItems{s.threads()});
                           });
                         },
                     .lay = [](Arena& arena, const A& a, const Site&) { row_sum_scratch<R>(arena, a); }};
}

}  // namespace kolmo::cpu
