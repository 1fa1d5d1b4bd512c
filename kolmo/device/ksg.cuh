#pragma once
// Kernels of the nearest-neighbour estimators. Anonymous namespace: see grid.cuh.
#include "kolmo/base/ksg.hpp"
#include "kolmo/base/permutation.hpp"
#include "kolmo/base/psi_sum.hpp"
#include "kolmo/device/grid.cuh"

namespace kolmo::cuda {
namespace {

/// One call: t problems laid end to end in n rows, b alternatives of x, e estimates of each. Points are
/// numbered by the first column of z, or of y without z (the key), within each problem.
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

  std::uint32_t *row, *at;  // of each point, and back
  T* yz;                    // columns of y, then z, in key order
  T* x;                     // of the lanes at work: column_step, row_step, lane_step apart
  T* sorted_x;              // per alternative and problem, ascending; for one column of x without z
  PsiTerm* terms;
  PsiSum* sums;       // problem, lane
  double* constants;  // what the estimator adds, per problem
  std::int64_t column_step, row_step, lane_step, first_lane, lanes;

  struct Range {
    int problem;
    std::int64_t begin, end;
  };
  __device__ Range problem_of(std::int64_t r) const {
    if (!segments) return {0, 0, n};
    int low = 0, high = t;  // segments[low] <= r < segments[high]
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      if (segments[middle] <= r)
        low = middle;
      else
        high = middle;
    }
    return {low, segments[low], segments[low + 1]};
  }
  __device__ const T* key() const { return dz ? yz + dy * n : yz; }
  __device__ T source_key(std::int64_t r) const { return dz ? source_z[r * dz] : source_y[r * dy]; }
  __device__ bool excluded(std::int64_t i, std::int64_t j) const {
    const std::int64_t apart = i < j ? j - i : i - j;
    return apart <= theiler && (!set || set[i] == set[j]);
  }
};

template <class T>
__device__ T distance_of(T a, T b) {
  return a < b ? b - a : a - b;
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
}

/// Rank by counting: n^2 comparisons at full width beat a sort up to about 10^5 rows, and need no library.
template <class T>
__global__ void ksg_order(KsgPlan<T> p) {
  for (std::int64_t r = thread_index(); r < p.n; r += thread_count()) {
    const auto range = p.problem_of(r);
    const T mine = p.source_key(r);
    std::int64_t at = range.begin;
    for (std::int64_t j = range.begin; j < range.end; ++j) {
      const T other = p.source_key(j);
      at += other < mine || (other == mine && j < r);
    }
    p.row[at] = std::uint32_t(r), p.at[r] = std::uint32_t(at);
    for (int c = 0; c < p.dy; ++c) p.yz[c * p.n + at] = p.source_y[r * p.dy + c];
    for (int c = 0; c < p.dz; ++c) p.yz[(p.dy + c) * p.n + at] = p.source_z[r * p.dz + c];
  }
}

template <class T>
__global__ void ksg_sort_x(KsgPlan<T> p) {
  for (std::int64_t i = thread_index(); i < p.n * p.b; i += thread_count()) {
    const std::int64_t b = i / p.n, r = i % p.n;
    const auto range = p.problem_of(r);
    const T* x = p.source_x + b * p.n;
    std::int64_t at = range.begin;
    for (std::int64_t j = range.begin; j < range.end; ++j) at += x[j] < x[r] || (x[j] == x[r] && j < r);
    p.sorted_x[b * p.n + at] = x[r];
  }
}

/// Rearranges x for the lanes at work: the surrogates exist only here.
template <class T>
__global__ void ksg_fill(KsgPlan<T> p) {
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
      for (int c = 0; c < p.dx; ++c)
        p.x[c * p.column_step + at * p.row_step + l * p.lane_step] = p.source_x[(b * p.n + from) * p.dx + c];
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

#include "kolmo/device/ksg_point.cuh"
