#pragma once
// Bounding boxes over points in the order of a space-filling curve, and how a warp searches them.
#include <cstdint>

#include "kolmo/base/arena.hpp"
#include "kolmo/device/grid.cuh"
#include "kolmo/device/warp.cuh"
#include "kolmo/knn/distance.cuh"

namespace kolmo::cuda {
namespace {

/// The points of a space in leaves of 32 that follow each other along a curve, and the boxes of the leaves and of
/// nodes, which have 32 children each. Unused slots hold points at infinity and empty boxes.
template <class T>
struct BoxTree {
  static constexpr int fan = 32, max_levels = 6;  // for up to 2^31 points
  std::int64_t n, leaves;
  int columns, levels;
  T* point;            // [leaf][column][slot]
  std::uint32_t* row;  // of the point at each position
  T* box[max_levels];  // boxes of leaves, then of nodes of each level: [parent][column][lower, upper][child]

  void layout(std::int64_t points, int d, Arena& arena) {
    n = points, columns = d, leaves = (n + fan - 1) / fan, levels = 0;
    point = arena.take<T>(leaves * fan * d);
    row = arena.take<std::uint32_t>(n);
    for (std::int64_t parents = leaves; levels == 0 || parents > 1; ++levels) {
      parents = (parents + fan - 1) / fan;
      box[levels] = arena.take<T>(parents * fan * 2 * d);
    }
  }
  /// The number of boxes of a level, unused ones included.
  KOLMO_HD std::int64_t boxes(int level) const {
    std::int64_t parents = leaves;
    for (int l = 0; l <= level; ++l) parents = (parents + fan - 1) / fan;
    return parents * fan;
  }
  /// A choice, since box[level] with a level known at run time would move the whole tree into local memory.
  __device__ T* boxes_at(int level) const {
    T* at = box[0];
#pragma unroll
    for (int l = 1; l < max_levels; ++l) at = l == level ? box[l] : at;
    return at;
  }
  /// Lower end of a box in the first column. Those of further columns are 2 * fan apart, upper ends fan after them.
  __device__ T* box_at(int level, std::int64_t index) const {
    return boxes_at(level) + index / fan * fan * 2 * columns + index % fan;
  }
};

/// Finds the box of one node from those of its children, or of their points, by a warp. D: columns of the tree.
template <int D, class T>
__device__ void store_box(const BoxTree<T>& tree, int level, std::int64_t index, const T (&lower)[D],
                          const T (&upper)[D]) {
  T* const to = tree.box_at(level, index);
#pragma unroll
  for (int c = 0; c < D; ++c) {
    const T low = warp_min(lower[c]), high = warp_max(upper[c]);
    if (threadIdx.x % 32 == 0) to[c * 2 * tree.fan] = low, to[(c * 2 + 1) * tree.fan] = high;
  }
}

/// Stores the boxes of one level above the lowest, each by a warp.
template <int D, class T>
__global__ void store_boxes(BoxTree<T> tree, int level) {
  const std::int64_t below = tree.boxes(level - 1), all = tree.boxes(level);
  for (std::int64_t i = thread_index() / 32; i < all; i += thread_count() / 32) {
    T lower[D], upper[D];
    const std::int64_t child = i * tree.fan + threadIdx.x % 32;
    const T* const from = child < below ? tree.box_at(level - 1, child) : nullptr;
#pragma unroll
    for (int c = 0; c < D; ++c) {
      lower[c] = from ? from[c * 2 * tree.fan] : T(INFINITY);
      upper[c] = from ? from[(c * 2 + 1) * tree.fan] : -T(INFINITY);
    }
    store_box(tree, level, i, lower, upper);
  }
}

/// The points of one leaf as queries, one in each lane of a warp, which search the tree together.
template <int D, class T>
struct Packet {
  const BoxTree<T>& tree;
  std::int64_t leaf, position;  // spare lanes repeat the last point
  T own[D], low[D], high[D];    // of this lane; of all lanes

