#pragma once
// nvcuda::wmma, 16x16x16. Lane l holds elements 8l..8l+7 of a tile in row-major order (the device's own
// distribution is unspecified); products are added in float in the order of k (the device's order and
// rounding differ).

#include "simt/mma.hpp"
#include "simt/simt.hpp"

namespace simt::wmma {

struct row_major {};
struct col_major {};
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
enum layout_t { mem_row_major, mem_col_major };

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
  static_assert(M == 16 && N == 16 && K == 16, "the emulator knows only 16x16x16 tiles");
  static constexpr int num_elements = 8;
  T x[num_elements];
};

template <class U, int M, int N, int K, class T, class L, class V>
void fill_fragment(fragment<U, M, N, K, T, L>& f, V v) {
  for (T& x : f.x) x = static_cast<T>(v);
}

// All 32 lanes must pass the same 32-byte aligned address and the same stride, a multiple of 16 bytes.
template <class T>
void check_tile(const T* p, unsigned stride, const char* what, const Where& at) {
  struct In {
    const T* p;
    unsigned stride;
  };
  exchange(Operation{~0u, what, at}, In{p, stride}, [](int me, Lanes<In> in, unsigned group) SIMT_PLAIN {
    const Wait& mine = *in.wait[me];
    const std::string name = mine.what;
    need_whole_warp(group, mine);
    if (in[me].p != in[0].p || in[me].stride != in[0].stride)
      fail(name + ": address or stride differs between lanes", mine);
    if (reinterpret_cast<std::uintptr_t>(in[me].p) % 32) fail(name + ": address not 32-byte aligned", mine);
    if (in[me].stride * sizeof(T) % 16) fail(name + ": stride not a multiple of 16 bytes", mine);
    return 0;
  });
}

inline unsigned tile_offset(int i, bool column_major, unsigned stride) {
  const unsigned element = static_cast<unsigned>(lane() * 8 + i), row = element / 16, column = element % 16;
  return column_major ? column * stride + row : row * stride + column;
}

template <class U, class T, class L>
void load_matrix_sync(fragment<U, 16, 16, 16, T, L>& f, const T* p, unsigned stride, SIMT_AT) {
  check_tile(p, stride, "wmma::load_matrix_sync", at);
  for (int i = 0; i < 8; ++i) f.x[i] = p[tile_offset(i, std::is_same_v<L, col_major>, stride)];
}
template <class T>
void load_matrix_sync(fragment<accumulator, 16, 16, 16, T>& f, const T* p, unsigned stride, layout_t layout,
                      SIMT_AT) {
  check_tile(p, stride, "wmma::load_matrix_sync", at);
  for (int i = 0; i < 8; ++i) f.x[i] = p[tile_offset(i, layout == mem_col_major, stride)];
}
template <class T>
void store_matrix_sync(T* p, const fragment<accumulator, 16, 16, 16, T>& f, unsigned stride, layout_t layout,
                       SIMT_AT) {
  check_tile<T>(p, stride, "wmma::store_matrix_sync", at);
  for (int i = 0; i < 8; ++i) p[tile_offset(i, layout == mem_col_major, stride)] = f.x[i];
}

/// d = a b + c
template <class D, class T, class LA, class LB, class C>
void mma_sync(fragment<accumulator, 16, 16, 16, D>& d, const fragment<matrix_a, 16, 16, 16, T, LA>& a,
              const fragment<matrix_b, 16, 16, 16, T, LB>& b, const fragment<accumulator, 16, 16, 16, C>& c,
              SIMT_AT) {
  struct In {
    D* d;
    const T *a, *b;
    const C* c;
  };
  exchange(Operation{~0u, "wmma::mma_sync", at}, In{d.x, a.x, b.x, c.x},
           [](int me, Lanes<In> in, unsigned group) SIMT_PLAIN {
             need_whole_warp(group, *in.wait[me]);
             if (me) return 0;  // the first lane computes for the warp
             float left[16][16], right[16][16];
             for (int e = 0; e < 256; ++e) {
               left[e / 16][e % 16] = in[e / 8].a[e % 8];
               right[e / 16][e % 16] = in[e / 8].b[e % 8];
             }
             for (int row = 0; row < 16; ++row) {
               float sum[16];
               for (int n = 0; n < 16; ++n) sum[n] = in[row * 2 + n / 8].c[n % 8];
               for (int k = 0; k < 16; ++k)
                 for (int n = 0; n < 16; ++n) sum[n] += left[row][k] * right[k][n];
               for (int n = 0; n < 16; ++n) in[row * 2 + n / 8].d[n % 8] = static_cast<D>(sum[n]);
             }
             return 0;
           });
}

}  // namespace simt::wmma

namespace nvcuda {
namespace wmma = simt::wmma;
}
