#pragma once
// The spaces whose points an estimate searches: all columns, and the columns of each marginal.
#include <type_traits>

#include "kolmo/knn/box_tree.cuh"
#include "kolmo/knn/f32_image.cuh"
#include "kolmo/knn/ksg.cuh"

namespace kolmo::cuda {
namespace {

constexpr int most_tree_columns = 8;
constexpr int tree_block = 128;

/// Some columns of x, y and z. Row r of this estimate is row mapped[r] of x, and row r of y and z. If there is one
/// column, it is searched in ascending order, else by a tree. S is the type in which the search compares: T, or f32 for
/// images.
template <class T, class S>
struct Space {
  static constexpr bool imaged = !std::is_same_v<T, S>;
  using Bounds = std::conditional_t<imaged, ImageBounds, ExactBounds>;
  int columns, x_columns;
  const T* base[most_tree_columns];
  std::int64_t step[most_tree_columns];          // between rows
  const std::uint32_t* rank[most_tree_columns];  // of rows, as fractions in units of 2^-32
  const Frame* frame[most_tree_columns];
  const std::uint32_t* mapped;
  T* ascending;
  S* ascending_image;
  BoxTree<S> tree;

  void add(const T* rows, int count, const std::uint32_t* ranks, const Frame* frames, std::int64_t n) {
    for (int c = 0; c < count; ++c, ++columns)
      base[columns] = rows + c, step[columns] = count, rank[columns] = ranks + c * n,
      frame[columns] = frames + c;
  }
  __device__ std::int64_t row_of(int c, std::int64_t row) const { return c < x_columns ? mapped[row] : row; }
  __device__ T value(int c, std::int64_t row) const { return base[c][row_of(c, row) * step[c]]; }
  template <int D>
  __device__ void values(std::int64_t row, T (&to)[D]) const {
#pragma unroll
    for (int c = 0; c < D; ++c) to[c] = value(c, row);
  }

