#include "kolmo/ops/elementwise/fp16_to_fp32/fp16_to_fp32.hpp"
#include "kolmo/skeleton/elementwise.cuh"

namespace kolmo {
namespace {

template <class C>
struct Same {
  explicit Same(const Fp16ToFp32Args&) {}
  KOLMO_HD C operator()(C x) const { return x; }
};
using Conversion =
    Elements<Fp16ToFp32Args, Same, TypeList<Types<Half, float>>, &Fp16ToFp32Args::y, &Fp16ToFp32Args::x>;

}  // namespace

extern constinit const Impl<Fp16ToFp32Args> fp16_to_fp32_cuda = cuda::elementwise<Conversion>();

}  // namespace kolmo
