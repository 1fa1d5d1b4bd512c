// Compiled once per instruction set; the best supported one is chosen at run time.
#include "kolmo/ops/random/top_k_sampling/block_maxima.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kolmo/ops/random/top_k_sampling/block_maxima.cpp"
// clang-format off
#include <hwy/foreach_target.h>
#include "kolmo/skeleton/row_vectors.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kolmo {
namespace HWY_NAMESPACE {
namespace {  // anonymous, since other operators have functions of the same names

template <class C>
bool maxima(const C* x, std::int64_t n, C* most) {
  const hn::CappedTag<C, 16> d;
  using V = hn::Vec<decltype(d)>;
  const std::int64_t lanes = std::int64_t(hn::Lanes(d));
  const V infinity = hn::Set(d, std::numeric_limits<C>::infinity());
  auto regular = hn::Lt(hn::Zero(d), infinity);  // all true
  for (std::int64_t begin = 0; begin < n; begin += maxima_block) {
    const std::int64_t end = std::min(n, begin + maxima_block);
    V top = hn::Neg(infinity);
    std::int64_t i = begin;
    for (; i + lanes <= end; i += lanes) {
      const V v = hn::LoadU(d, x + i);
      regular = hn::And(regular, hn::Lt(v, infinity)), top = hn::Max(top, v);
    }
    if (i < end) {
      const V v = hn::IfThenElse(hn::FirstN(d, std::size_t(end - i)), load(d, x + i, First{end - i}),
                                 hn::Neg(infinity));
      regular = hn::And(regular, hn::Lt(v, infinity)), top = hn::Max(top, v);
    }
    most[begin / maxima_block] = hn::GetLane(hn::MaxOfLanes(d, top));
  }
  return hn::AllTrue(d, regular);
}

static bool maxima_f32(const float* x, std::int64_t n, float* most) { return maxima(x, n, most); }
static bool maxima_f64(const double* x, std::int64_t n, double* most) { return maxima(x, n, most); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace kolmo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kolmo {

HWY_EXPORT(maxima_f32);
HWY_EXPORT(maxima_f64);

bool block_maxima(const float* x, std::int64_t n, float* most) {
  return HWY_DYNAMIC_DISPATCH(maxima_f32)(x, n, most);
}
bool block_maxima(const double* x, std::int64_t n, double* most) {
  return HWY_DYNAMIC_DISPATCH(maxima_f64)(x, n, most);
}

}  // namespace kolmo
#endif
