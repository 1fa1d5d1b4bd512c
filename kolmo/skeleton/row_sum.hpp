#pragma once
// Operators that sum terms along rows (base/sums.hpp), on every device with the same bits. An operator
// provides
//   struct Divergence {
//     using A = KlDivergenceArgs;
//     static constexpr int sums = 1;                         // how many sums are taken side by side
//     using DTypes = ElementTypes<double, float>;            // of the tensor that element() names
//     static const Tensor& element(const A& a);
//     static std::int64_t rows(const A& a), length(const A& a);
//     template <class T> static auto terms(const A& a);      // terms(row)(i) is a Sums<sums>
//     template <class T> static auto done(const A& a);       // done(row, sums) keeps the result
//   };
// A `done` that reports faulty data uses its member `Status status`, which the skeletons set.
#include "kolmo/base/arena.hpp"
#include "kolmo/base/status.hpp"
#include "kolmo/base/sums.hpp"
#include "kolmo/base/tensor.hpp"

namespace kolmo {

/// The supported element types.
template <class... T>
struct ElementTypes {
  template <class F>
  static void visit(DType t, F&& f) {
    kolmo::visit<T...>(t, std::forward<F>(f));
  }
};

template <class R, class T>
auto row_sum_done(const typename R::A& a, [[maybe_unused]] Status status) {
  auto done = R::template done<T>(a);
  if constexpr (requires { done.status; }) done.status = status;
  return done;
}

template <class R>
Sums<R::sums>* row_sum_scratch(Arena& arena, const typename R::A& a) {
  return take_partial_sums<R::sums>(arena, R::rows(a), R::length(a));
}

}  // namespace kolmo
