#include "kolmo/base/entropy.hpp"
#include "kolmo/device/reduce.cuh"
#include "kolmo/ops/info/mutual_information/mutual_information.hpp"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {
using A = MutualInformationArgs;

constexpr std::int64_t block_above[] = {1024, 256, sum_chunk};
constexpr Variant variants[] = {
    {"block above 1024 terms"}, {"block above 256 terms"}, {"block above 2048 terms"}};

TableShape shape_of(const A& a) { return {a.joint.rank, a.joint.extent.data()}; }

void launch(const A& a, void* workspace, Stream& s, int variant) {
  const auto run = [&]<class Job>(const Job& job, std::int64_t items, std::int64_t terms) {
    cuda::select<std::size(cuda::sum_shapes)>(cuda::sum_shape(terms, block_above[variant]), [&]<int V> {
      cuda::launch(cuda::sum_items<V, Job>, cuda::sum_blocks<V>(items), cuda::sum_block, 0, cuda::native(s),
                   job, items);
    });
  };
  visit<double, float, std::int64_t, std::int32_t>(a.joint.dtype, [&]<class T> {
    const MutualInformationOfTable done{a.information.as<double>(), a.miller_madow};
    sum_tables<true>(a.joint.as<T>(), shape_of(a), done, workspace, run);
  });
}

std::size_t workspace(const A& a, int) { return shape_of(a).workspace(); }

}  // namespace

extern constinit const CudaImpl mutual_information_cuda = cuda_impl<A, launch, workspace>(variants);

}  // namespace kolmo
