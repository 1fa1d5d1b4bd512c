#include "kolmo/device/grid.cuh"
#include "kolmo/op/impl.hpp"
#include "kolmo/ops/info/ksg_transfer_entropy/transfer_entropy_rows.hpp"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {

using Args = KsgTransferEntropyArgs;

template <class T>
__global__ void write_rows(TransferEntropyRows<T> rows) {
  for (std::int64_t r = cuda::thread_index(); r < rows.all_rows; r += cuda::thread_count()) rows(r);
}

void launch(const Args& a, Arena scratch, Stream& s, int) {
  run_transfer_entropy(a, scratch, s, [&]<class T>(const TransferEntropyRows<T>& rows) {
    constexpr int threads = 256;
    cuda::launch(write_rows<T>, cuda::blocks(rows.all_rows, threads), threads, 0, cuda::native(s), rows);
  });
}

}  // namespace

extern constinit const Impl<Args> ksg_transfer_entropy_cuda{{.launch = launch, .lay = lay_transfer_entropy}};

}  // namespace kolmo
