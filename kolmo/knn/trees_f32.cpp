#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kolmo/knn/trees_f32.cpp"
#include "kolmo/knn/targets.hpp"
// clang-format off
#include <hwy/foreach_target.h>
// clang-format on
#include "kolmo/knn/trees-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kolmo::knn {
namespace HWY_NAMESPACE {

void trees_f32(const KsgProblem<float>& p, bool only_observed, Workbench<float>& w, int threads) {
  all_estimates(p, only_observed, w, threads);
}

}  // namespace HWY_NAMESPACE
}  // namespace kolmo::knn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kolmo::knn {

HWY_EXPORT(trees_f32);

template <class T>
void trees(const KsgProblem<T>& p, bool only_observed, Arena arena, int threads) {
  Workbench<T> w;
  w.layout(p, arena, threads);
  HWY_DYNAMIC_DISPATCH(trees_f32)(p, only_observed, w, threads);
}

template void trees_layout(const KsgProblem<float>&, Arena&, int);
template void trees(const KsgProblem<float>&, bool, Arena, int);

}  // namespace kolmo::knn
#endif
