#include "kolmo/ops/elementwise/fp32_to_fp16/fp32_to_fp16.hpp"
#include "kolmo/skeleton/elementwise.cuh"

namespace kolmo {
namespace {

template <class C>
struct Same {
  explicit Same(const Fp32ToFp16Args&) {}
  KOLMO_HD C operator()(C x) const { return x; }
};
using Conversion =
    Elements<Fp32ToFp16Args, Same, TypeList<Types<float, Half>>, &Fp32ToFp16Args::y, &Fp32ToFp16Args::x>;

}  // namespace

extern constinit const Impl<Fp32ToFp16Args> fp32_to_fp16_cuda = cuda::elementwise<Conversion>();

}  // namespace kolmo
