#pragma once
// A stable merge sort of rows by a key.
#include <cstdint>

#include "kolmo/device/grid.cuh"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo::cuda {
namespace {

/// Sorts `arrays` independent arrays of n keys each, stored end to end, together with the row of each key.
/// The order is by group, then key (NaN last), then row; groups are already contiguous. Unsorted input is in
/// key[first()], row[first()]; the result is in key[0], row[0].
template <class T>
struct RowSort {
  static constexpr int run = 256;
  T* key[2];
  std::uint32_t* row[2];
  const std::int32_t* group;  // group of each row, ascending; null: one group
  std::int64_t n, arrays;

  KOLMO_HD int first() const {
    int levels = 0;
    for (std::int64_t width = run; width < n; width *= 2) ++levels;
    return levels % 2;
  }
  // Written as a choice, since key[i] with an i known at run time would move the whole argument into local
  // memory.
  __device__ T* keys(int i) const { return i ? key[1] : key[0]; }
  __device__ std::uint32_t* rows(int i) const { return i ? row[1] : row[0]; }
  __device__ bool before(T a, std::uint32_t row_a, T b, std::uint32_t row_b) const {
    if (group && group[row_a] != group[row_b]) return group[row_a] < group[row_b];
    return a < b || (a == a && b != b);
  }
};

template <class T>
__global__ void __launch_bounds__(RowSort<T>::run) sort_runs(RowSort<T> s) {
  constexpr int run = RowSort<T>::run;
  __shared__ T key[run];
  __shared__ std::uint32_t row[run];
  const std::int64_t begin = std::int64_t(blockIdx.x) * run, base = std::int64_t(blockIdx.y) * s.n;
  const int count = int(s.n - begin < run ? s.n - begin : run), me = int(threadIdx.x), from = s.first();
  if (me < count) key[me] = s.keys(from)[base + begin + me], row[me] = s.rows(from)[base + begin + me];
  __syncthreads();
  if (me >= count) return;
  int at = 0;
  for (int i = 0; i < count; ++i)
    at += i < me ? !s.before(key[me], row[me], key[i], row[i]) : s.before(key[i], row[i], key[me], row[me]);
  s.keys(from)[base + begin + at] = key[me], s.rows(from)[base + begin + at] = row[me];
}

/// Merges pairs of sorted runs of `width` elements: each element searches the other run for the number of
/// elements that come before it.
template <class T>
__global__ void sort_merge(RowSort<T> s, std::int64_t width, int from) {
  const std::int64_t base = std::int64_t(blockIdx.y) * s.n;
  const T* key = s.keys(from) + base;
  const std::uint32_t* row = s.rows(from) + base;
  for (std::int64_t i = thread_index(); i < s.n; i += thread_count()) {
    const std::int64_t pair = i / (2 * width) * (2 * width), middle = pair + width < s.n ? pair + width : s.n;
    const bool left = i < middle;
    std::int64_t low = left ? middle : pair;
    std::int64_t high = left ? (pair + 2 * width < s.n ? pair + 2 * width : s.n) : middle;
    const std::int64_t other = low;
    while (low < high) {
      const std::int64_t at = (low + high) / 2;
      const bool goes_before =
          left ? s.before(key[at], row[at], key[i], row[i]) : !s.before(key[i], row[i], key[at], row[at]);
      if (goes_before)
        low = at + 1;
      else
        high = at;
    }
    const std::int64_t to = base + (left ? i : i - width) + (low - other);
    s.keys(1 - from)[to] = key[i], s.rows(1 - from)[to] = row[i];
  }
}

template <class T>
void sort_rows(RowSort<T> s, cudaStream_t stream) {
  constexpr int threads = 256;
  constexpr std::int64_t most = 65535;  // rows of a launch grid
  for (; s.arrays > 0; s.arrays -= most) {
    const auto arrays = unsigned(s.arrays < most ? s.arrays : most);
    cuda::launch(sort_runs<T>, dim3(blocks(s.n, s.run, 1u << 31), arrays), s.run, 0, stream, s);
    int from = s.first();
    for (std::int64_t width = s.run; width < s.n; width *= 2, from = 1 - from)
      cuda::launch(sort_merge<T>, dim3(blocks(s.n, threads), arrays), threads, 0, stream, s, width, from);
    for (int i = 0; i < 2; ++i) s.key[i] += most * s.n, s.row[i] += most * s.n;
  }
}

}  // namespace
}  // namespace kolmo::cuda
