#pragma once
#include <bit>
#include <cstdint>

#include "kolmo/base/hd.hpp"

namespace kolmo {

/// W neighbouring elements that kernels read or write at once. A pack is aligned to its size.
template <class T, int W>
struct alignas(sizeof(T) * W) Pack {
  T value[W];
};

/// The number of elements of T in the 16 bytes that kernels read and write at once.
template <class T>
inline constexpr int pack_width = 16 / int(sizeof(T));

template <int W, class T>
KOLMO_HD Pack<T, W> load_pack(const T* from) {
  return *reinterpret_cast<const Pack<T, W>*>(from);
}
template <class T, int W>
KOLMO_HD void store_pack(T* to, const Pack<T, W>& pack) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(pack) % 4 == 0) {  // else nvcc may write 16-bit elements one by one
    using Words = Pack<std::uint32_t, int(sizeof(pack)) / 4>;
    *reinterpret_cast<Words*>(to) = std::bit_cast<Words>(pack);
    return;
  }
#endif
  *reinterpret_cast<Pack<T, W>*>(to) = pack;
}

/// Whether every row of k elements of each tensor starts at a multiple of 16 bytes.
template <class T, class... P>
bool packed_rows(std::int64_t rows, std::int64_t k, const P*... data) {
  return (rows == 1 || k % pack_width<T> == 0) && ((reinterpret_cast<std::uintptr_t>(data) % 16 == 0) && ...);
}

}  // namespace kolmo
