#pragma once
#include <algorithm>
#include <type_traits>
#include <utility>

#include "kolmo/op/impl.hpp"
#include "kolmo/runtime/cpu/convert.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/cpu/vectors.hpp"
#include "kolmo/runtime/stream.hpp"
#include "kolmo/skeleton/elementwise.hpp"

namespace kolmo::cpu {

namespace detail {

/// Computes out[j] = f(in[at + j step], ...) for n elements of one row.
template <class C, class F, class T, class U, int N, std::size_t... I>
void apply_row(const F& f, const T* const (&in)[N], const std::int64_t (&at)[N],
               const std::int64_t (&step)[N], U* out, std::int64_t n, std::index_sequence<I...>) {
  if (!((step[I] == 1) && ...)) {
    for (std::int64_t j = 0; j < n; ++j) out[j] = U(f(C(in[I][at[I] + j * step[I]])...));
  } else if constexpr (std::is_same_v<T, C> && std::is_same_v<U, C>) {
    const T* const from[N] = {in[I] + at[I]...};
    in_vectors(out, n, [=](std::int64_t j) { out[j] = f(from[I][j]...); });
  } else {  // 16-bit elements are converted several at a time
    constexpr std::int64_t some = 512;
    C wide[N][some], results[some];
    for (std::int64_t j = 0, count; j < n; j += count) {
      count = std::min(some, n - j);
      (widen(in[I] + at[I] + j, count, wide[I]), ...);
      in_vectors(count, [&](std::int64_t k) { results[k] = C(f(wide[I][k]...)); });
      narrow(results, count, out + j);
    }
  }
}

template <class E>
void elementwise_launch(const typename E::A& a, Arena, Stream& s, int) {
  E::visit_types(a, [&]<class T, class U> {
    using C = Compute<T>;
    constexpr auto each = std::make_index_sequence<std::size_t(E::inputs)>();
    const typename E::template Function<C> f(a);
    const auto pointers = E::template pointers<T>(a);
    U* const out = E::out(a).template as<U>();
    const auto walk = E::walk(a);
    const int inner = walk.rank - 1;  // dimension along which a row lies
    const std::int64_t row = inner < 0 ? 1 : walk.extent[inner];
    std::int64_t step[E::inputs];
    for (int t = 0; t < E::inputs; ++t) step[t] = inner < 0 ? 1 : walk.step[t][inner];
    parallel_ranges(s.threads(), E::out(a).size(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin, n; i < end; i += n) {
        std::int64_t at[E::inputs];
        walk.at(i, at);
        n = std::min(end - i, row - i % row);
        apply_row<C>(f, pointers.in, at, step, out + i, n, each);
      }
    });
  });
}

}  // namespace detail

/// Computes out_i = f(in_i, ...) for every element, on all threads of the stream.
template <class E>
constexpr Impl<typename E::A> elementwise() {
  return ImplCode<typename E::A>{.launch = detail::elementwise_launch<E>};
}

}  // namespace kolmo::cpu
