#pragma once
// CUDA's built-in vector types, in simt::cuda, so that a program may also link code compiled by nvcc.

namespace simt {
inline namespace cuda {

#define SIMT_VECTOR(name, T)                                            \
  struct name##1 {                                                      \
    T x;                                                                \
  };                                                                    \
  struct alignas(2 * sizeof(T)) name##2 {                               \
    T x, y;                                                             \
  };                                                                    \
  struct name##3 {                                                      \
    T x, y, z;                                                          \
  };                                                                    \
  struct alignas(sizeof(T) < 4 ? 4 * sizeof(T) : 16) name##4 {          \
    T x, y, z, w;                                                       \
  };                                                                    \
  constexpr name##1 make_##name##1(T x) { return {x}; }                 \
  constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

SIMT_VECTOR(char, signed char)
SIMT_VECTOR(uchar, unsigned char)
SIMT_VECTOR(short, short)
SIMT_VECTOR(ushort, unsigned short)
SIMT_VECTOR(int, int)
SIMT_VECTOR(uint, unsigned)
SIMT_VECTOR(long, long)
SIMT_VECTOR(ulong, unsigned long)
SIMT_VECTOR(longlong, long long)
SIMT_VECTOR(ulonglong, unsigned long long)
SIMT_VECTOR(float, float)
SIMT_VECTOR(double, double)
#undef SIMT_VECTOR

struct dim3 : uint3 {
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : uint3{x, y, z} {}
  constexpr dim3(uint3 v) : uint3(v) {}
};

}  // namespace cuda
}  // namespace simt
