#pragma once
// What every kernel of the nearest-neighbour estimators needs, and the steps before and after the estimates.
// Anonymous namespace: see grid.cuh.
#include "kolmo/base/ksg.hpp"
#include "kolmo/base/permutation.hpp"
#include "kolmo/base/psi_sum.hpp"
#include "kolmo/device/sort.cuh"

namespace kolmo::cuda {
namespace {

/// One call: t problems laid end to end in n rows, b alternatives of x, e estimates of each. Points are
/// numbered by the first column of z, or of y without z (the key), within each problem. A lane is an
/// estimate.
template <class T>
struct KsgPlan {
  std::int64_t n, b, e, theiler, seed, block_length;
  int t, dx, dy, dz, k;
  bool first_kind;  // ksg1
  SurrogateType surrogate_type;
  const std::int64_t *segments, *streams;
  const std::int32_t* set;
  const T *source_x, *source_y, *source_z;
  double *value, *local;

  RowSort<T> sort;  // the key; then each column of each alternative of x, where intervals of x are counted
  std::int32_t* group;  // problem of each row, with segments
  std::uint32_t* at;    // point of each row
  T* yz;                // columns of y, then z, by point
  T* x;                 // of the lanes at work, each at lane_offset, columns and rows of it these steps apart
  PsiTerm* terms;
  PsiSum* sums;       // problem, lane
  double* constants;  // what the estimator adds, per problem
  std::int64_t column_step, row_step, first_lane, lanes;

  // With neighbour lists: places of the rows of x in their sorted columns, as x; and of each point the others
  // by distance in (y, z), `cap` places apart. All that are nearer than `reach` are listed.
  std::uint16_t *place, *lane_place;
  std::int64_t cap;
  T *list_distance, *reach;
  std::uint32_t *list_point, *list_length;
  uint2* open;  // points (x) of lanes (y) whose lists are too short
  unsigned long long* open_count;

