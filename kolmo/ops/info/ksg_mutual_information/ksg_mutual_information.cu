#include "kolmo/device/grid.cuh"
#include "kolmo/knn/finite.hpp"
#include "kolmo/ops/info/ksg_mutual_information/unconditional.hpp"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {

template <class T>
__global__ void look_for_faults(Status status, int fault, const T* v, std::int64_t n) {
  for (std::int64_t i = cuda::thread_index(); i < n; i += cuda::thread_count())
    if (!is_finite(v[i])) status.report(fault, i);
}

void launch(const KsgMutualInformationArgs& a, Arena scratch, Stream& stream, int) {
  const Status status = stream.status();
  run_unconditional(a, scratch, stream, [&](int fault, const Tensor& t) {
    if (!status) return;
    constexpr int threads = 256;
    visit<double, float>(t.dtype, [&]<class T> {
      cuda::launch(look_for_faults<T>, cuda::blocks(t.size(), threads), threads, 0, cuda::native(stream),
                   status, fault, t.as<T>(), t.size());
    });
  });
}

}  // namespace

extern constinit const Impl<KsgMutualInformationArgs> ksg_mutual_information_cuda{
    {.launch = launch, .lay = lay_unconditional}};

}  // namespace kolmo
