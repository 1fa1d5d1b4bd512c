#pragma once
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

namespace kolmo {

class Stream;

/// A row of an operator's table of compiled configurations on a kind of device. The default is the first row
/// that fits, unless the operator prefers another for these arguments.
struct Variant {
  std::string_view name;
  bool hardware_only = false;  ///< needs instructions the emulated GPU has not
  bool naive = false;          ///< the simple way, which speed-ups are counted from; never row 0
  bool vendor = false;         ///< a library that comes with the device, or is as established
};

/// The CUDA side of an operator, defined once in <op>.cu as `<op>_cuda`; the same source, compiled for the
/// emulated GPU, defines `<op>_simt`.
struct CudaImpl {
  std::span<const Variant> variants;
  void (*launch)(const void* args, void* workspace, Stream& stream, int variant);
  std::size_t (*workspace)(const void* args, int variant);  ///< bytes
  bool (*fits)(const void* args, int variant);
  /// The row that is the default for these arguments if it fits them; null: none is preferred.
  int (*preferred)(const void* args) = nullptr;
};

namespace detail {
template <class Args>
std::size_t no_workspace(const Args&, int) {
  return 0;
}
template <class Args>
bool always_fits(const Args&, int) {
  return true;
}
}  // namespace detail

/// Wraps typed functions: cuda_impl<SoftmaxArgs, launch>(variants).
template <class Args, auto Launch, auto Workspace = detail::no_workspace<Args>,
          auto Fits = detail::always_fits<Args>, auto Preferred = nullptr>
constexpr CudaImpl cuda_impl(std::span<const Variant> variants) {
  int (*preferred)(const void*) = nullptr;
  if constexpr (!std::is_null_pointer_v<decltype(Preferred)>)
    preferred = [](const void* a) -> int { return Preferred(*static_cast<const Args*>(a)); };
  return {variants,
          [](const void* a, void* w, Stream& s, int v) { Launch(*static_cast<const Args*>(a), w, s, v); },
          [](const void* a, int v) -> std::size_t { return Workspace(*static_cast<const Args*>(a), v); },
          [](const void* a, int v) -> bool { return Fits(*static_cast<const Args*>(a), v); }, preferred};
}

}  // namespace kolmo
