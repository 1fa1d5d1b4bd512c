#pragma once
// The instruction sets for which code is compiled: baseline x86-64, AVX2 and AVX-512. Include this before
// Highway.
#include <hwy/detect_targets.h>

#undef HWY_DISABLED_TARGETS
#if defined(HWY_SSSE3)
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#else
#define HWY_DISABLED_TARGETS 0
#endif
