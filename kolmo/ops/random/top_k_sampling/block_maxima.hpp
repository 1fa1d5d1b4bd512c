#pragma once
#include <cstdint>

namespace kolmo {

inline constexpr std::int64_t maxima_block = 64;

/// Computes most[b], the largest of x[64 b] ... x[64 b + 63]; the last block may be shorter. Returns false if
/// a number is NaN or +inf; `most` is then of no use.
bool block_maxima(const float* x, std::int64_t n, float* most);
bool block_maxima(const double* x, std::int64_t n, double* most);

}  // namespace kolmo