  __device__ Packet(const BoxTree<T>& t, std::int64_t index) : tree(t), leaf(index) {
    const std::int64_t slot = leaf * tree.fan + threadIdx.x % 32;
    position = slot < tree.n ? slot : tree.n - 1;
#pragma unroll
    for (int c = 0; c < D; ++c) {
      own[c] = points(leaf)[c * tree.fan + position % tree.fan];
      low[c] = warp_min(own[c]), high[c] = warp_max(own[c]);
    }
  }
  __device__ bool spare() const { return leaf * tree.fan + threadIdx.x % 32 != position; }
  __device__ const T* points(std::int64_t of_leaf) const { return tree.point + of_leaf * tree.fan * D; }
  __device__ T distance(const T* of_points, int slot) const {
    T far = 0;
#pragma unroll
    for (int c = 0; c < D; ++c) far = larger(far, distance_of(of_points[c * BoxTree<T>::fan + slot], own[c]));
    return far;
  }

  /// Whether a point is nearer than the radius of each column.
  template <class Radius>
  __device__ bool within(const T* of_points, int slot, Radius radius) const {
    bool in = true;
#pragma unroll
    for (int c = 0; c < D; ++c) in &= distance_of(of_points[c * BoxTree<T>::fan + slot], own[c]) < radius(c);
    return in;
  }

  /// Whether some places in a box are nearer than the outer radius of each column, and all nearer than the inner one.
  /// Rounding is monotone, so this holds for rounded distances to the points in the box.
  struct Overlap {
    bool some, all;
  };
  template <class Outer, class Inner>
  __device__ Overlap overlap(int level, std::int64_t index, Outer outer, Inner inner) const {
    const T* const box = tree.box_at(level, index);
    Overlap o{true, true};
#pragma unroll
    for (int c = 0; c < D; ++c) {
      const T lower = box[c * 2 * BoxTree<T>::fan], upper = box[(c * 2 + 1) * BoxTree<T>::fan];
      o.some &= lower - own[c] < outer(c) && own[c] - upper < outer(c);
      o.all &= upper - own[c] < inner(c) && own[c] - lower < inner(c);
    }
    return o;
  }
  /// The children of a node that are nearer than `reach` to the box of all queries, in each column.
  template <class Reach>
  __device__ unsigned near(int level, std::int64_t node, Reach reach) const {
    const T* const box = tree.box_at(level, node * BoxTree<T>::fan + threadIdx.x % 32);
    bool in = true;
#pragma unroll
    for (int c = 0; c < D; ++c)
      in &= box[c * 2 * BoxTree<T>::fan] - high[c] < reach(c) &&
            low[c] - box[(c * 2 + 1) * BoxTree<T>::fan] < reach(c);
    return __ballot_sync(~0u, in);
  }

  /// Calls scan(leaf) for the own leaf and then for others in ever larger surroundings. reach(column) is the distance,
  /// the same in all lanes, beyond which nothing matters any more. enter(level, index) says whether to look into a box.
  template <class Reach, class Enter, class Scan>
  __device__ void walk(Reach reach, Enter enter, Scan scan) const {
    constexpr int fan = BoxTree<T>::fan;
    scan(leaf);
    int level = 0, top = 0;
    std::int64_t node = leaf / fan;
    unsigned kept = 0;  // lane l: children of the current node of level l that are still to be visited
    unsigned left = near(0, node, reach) & ~(1u << leaf % fan);
    for (;;) {
      if (!left) {
        const auto from = unsigned(node % fan);
        node /= fan;
        if (level++ < top) {
          left = __shfl_sync(~0u, kept, level);
        } else {
          if (++top == tree.levels) return;
          left = near(level, node, reach) & ~(1u << from);
        }
        continue;
      }
      const int child = __ffs(int(left)) - 1;
      left &= left - 1;
      const std::int64_t index = node * fan + child;
      if (!enter(level, index)) continue;
      if (level == 0) {
        scan(index);
        continue;
      }
      if (int(threadIdx.x % 32) == level) kept = left;
      --level, node = index;
      left = near(level, node, reach);
    }
  }
};

}  // namespace
}  // namespace kolmo::cuda
