#pragma once
#include <cstdint>

#include "kolmo/base/half.hpp"

namespace kolmo::f16c {

/// Whether this processor converts halves in vectors of eight (x86-64 with F16C). Otherwise convert() must
/// not be called.
bool available();
/// Converts n elements, rounded to nearest even, with the same bits as base/half.hpp.
void convert(const float* from, Half* to, std::int64_t n);
void convert(const Half* from, float* to, std::int64_t n);

}  // namespace kolmo::f16c
