#include "kolmo/base/entropy.hpp"
#include "kolmo/device/reduce.cuh"
#include "kolmo/ops/info/mutual_information/mutual_information.hpp"

namespace kolmo {
namespace {
using A = MutualInformationArgs;

constexpr Variant variants[] = {
    {"block above 1024 terms"}, {"block above 256 terms"}, {"block above 2048 terms"}};

TableShape shape_of(const A& a) { return {a.joint.rank, a.joint.extent.data()}; }

void launch(const A& a, void* workspace, Stream& s, int variant) {
  visit<double, float, std::int64_t, std::int32_t>(a.joint.dtype, [&]<class T> {
    const MutualInformationOfTable done{a.information.as<double>(), a.miller_madow};
    sum_tables<true>(a.joint.as<T>(), shape_of(a), done, workspace, cuda::SumItems{cuda::native(s), variant});
  });
}

std::size_t workspace(const A& a, int) { return shape_of(a).workspace(); }

}  // namespace

extern constinit const CudaImpl mutual_information_cuda = cuda_impl<A, launch, workspace>(variants);

}  // namespace kolmo
