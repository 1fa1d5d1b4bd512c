#pragma once
// Kernels of operators that sum terms along rows (skeleton/row_sum.hpp).
#include "kolmo/device/reduce.cuh"
#include "kolmo/op/impl.hpp"
#include "kolmo/skeleton/row_sum.hpp"

namespace kolmo::cuda {
namespace {

constexpr Row<std::int64_t> row_sum_rows[] = {
    {"block above 1024 terms", 1024}, {"block above 256 terms", 256}, {"block above 2048 terms", sum_chunk}};

/// The implementation of such an operator. A whole block computes sums of more terms than the number in
/// row_sum_rows; a warp or a part of one computes the others.
template <class R>
constexpr Impl<typename R::A> row_sum() {
  using A = typename R::A;
  return ImplCode<A>{.rows = row_sum_rows,
                     .launch =
                         [](const A& a, Arena scratch, Stream& s, int row) {
                           R::DTypes::visit(R::element(a).dtype, [&]<class T> {
                             sum_rows<R::sums>(R::template terms<T>(a), row_sum_done<R, T>(a, s.status()),
                                               R::rows(a), R::length(a), row_sum_scratch<R>(scratch, a),
                                               SumItems{native(s), row_sum_rows[row].config});
                           });
                         },
                     .lay = [](Arena& arena, const A& a, const Site&) { row_sum_scratch<R>(arena, a); }};
}

}  // namespace
}  // namespace kolmo::cuda