  struct Range {
    int problem;
    std::int64_t begin, end;
  };
  /// One lane after the other, or side by side in groups of a warp.
  __device__ std::int64_t lane_offset(std::int64_t lane) const {
    return row_step == 1 ? lane * n * dx : lane / 32 * 32 * n * dx + lane % 32;
  }
  __device__ Range problem_of(std::int64_t r) const {
    if (!segments) return {0, 0, n};
    const int g = group[r];
    return {g, segments[g], segments[g + 1]};
  }
  __device__ const T* key() const { return sort.key[0]; }
  __device__ std::uint32_t row(std::int64_t point) const { return sort.row[0][point]; }
  /// A column of x, ascending within each problem.
  __device__ const T* sorted_x(std::int64_t alternative, int column) const {
    return sort.key[0] + (1 + alternative * dx + column) * n;
  }
  __device__ bool excluded(std::int64_t row_i, std::int64_t row_j) const {
    const std::int64_t apart = row_i < row_j ? row_j - row_i : row_i - row_j;
    return apart <= theiler && (!set || set[row_i] == set[row_j]);
  }
};

template <class T>
__device__ T distance_of(T a, T b) {
  return a < b ? b - a : a - b;
}
template <class T>
__device__ T larger(T a, T b) {
  return a > b ? a : b;
}
/// The largest distance over `count` columns.
template <class T>
__device__ T distance_of(const T* column, int count, std::int64_t column_step, int a, int b) {
  T far = 0;
  for (int c = 0; c < count; ++c, column += column_step) far = larger(far, distance_of(column[a], column[b]));
  return far;
}

template <class T>
__global__ void ksg_prepare(KsgPlan<T> p) {
  const KsgAlgorithm algorithm = p.first_kind ? KsgAlgorithm::ksg1 : KsgAlgorithm::ksg2;
  for (std::int64_t i = thread_index(); i <= p.n; i += thread_count())
    p.terms[i] = psi_term(algorithm, p.dz > 0, i);
  for (std::int64_t i = thread_index(); i < p.t * p.b * p.e; i += thread_count()) p.sums[i] = {};
  for (std::int64_t i = thread_index(); i < p.t; i += thread_count()) {
    const std::int64_t rows = p.segments ? p.segments[i + 1] - p.segments[i] : p.n;
    p.constants[i] = PsiSum::constant(algorithm, p.dz > 0, p.k, rows);
  }
  for (std::int64_t r = thread_index(); p.segments && r < p.n; r += thread_count()) {
    int low = 0, high = p.t;  // segments[low] <= r < segments[high]
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      if (p.segments[middle] <= r)
        low = middle;
      else
        high = middle;
    }
    p.group[r] = low;
  }
  const int from = p.sort.first();
  for (std::int64_t i = thread_index(); i < p.n * p.sort.arrays; i += thread_count()) {
    const std::int64_t r = i % p.n, column = i / p.n - 1, b = column / p.dx, c = column % p.dx;
    p.sort.rows(from)[i] = std::uint32_t(r);
    p.sort.keys(from)[i] = column >= 0 ? p.source_x[(b * p.n + r) * p.dx + c]
                           : p.dz      ? p.source_z[r * p.dz]
                                       : p.source_y[r * p.dy];
  }
}

/// After the sort: y and z by point, and where each row went.
template <class T>
__global__ void ksg_gather(KsgPlan<T> p) {
  for (std::int64_t i = thread_index(); i < p.n * p.sort.arrays; i += thread_count()) {
    const std::int64_t at = i % p.n, column = i / p.n - 1, r = p.sort.row[0][i];
    if (column >= 0) {
      if (p.place) p.place[column * p.n + r] = std::uint16_t(at - p.problem_of(at).begin);
      continue;
    }
    p.at[r] = std::uint32_t(at);
    for (int c = 0; c < p.dy; ++c) p.yz[c * p.n + at] = p.source_y[r * p.dy + c];
    for (int c = 0; c < p.dz; ++c) p.yz[(p.dy + c) * p.n + at] = p.source_z[r * p.dz + c];
  }
}

/// Rearranges x for the lanes at work: the surrogates exist only here.
template <class T>
__global__ void ksg_fill(KsgPlan<T> p) {
  if (p.open_count && blockIdx.x + blockIdx.y + threadIdx.x == 0) *p.open_count = 0;
  for (std::int64_t l = blockIdx.y; l < p.lanes; l += gridDim.y) {
    const std::int64_t lane = p.first_lane + l, b = lane / p.e, number = lane % p.e;
    int made_for = -1;
    SurrogateMap map(SurrogateType::permute, 0, 1, 0, 0, 0);
    for (std::int64_t r = thread_index(); r < p.n; r += thread_count()) {
      const auto range = p.problem_of(r);
      if (range.problem != made_for) {
        const std::int64_t rows = range.end - range.begin, stream = range.problem * p.b + b;
        std::int64_t length = p.block_length < rows ? p.block_length : rows;
        if (!length)
          for (length = 1; (length + 1) * (length + 1) <= rows;) ++length;
        map =
            SurrogateMap(p.surrogate_type, std::uint32_t(rows), std::uint32_t(length), std::uint64_t(p.seed),
                         std::uint64_t(p.streams ? p.streams[stream] : stream), std::uint64_t(number));
        made_for = range.problem;
      }
      const std::int64_t from = range.begin + map(std::uint32_t(r - range.begin)), at = p.at[r];
      for (int c = 0; c < p.dx; ++c) {
        const std::int64_t to = p.lane_offset(l) + c * p.column_step + at * p.row_step;
        p.x[to] = p.source_x[(b * p.n + from) * p.dx + c];
        if (p.place) p.lane_place[to] = p.place[(b * p.dx + c) * p.n + from];
      }
    }
  }
}

template <class T>
__global__ void ksg_finish(KsgPlan<T> p) {
  for (std::int64_t i = thread_index(); i < p.t * p.b * p.e; i += thread_count()) {
    const std::int64_t problem = i / (p.b * p.e);
    const std::int64_t rows = p.segments ? p.segments[problem + 1] - p.segments[problem] : p.n;
    p.value[i] = p.sums[i].estimate(p.constants[problem], rows);
  }
}

}  // namespace
}  // namespace kolmo::cuda
