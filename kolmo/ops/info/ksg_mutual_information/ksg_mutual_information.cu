#include "kolmo/ops/info/ksg_conditional_mutual_information/ksg_conditional_mutual_information.hpp"
#include "kolmo/ops/info/ksg_mutual_information/ksg_mutual_information.hpp"

namespace kolmo {
namespace {

constexpr Variant variants[] = {{"ksg_conditional_mutual_information"}};

void launch(const KsgMutualInformationArgs& a, void*, Stream& s, int) {
  ksg_conditional_mutual_information(unconditional(a), s);
}

}  // namespace

extern constinit const CudaImpl ksg_mutual_information_cuda =
    cuda_impl<KsgMutualInformationArgs, launch>(variants);

}  // namespace kolmo
