#include "kolmo/ops/nn/normalize/normalize.hpp"
#include "kolmo/ops/nn/normalize/normalize_rows.hpp"
#include "kolmo/skeleton/row_op.cuh"

namespace kolmo {
namespace {

struct LargerOrNan {
  template <class C>
  __device__ C operator()(C a, C b) const {
    return larger_or_nan(a, b);
  }
};

/// The largest magnitude of elements in registers. Packs beyond the end of the row repeat others of the row.
template <class T, int Threads, int W, int E>
__device__ Compute<T> largest_magnitude(const cuda::RowTile<T, Threads, W, E>& x) {
  Compute<T> most = 0;
#pragma unroll
  for (int e = 0; e < E; ++e) most = larger_or_nan(std::abs(x.value[e]), most);
  return cuda::combine<Threads>(most, LargerOrNan());
}
template <class T>
__device__ Compute<T> largest_magnitude(const cuda::MemoryRow<T>& x) {
  Compute<T> most = 0;
  for (std::int64_t i = x.thread; i < x.n; i += x.threads)
    most = larger_or_nan(std::abs(Compute<T>(x.row[i])), most);
  return cuda::combine_some(x.threads, most, LargerOrNan());
}

/// Divides by a number through a product with its inverse: a quotient of doubles would take a call for every
/// element. If the number is far from 1, both factors are scaled by a power of two, so that the inverse is a
/// normal number.
template <class C>
struct Divisor {
  C up, inverse;
  __device__ explicit Divisor(C norm) {
    constexpr C small = sizeof(C) == 4 ? C(0x1p-60) : C(0x1p-500);
    const C size = std::abs(norm);
    up = size < small ? 1 / small : size > 1 / small && size < C(INFINITY) ? small : C(1);
    inverse = 1 / (norm * up);
  }
  __device__ C operator()(C x) const { return x == 0 && std::isinf(inverse) ? x : x * up * inverse; }
};

template <class T>
struct NormalizeRow {
  using C = Compute<T>;
  using Part = Magnitude<C>;
  using Whole = Divisor<C>;
  RowNorm norm;

  explicit NormalizeRow(const NormalizeArgs& a) : norm(a.norm) {}
  bool packed() const { return true; }

  template <class Values>
  __device__ Part part(Values& x) const {
    if (norm == RowNorm::sum) return {0, x.sum([](C v) { return v; })};
    if (norm == RowNorm::l1) return {0, x.sum([](C v) { return std::abs(v); })};
    const C largest = largest_magnitude(x);
    if (norm == RowNorm::max || largest == 0) return {largest, 0};
    const Divisor<C> share(largest);
    return {largest, x.sum([=](C v) { return share(v) * share(v); })};
  }
  __device__ Whole whole(const Part& p) const { return Whole(norm_of(norm, p)); }
  template <int W, bool>
  __device__ Pack<C, W> results(const C* x, std::int64_t, const Whole& row) const {
    Pack<C, W> y;
#pragma unroll
    for (int w = 0; w < W; ++w) y.value[w] = row(x[w]);
    return y;
  }
  __device__ void keep(std::int64_t, const Whole&) const {}
};

}  // namespace

extern constinit const Impl<NormalizeArgs> normalize_cuda = cuda::row_op<NormalizeArgs, NormalizeRow>();

}  // namespace kolmo
