#pragma once
// The radii of ksg2 by a tree: slightly more than the extents of the k neighbours in x, y and z.
#include "kolmo/knn/ksg_tree.cuh"

namespace kolmo::cuda {
namespace {

/// Runs after tree_nearest. Of several points exactly at the k-th distance, those with the lowest rows count as
/// neighbours.
template <int D, class T, class S>
__global__ void __launch_bounds__(tree_block) tree_extents(TreeEstimate<T> e, Space<T, S> s) {
  const KsgPlan<T>& p = e.p;
  const std::int64_t leaf = thread_index() / 32;
  if (leaf >= s.tree.leaves) return;
  const TreePoint<D, T, S> me(p, s, leaf);
  const T eps = e.x_radius[me.row], reach = above(eps);
  const S limit = s.bounds(me.packet.own).outer(reach);
  const auto around = [&](auto f) {  // calls f(position, distance) for the neighbours up to eps
    me.around([&] { return limit; },
              [&](std::int64_t at, S found) {
                const T far = me.distance(at, found);
                if (far < reach) f(at, far);
              });
  };
  int nearer = 0, ties = 0;
  around([&](std::int64_t, T far) { nearer += far < eps, ties += far == eps; });
  std::int64_t last_row = p.n;
  if (__any_sync(~0u, ties > p.k - nearer)) {
    last_row = -1;
    for (int found = 0; __any_sync(~0u, found < p.k - nearer); ++found) {
      std::int64_t next = p.n;
      around([&](std::int64_t at, T far) {
        const std::int64_t row = s.tree.row[at];
        if (far == eps && row > last_row && row < next) next = row;
      });
      if (found < p.k - nearer) last_row = next;
    }
  }
  T x = 0, y = 0, z = 0;
  around([&](std::int64_t at, T far) {
    if (!(far < eps || std::int64_t(s.tree.row[at]) <= last_row)) return;
#pragma unroll
    for (int c = 0; c < D; ++c) {
      const T apart = me.apart(c, at);
      T& extent = c < p.dx ? x : c < p.dx + p.dy ? y : z;
      extent = larger(extent, apart);
    }
  });
  __syncwarp();  // spare lanes read the radius of another lane's point above
  if (!me.packet.spare())
    e.x_radius[me.row] = above(x), e.y_radius[me.row] = above(y), e.z_radius[me.row] = above(z);
}

}  // namespace
}  // namespace kolmo::cuda
