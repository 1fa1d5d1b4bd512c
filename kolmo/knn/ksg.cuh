#pragma once
// Code shared by all kernels of the nearest-neighbour estimators, and the steps before and after the
// estimates.
#include <bit>
#include <cmath>

#include "kolmo/base/sums.hpp"
#include "kolmo/knn/distance.cuh"
#include "kolmo/knn/finite.hpp"
#include "kolmo/knn/ksg.hpp"
#include "kolmo/knn/psi_sum.hpp"
#include "kolmo/knn/row_sort.cuh"
#include "kolmo/knn/surrogate.hpp"
#include "kolmo/knn/theiler.hpp"

namespace kolmo::cuda {
namespace {

/// For each point, the other points outside its Theiler window by distance: all those that are nearer than
/// `reach`.
template <class T>
struct NeighbourList {
  T *distance, *reach;
  std::uint32_t *point, *length;
  std::int64_t cap;  ///< entries of a point
};

/// A point of a lane whose lists are too short. Its k-th neighbour is not farther than `bound`.
template <class T>
struct OpenPoint {
  T bound;
  std::uint32_t point, lane;
};

/// One call: t problems, whose rows are stored end to end in n rows, with b alternatives of x and e estimates
/// of each. Within each problem the points are numbered in ascending order of the key, which is the first
/// column of z, or of y if there is no z. Each estimate is called a lane.
template <class T>
struct KsgPlan {
  std::int64_t n, b, e, theiler;
  int t, dx, dy, dz, k;
  bool first_kind;  // ksg1, else ksg2
  SurrogateOptions surrogate_options;
  const std::int64_t *segments, *streams, *min_shifts, *time;
  const T *source_x, *source_y, *source_z;
  double *value, *local;
  Status status;

  std::int64_t* offsets;  // the segments after they were checked
  RowSort<T> sort;      // first the key; then each column of each alternative of x, if intervals are counted
  std::int32_t* group;  // problem of each row, if there are segments
  std::uint32_t* at;    // point of each row
  T* yz;                // columns of y, then z, in point order
  T* x;                 // x of the current lanes, each at lane_offset; see column_step, row_step
  PsiTerm* terms;
  PsiSum* sums;       // [problem][lane]
  double* constants;  // the additive constant of the estimator, per problem; NaN if its data are faulty
  std::int64_t column_step, row_step, first_lane, lanes;

  // These are used with neighbour lists. A place is the position of a row of x in its sorted column.
  // lane_place holds those of the current lanes, laid out like x, but with points 2i and 2i + 1 of a lane
  // side by side, and with zeros up to a multiple of 8 points.
  std::uint16_t *place, *lane_place;
  std::int64_t place_step;  // between columns
  /// near_z is used only if z has more than one column. Instead of points it holds the offsets of their
  /// places.
  NeighbourList<T> near_yz, near_z;
  OpenPoint<T>* open;
  unsigned long long* open_count;

