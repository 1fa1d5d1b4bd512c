// Arithmetic, vector types, half and bfloat16, checked inside the kernel: `failed` receives the line of the
// last failed check.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "launch.cuh"

#define EXPECT(condition) \
  if (!(condition)) atomicMax(failed, __LINE__)

namespace {
__constant__ int table[4] = {2, 3, 5, 7};

__global__ void numbers(int* failed) {
  EXPECT(__popc(0xf0f0u) == 8 && __popcll(~0ull) == 64 && __ffs(8) == 4 && __ffs(0) == 0 &&
         __ffsll(1ll << 40) == 41);
  EXPECT(__clz(1) == 31 && __clz(0) == 32 && __clzll(1) == 63 && __brev(1u) == 0x80000000u &&
         __brevll(2) == 1ull << 62);
  EXPECT(__umulhi(1u << 31, 6) == 3 && __mulhi(-1, 1) == -1 && __umul64hi(1ull << 63, 6) == 3 &&
         __mul64hi(-1, 1) == -1);
  EXPECT(__funnelshift_l(0x80000000u, 1u, 1) == 3 && __funnelshift_r(2u, 1u, 1) == 0x80000001u);
  EXPECT(__byte_perm(0x33221100u, 0x77665544u, 0x7250) == 0x77225500u &&
         __byte_perm(0x80u, 0, 0x0008) == 0x808080ffu);
  EXPECT(fabsf(rsqrtf(4.0f) - 0.5f) < 1e-6f && rsqrt(4.0) == 0.5 && fabsf(__expf(1.0f) - 2.7182817f) < 1e-5f);
  EXPECT(__fdividef(6.0f, 3.0f) == 2.0f && fmaf(2.0f, 3.0f, 4.0f) == 10.0f && __saturatef(3.0f) == 1.0f);
  EXPECT(fabs(sinpi(0.5) - 1) < 1e-15 && fabs(normcdf(0.0) - 0.5) < 1e-15);
  const double third = 1.0 / 3, e = 1 + 0x1p-30;
  EXPECT(__dmul_rn(e, e) == 1 + 0x1p-29 && __fma_rn(e, e, -__dmul_rn(e, e)) == 0x1p-60);
  EXPECT(__dadd_rn(__dmul_rn(e, e), -(1 + 0x1p-29)) == 0 && __ddiv_rn(1.0, 3.0) == third);
  EXPECT(__fadd_rn(__fmul_rn(3.0f, 4.0f), 5.0f) == 17.0f && __fsqrt_rn(16.0f) == 4.0f);
  EXPECT(__float2int_rn(2.5f) == 2 && __float2int_rz(-2.7f) == -2 && __float2int_rd(-2.2f) == -3 &&
         __float2int_ru(2.2f) == 3);
  EXPECT(__float2int_rn(1e20f) == 2147483647 && __float2int_rn(nanf("")) == 0 &&
         __double2ll_rn(-1e300) < -9e18);
  EXPECT(__double_as_longlong(1.0) == 0x3ffll << 52 && __longlong_as_double(0x3ffll << 52) == 1.0);
  EXPECT(__float_as_int(1.0f) == 0x3f800000 && __uint_as_float(0x40000000u) == 2.0f);
  EXPECT(__hiloint2double(__double2hiint(third), __double2loint(third)) == third);
  EXPECT(max(3, 7) == 7 && min(2.0f, -1.0f) == -1.0f && max(1u, 2u) == 2u && min(3ll, -4ll) == -4 &&
         table[2] == 5);
  EXPECT(max(nanf(""), 1.0f) == 1.0f && isnan(nan("")) && __ldg(&table[3]) == 7);
  const float4 v = make_float4(1, 2, 3, 4);
  EXPECT(sizeof(float4) == 16 && alignof(float4) == 16 && alignof(int2) == 8 && alignof(float3) == 4 &&
         v.z == 3);
  EXPECT(sizeof(uchar4) == 4 && alignof(uchar4) == 4 && alignof(double2) == 16 && sizeof(longlong3) == 24);
  EXPECT(clock64() != 0);
}

__global__ void small_floats(int* failed) {
  EXPECT(__half2float(__float2half(1.0f / 3)) == 0.333251953125f &&
         __half2float(__float2half(1e6f)) == INFINITY);
  EXPECT(__bfloat162float(__float2bfloat16(1.0f / 3)) == 0.333984375f &&
         __half_as_ushort(__float2half(1.0f)) == 0x3c00);
  const half two = __float2half(2.0f), three = __float2half(3.0f);
  EXPECT(__half2float(__hfma(two, three, __float2half(0.5f))) == 6.5f &&
         __half2float(two * three - two / two) == 5.0f);
  EXPECT(__hlt(two, three) && !__hgt(two, three) && two < three && __half2float(__hmax(two, three)) == 3.0f);
  EXPECT(__half2float(__habs(__hneg(two))) == 2.0f && fabsf(__half2float(hsqrt(two)) - 1.4142f) < 1e-3f);
  EXPECT(__hisnan(__ushort_as_half(0x7e00)) && __half2int_rn(__float2half(2.5f)) == 2);
  const half2 p = __hmul2(__float2half2_rn(3.0f), __floats2half2_rn(1.0f, 2.0f));
  EXPECT(__low2float(p) == 3.0f && __high2float(p) == 6.0f && __half22float2(__hfma2(p, p, p)).y == 42.0f);
  const __nv_bfloat162 q = __hadd2(__floats2bfloat162_rn(1.0f, 2.0f), __float2bfloat162_rn(0.5f));
  EXPECT(__bfloat1622float2(q).x == 1.5f && __bfloat162float(__high2bfloat16(q)) == 2.5f);
}
}  // namespace

namespace DEVICE {
void check_numbers(int* failed) { launch(numbers, 1, 32, 0, nullptr, failed); }
void check_small_floats(int* failed) { launch(small_floats, 1, 32, 0, nullptr, failed); }
}  // namespace DEVICE