  /// The scale of the images of D columns.
  template <int D>
  __device__ double scale() const {
    double spread = 0;
    if constexpr (imaged)
#pragma unroll
      for (int c = 0; c < D; ++c) spread = larger(spread, frame[c]->spread);
    return scale_of(spread);
  }
  /// The value as the search compares it.
  __device__ S searched(int c, std::int64_t row, double scale) const {
    if constexpr (imaged)
      return image_of(value(c, row), frame[c]->centre, scale);
    else
      return value(c, row);
  }
  template <int D>
  __device__ Bounds bounds(const S (&own)[D]) const {
    if constexpr (imaged) {
      float most = 0;
#pragma unroll
      for (int c = 0; c < D; ++c) most = larger(most, fabsf(own[c]));
      return {scale<D>(), most};
    } else {
      return {};
    }
  }
};

/// Maps numbers to integers of the same order, with -0 as 0. Sorts compare these, as f64 is slow on some GPUs.
__device__ inline std::uint64_t ordered(double v) {
  const auto bits = std::bit_cast<std::uint64_t>(v + 0.0), sign = std::uint64_t(1) << 63;
  return bits & sign ? ~bits : bits | sign;
}
__device__ inline double from_ordered(std::uint64_t key) {
  const auto sign = std::uint64_t(1) << 63;
  return std::bit_cast<double>(key & sign ? key & ~sign : ~key);
}

/// Prepares one column for its sort, and reports values that are not finite.
template <class T>
__global__ void tree_column(KsgPlan<T> p, RowSort<std::uint64_t> sort, const T* rows, int column, int columns,
                            KsgFault fault) {
  const int from = sort.first();
  for (std::int64_t r = thread_index(); r < p.n; r += thread_count()) {
    const std::int64_t index = r * columns + column;
    p.check(fault, rows[index], index, r);
    sort.keys(from)[r] = ordered(rows[index]), sort.rows(from)[r] = std::uint32_t(r);
  }
}

/// Stores the frame of a sorted column and the ranks of its rows. Equal values have equal ranks. `ascending` and `image`
/// get the sorted values unless they are null.
template <class T, class S>
__global__ void tree_ranks(KsgPlan<T> p, RowSort<std::uint64_t> sort, std::uint32_t* rank, Frame* frame,
                           T* ascending, S* image) {
  Frame at_all{};
  if constexpr (Space<T, S>::imaged)
    at_all = frame_of(p.n, [&](std::int64_t i) { return from_ordered(sort.key[0][i]); });
  if (Space<T, S>::imaged && thread_index() == 0) *frame = at_all;
  for (std::int64_t i = thread_index(); i < p.n; i += thread_count()) {
    const auto range = p.problem_of(i);
    const std::uint64_t* const key = sort.key[0];
    std::int64_t low = range.begin, high = i;
    if (i > low && key[i - 1] < key[i]) low = i;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (key[middle] < key[i])
        low = middle + 1;
      else
        high = middle;
    }
    const auto all = std::uint64_t(range.end - range.begin);
    rank[sort.row[0][i]] = all ? std::uint32_t((std::uint64_t(low - range.begin) << 32) / all) : 0;
    if (ascending) ascending[i] = T(from_ordered(key[i]));
    if constexpr (Space<T, S>::imaged)
      if (image) image[i] = image_of(from_ordered(key[i]), at_all.centre, scale_of(at_all.spread));
  }
}

/// Finds the row of x for every row of an estimate.
template <class T>
__global__ void tree_map(KsgPlan<T> p, std::int64_t b, std::int64_t number, std::uint32_t* mapped) {
  int made_for = -1;
  SurrogateMap map({}, 0, 0, 0);
  for (std::int64_t r = thread_index(); r < p.n; r += thread_count()) {
    const auto range = p.problem_of(r);
    if (range.problem != made_for) map = p.surrogate(range, b, number), made_for = range.problem;
    mapped[r] = std::uint32_t(range.begin + map(std::uint32_t(r - range.begin)));
  }
}

/// Turns the coordinates of a point on a grid of 2^bits cells a side into those of its place along a Hilbert curve, whose bits
/// are to be interleaved. Source: Skilling, AIP Conf. Proc. 707, 381 (2004).
template <int D>
__device__ void hilbert_place(std::uint32_t (&at)[D], int bits) {
  for (int bit = bits - 1; bit > 0; --bit) {
    const std::uint32_t low = (1u << bit) - 1;
#pragma unroll
    for (int c = 0; c < D; ++c) {
      const std::uint32_t swapped = at[c] >> bit & 1 ? 0 : (at[0] ^ at[c]) & low;
      at[0] ^= at[c] >> bit & 1 ? low : swapped, at[c] ^= swapped;
    }
  }
#pragma unroll
  for (int c = 1; c < D; ++c) at[c] ^= at[c - 1];
  std::uint32_t flips = 0;
  for (int bit = bits - 1; bit > 0; --bit) flips ^= at[D - 1] >> bit & 1 ? (1u << bit) - 1 : 0;
#pragma unroll
  for (int c = 0; c < D; ++c) at[c] ^= flips;
}

/// Orders rows along a Hilbert curve through their ranks.
template <int D, class T, class S>
__global__ void space_codes(RowSort<std::uint64_t> sort, Space<T, S> s) {
  constexpr int bits = 64 / D < 31 ? 64 / D : 31;
  const int from = sort.first();
  for (std::int64_t r = thread_index(); r < sort.n; r += thread_count()) {
    std::uint32_t at[D];
#pragma unroll
    for (int c = 0; c < D; ++c) at[c] = s.rank[c][s.row_of(c, r)] >> (32 - bits);
    hilbert_place(at, bits);
    std::uint64_t code = 0;
    for (int bit = bits - 1; bit >= 0; --bit)
#pragma unroll
      for (int c = 0; c < D; ++c) code = code << 1 | (at[c] >> bit & 1);
    sort.keys(from)[r] = code, sort.rows(from)[r] = std::uint32_t(r);
  }
}

/// Stores the points in the order found and the boxes of the leaves, each by a warp.
template <int D, class T, class S>
__global__ void space_leaves(RowSort<std::uint64_t> sort, Space<T, S> s) {
  const BoxTree<S>& tree = s.tree;
  const double scale = s.template scale<D>();
  for (std::int64_t leaf = thread_index() / 32; leaf < tree.boxes(0); leaf += thread_count() / 32) {
    const std::int64_t i = leaf * tree.fan + threadIdx.x % 32;
    const bool used = i < tree.n;
    const std::uint32_t row = used ? sort.row[0][i] : 0;
    if (used) tree.row[i] = row;
    S lower[D], upper[D];
#pragma unroll
    for (int c = 0; c < D; ++c) {
      lower[c] = used ? s.searched(c, row, scale) : S(INFINITY), upper[c] = used ? lower[c] : -S(INFINITY);
      if (leaf < tree.leaves) tree.point[(leaf * D + c) * tree.fan + threadIdx.x % 32] = lower[c];
    }
    store_box(tree, 0, leaf, lower, upper);
  }
}

template <int D, class T, class S>
void build_space(const Space<T, S>& s, const RowSort<std::uint64_t>& sort, cudaStream_t stream) {
  constexpr int threads = 256;
  cuda::launch(space_codes<D, T, S>, blocks(s.tree.n, threads), threads, 0, stream, sort, s);
  sort_rows(sort, stream);
  cuda::launch(space_leaves<D, T, S>, blocks(s.tree.boxes(0) * 32, threads), threads, 0, stream, sort, s);
  for (int level = 1; level < s.tree.levels; ++level)
    cuda::launch(store_boxes<D, S>, blocks(s.tree.boxes(level) * 32, threads), threads, 0, stream, s.tree,
                 level);
}

}  // namespace
}  // namespace kolmo::cuda
