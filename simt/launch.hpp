#pragma once
// launch() and dynamic_shared(): the two cases in which CUDA's own syntax cannot be kept.

#include <tuple>
#include <type_traits>
#include <utility>

#include "simt/language.hpp"

namespace simt {

/// What the emulated GPU says of itself where a program shares out work by it: as an H100 or H200.
inline constexpr int multiprocessors = 132;
inline int f64_ratio = 2;  // f32 over f64, which a test may change

/// A grid that stores the source location of the launch and whether its size fitted.
struct Grid : dim3 {
  Where at;
  bool fits = true;
  template <class D>
  Grid(D d, const Where& at = Where::current()) requires std::is_convertible_v<D, dim3> : dim3(d), at(at) {
    if constexpr (std::is_integral_v<D>) fits = std::in_range<unsigned>(d);
  }
};

/// Runs `kernel(args...)` for every thread and returns when all are done. `shared` is in bytes; the stream is
/// ignored. Throws Error if the launch is impossible or a thread makes an error.
template <class... P, class... A>
void launch(void (*kernel)(P...), Grid grid, dim3 block, std::size_t shared, cudaStream_t, A&&... args) {
  static_assert((std::is_trivially_copyable_v<P> && ...),
                "kernel parameters are copied to the device byte by byte");
  static_assert((sizeof(P) + ... + 0) <= 32764, "kernel parameters take more than 32764 bytes");
  struct Closure {
    void (*kernel)(P...);
    std::tuple<P...> parameters;
  } closure{kernel, {std::forward<A>(args)...}};
  const auto call = [](const void* p) {
    const auto& c = *static_cast<const Closure*>(p);
    std::apply(c.kernel, c.parameters);
  };
  run({grid, grid.fits, block, shared, reinterpret_cast<const void*>(kernel), call, &closure, grid.at});
}

template <class T>
T* dynamic_shared() {
  return static_cast<T*>(shared_memory());
}

}  // namespace simt