  struct Range {
    int problem;
    std::int64_t begin, end;
  };
  /// Lanes are stored one after the other, or interleaved in groups of a warp.
  __device__ std::int64_t lane_offset(std::int64_t lane) const {
    return row_step == 1 ? lane * n * dx : lane / 32 * 32 * n * dx + lane % 32;
  }
  __device__ std::int64_t place_offset(std::int64_t lane) const {
    return lane / 32 * place_step * dx + lane % 32 * 2;
  }
  __device__ static std::uint32_t place_of(std::uint32_t point) { return point / 2 * 64 + point % 2; }
  __device__ Range problem_of(std::int64_t r) const {
    if (!segments) return {0, 0, n};
    const int g = group[r];
    return {g, segments[g], segments[g + 1]};
  }
  /// Returns the map by which an estimate of alternative `of` of x rearranges the rows of a problem.
  __device__ SurrogateMap surrogate(const Range& range, std::int64_t of, std::int64_t number) const {
    const std::int64_t stream = range.problem * b + of;
    SurrogateOptions options = surrogate_options;
    if (min_shifts) options.min_shift = min_shifts[stream];
    return {options, range.end - range.begin, std::uint64_t(streams ? streams[stream] : stream),
            std::uint64_t(number)};
  }
  __device__ const T* key() const { return sort.key[0]; }
  __device__ std::uint32_t row(std::int64_t point) const { return sort.row[0][point]; }
  /// A column of an alternative of x, in ascending order within each problem.
  __device__ const T* sorted_x(std::int64_t alternative, int column) const {
    return sort.key[0] + (1 + alternative * dx + column) * n;
  }
  __device__ void report(KsgFault fault, std::int64_t index) const { status.report(int(fault), index); }
  /// Reports a value that is not finite, which sets the estimates of its row's problem to NaN.
  __device__ void check(KsgFault fault, T v, std::int64_t index, std::int64_t r) const {
    if (!is_finite(v)) refuse(fault, index, r);
  }
  __device__ void refuse(KsgFault fault, std::int64_t index, std::int64_t r) const {
    report(fault, index);
    const double nan = one_nan(NAN);
    atomicExch(reinterpret_cast<unsigned long long*>(constants + problem_of(r).problem),
               std::bit_cast<unsigned long long>(nan));
  }
  __device__ bool excluded(std::int64_t row_i, std::int64_t row_j) const {
    return in_theiler_window(row_i, row_j, time, theiler);
  }
};

/// Checks the segments, in one block. If they do not ascend from 0 to n, all problems become empty, since
/// other segments would lead to accesses out of range.
template <class T>
__global__ void ksg_check_segments(KsgPlan<T> p, const std::int64_t* segments) {
  bool wrong = false;
  for (int i = int(threadIdx.x); i <= p.t; i += int(blockDim.x)) {
    const bool bad = (i == 0 && segments[i] != 0) || (i == p.t && segments[i] != p.n) ||
                     (i < p.t && segments[i] > segments[i + 1]);
    if (bad) p.report(KsgFault::segments, i);
    wrong = wrong || bad;
  }
  const bool none = __syncthreads_or(wrong);
  for (int i = int(threadIdx.x); i <= p.t; i += int(blockDim.x)) p.offsets[i] = none ? 0 : segments[i];
}

template <class T>
__global__ void ksg_prepare(KsgPlan<T> p) {
  const KsgAlgorithm algorithm = p.first_kind ? KsgAlgorithm::ksg1 : KsgAlgorithm::ksg2;
  for (std::int64_t i = thread_index(); i <= p.n; i += thread_count())
    p.terms[i] = psi_term(algorithm, p.dz > 0, i);
  for (std::int64_t i = thread_index(); i < p.t * p.b * p.e; i += thread_count()) p.sums[i] = {};
  for (std::int64_t i = thread_index(); i < p.t; i += thread_count()) {
    const std::int64_t rows = p.segments ? p.segments[i + 1] - p.segments[i] : p.n;
    const bool few = rows <= p.k + 2 * p.theiler;
    if (few) p.report(KsgFault::rows, i);
    p.constants[i] = few ? one_nan(NAN) : PsiSum::constant(algorithm, p.dz > 0, p.k, rows);
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

/// Runs after the sort: stores y and z in point order, and the point of each row. Reports values that are not
/// finite.
template <class T>
__global__ void ksg_gather(KsgPlan<T> p) {
  for (std::int64_t i = thread_index(); i < p.n * p.sort.arrays; i += thread_count()) {
    const std::int64_t at = i % p.n, column = i / p.n - 1, r = p.sort.row[0][i];
    if (column >= 0) {
      if (p.place) p.place[column * p.n + r] = std::uint16_t(at - p.problem_of(at).begin);
      continue;
    }
    p.at[r] = std::uint32_t(at);
    const auto place = [&](KsgFault fault, T* to, const T* from, std::int64_t index) {
      p.check(fault, from[index], index, r);
      to[at] = from[index];
    };
    for (int c = 0; c < p.dy; ++c) place(KsgFault::y, p.yz + c * p.n, p.source_y, r * p.dy + c);
    for (int c = 0; c < p.dz; ++c) place(KsgFault::z, p.yz + (p.dy + c) * p.n, p.source_z, r * p.dz + c);
  }
  for (std::int64_t r = thread_index(); p.time && r < p.n; r += thread_count())
    if (r > p.problem_of(r).begin && p.time[r] <= p.time[r - 1]) p.refuse(KsgFault::time, r, r);
  for (std::int64_t i = thread_index(); i < p.b * p.n * p.dx; i += thread_count())
    p.check(KsgFault::x, p.source_x[i], i, i / p.dx % p.n);
}

/// Copies rows first ... end - 1 of x for a lane, rearranged as its surrogate asks. Surrogates exist only in
/// this copy.
template <class T>
__device__ void rearrange(const KsgPlan<T>& p, std::int64_t l, std::int64_t first, std::int64_t end) {
  const std::int64_t lane = p.first_lane + l, b = lane / p.e, number = lane % p.e;
  int made_for = -1;
  SurrogateMap map({}, 0, 0, 0);
  std::uint32_t mapped = 0, run_end = 0;
  for (std::int64_t r = first; r < end; ++r) {
    const auto range = p.problem_of(r);
    if (range.problem != made_for) {
      map = p.surrogate(range, b, number);
      made_for = range.problem, run_end = 0;
    }
    const auto row = std::uint32_t(r - range.begin);
    if (row < run_end)
      mapped = mapped + 1 == map.n ? 0 : mapped + 1;
    else
      mapped = map(row), run_end = map.run_end(row);
    const std::int64_t from = range.begin + mapped, at = p.at[r];
    for (int c = 0; c < p.dx; ++c) {
      p.x[p.lane_offset(l) + c * p.column_step + at * p.row_step] = p.source_x[(b * p.n + from) * p.dx + c];
      if (!p.place) continue;
      std::uint16_t* const places = p.lane_place + p.place_offset(l) + c * p.place_step;
      places[p.place_of(std::uint32_t(at))] = p.place[(b * p.dx + c) * p.n + from];
      if (at + 1 == p.n)
        for (std::int64_t i = p.n; i < p.place_step / 32; ++i) places[p.place_of(std::uint32_t(i))] = 0;
    }
  }
}

template <class T>
__global__ void ksg_fill(KsgPlan<T> p) {
  for (std::int64_t l = blockIdx.y; l < p.lanes; l += gridDim.y)
    for (std::int64_t r = thread_index(); r < p.n; r += thread_count()) rearrange(p, l, r, r + 1);
}

template <class T>
__global__ void ksg_finish(KsgPlan<T> p) {
  for (std::int64_t i = thread_index(); i < p.t * p.b * p.e; i += thread_count()) {
    const std::int64_t problem = i / (p.b * p.e);
    const std::int64_t rows = p.segments ? p.segments[problem + 1] - p.segments[problem] : p.n;
    p.value[i] = one_nan(p.sums[i].estimate(p.constants[problem], rows));
  }
}

}  // namespace
}  // namespace kolmo::cuda
