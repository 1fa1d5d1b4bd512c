#include "kolmo/ops/info/ksg_conditional_mutual_information/tree_plan.cuh"

namespace kolmo::on_cuda {

template void lay_trees<double, double>(const KsgConditionalMutualInformationArgs&, Arena&);
template void launch_trees<double, double>(const KsgConditionalMutualInformationArgs&, Arena, Stream&);

}  // namespace kolmo::on_cuda
