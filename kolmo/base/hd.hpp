#pragma once

// KOLMO_HD marks functions that run on the host and in kernels. It is empty for g++, with or without the
// emulated GPU.
#ifdef __CUDACC__
#define KOLMO_HD __host__ __device__
#else
#define KOLMO_HD
#endif

namespace kolmo {

// Sums and products that the compiler must not fuse: nvcc would contract a * b + c to one rounding, where g++
// rounds twice. Functions whose result must have the same bits on every device use these.
KOLMO_HD constexpr double exact_add(double a, double b) {
#ifdef __CUDA_ARCH__
  return __dadd_rn(a, b);
#else
  return a + b;
#endif
}
KOLMO_HD constexpr double exact_mul(double a, double b) {
#ifdef __CUDA_ARCH__
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}
KOLMO_HD constexpr float exact_add(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fadd_rn(a, b);
#else
  return a + b;
#endif
}
KOLMO_HD constexpr float exact_mul(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}

}  // namespace kolmo
