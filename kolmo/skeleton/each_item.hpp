#pragma once
// Operators that do the same for each of a number of items: gates, filters, sampling, neurons. An operator
// provides a functor over its element type, constructed from its arguments:
//   template <class T> struct HadamardPair {
//     explicit HadamardPair(const HadamardArgs&);
//     std::int64_t items() const;
//     KOLMO_HD void operator()(std::int64_t item) const;
//   };
// and Items<HadamardArgs, HadamardPair, &HadamardArgs::state, float, double>, whose field determines the
// type. A functor that needs memory for each item being computed has `std::int64_t scratch() const`, the
// number of elements of T, and takes (item, T* scratch). One that reports faulty data uses its member `Status
// status`, which the skeletons set.
#include "kolmo/base/arena.hpp"
#include "kolmo/base/status.hpp"
#include "kolmo/base/tensor.hpp"

namespace kolmo {

template <class Args, template <class> class Functor, auto Element, class... T>
struct Items {
  using A = Args;
  template <class U>
  using Function = Functor<U>;
  /// Calls f.operator()<T>() with the element type of the arguments.
  template <class F>
  static void visit_type(const A& a, F&& f) {
    visit<T...>((a.*Element).dtype, std::forward<F>(f));
  }
};

template <class F>
inline constexpr bool has_scratch = requires(const F& f) {
  f.scratch();
};
template <class F>
inline constexpr bool has_status = requires(F& f) {
  f.status;
};

template <class F, class T>
KOLMO_HD void do_item(const F& f, std::int64_t item, [[maybe_unused]] T* scratch) {
  if constexpr (has_scratch<F>)
    f(item, scratch);
  else
    f(item);
}

/// Scratch for `workers` items that are computed at the same time.
template <class T, class F>
T* item_scratch(Arena& arena, [[maybe_unused]] const F& f, [[maybe_unused]] std::int64_t workers) {
  if constexpr (has_scratch<F>)
    return arena.take<T>(workers * f.scratch());
  else
    return nullptr;
}

}  // namespace kolmo
