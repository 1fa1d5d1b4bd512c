#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kolmo/knn/tree.cpp"
#include "kolmo/knn/targets.hpp"
// clang-format off
#include <hwy/foreach_target.h>
// clang-format on
#include "kolmo/knn/split-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kolmo::knn {
namespace HWY_NAMESPACE {

void split_f64(Tree<double>& tree) { Splitter<double>(tree).split(0, tree.leaves); }
void split_f32(Tree<float>& tree) { Splitter<float>(tree).split(0, tree.leaves); }

}  // namespace HWY_NAMESPACE
}  // namespace kolmo::knn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kolmo::knn {

HWY_EXPORT(split_f64);
HWY_EXPORT(split_f32);

template <class T>
void Tree<T>::layout(std::int64_t points, int columns, Arena& arena) {
  n = points, d = columns, leaves = (n + leaf - 1) / leaf;
  const auto slots = std::size_t(leaves * leaf);
  point = arena.take<T>(slots * std::size_t(d));
  row = arena.take<std::uint32_t>(slots);
  levels = 0;
  for (std::int64_t nodes = leaves; levels == 0 || nodes > 1; ++levels) {
    nodes = (nodes + fan - 1) / fan;
    box[levels] = arena.take<T>(std::size_t(nodes * fan * 2 * d));
  }
  order = arena.take<Order>(slots);
  scratch = arena.take<T>(slots + leaf);  // the last vector may go beyond the values
}

template <class T>
void Tree<T>::build(const Columns<T>& columns) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  std::int64_t nodes = leaves;
  for (int l = 0; l < levels; ++l) {  // the last node may lack children
    nodes = (nodes + fan - 1) / fan;
    T* last = box[l] + (nodes - 1) * fan * 2 * d;
    for (int c = 0; c < d; ++c, last += 2 * fan)
      std::fill_n(last, fan, infinity), std::fill_n(last + fan, fan, -infinity);
  }
  for (std::int64_t i = 0; i < n; ++i) order[i] = Order(i);
  for (int c = 0; c < d; ++c)
    for (std::int64_t i = 0; i < n; ++i) column(c)[i] = columns(c, i);
  if constexpr (sizeof(T) == 8)
    HWY_DYNAMIC_DISPATCH(split_f64)(*this);
  else
    HWY_DYNAMIC_DISPATCH(split_f32)(*this);
  for (std::int64_t i = 0; i < leaves * leaf; ++i) {
    row[i] = i < n ? std::uint32_t(order[i]) : no_row;
    T* at = point + (i / leaf) * leaf * d + i % leaf;
    for (int c = 0; c < d; ++c) at[c * leaf] = i < n ? columns(c, row[i]) : infinity;
  }
}

template <class T>
void Tree<T>::store_box(std::int64_t a, std::int64_t b, const T* lower, const T* upper) {
  std::int64_t child = a, width = 1;
  for (int l = 0; l < levels; ++l, child /= fan, width *= fan) {
    if (a & (width - 1) || b != std::min(a + width, leaves)) continue;
    T* to = box[l] + child / fan * fan * 2 * d + child % fan;
    for (int c = 0; c < d; ++c) to[2 * c * fan] = lower[c], to[(2 * c + 1) * fan] = upper[c];
  }
}

template struct Tree<double>;
template struct Tree<float>;

}  // namespace kolmo::knn
#endif
