#pragma once
// Kernels of operators that sum rows which can be read 16 bytes at once.
#include "kolmo/device/wide_sums.cuh"
#include "kolmo/op/impl.hpp"
#include "kolmo/skeleton/row_sum.hpp"

namespace kolmo::cuda {
namespace {

/// Sums each row by a block, one chunk after the other. This is the naive variant.
template <class Chunks, class Partials>
__global__ void __launch_bounds__(sum_block)
    block_per_row(EarlyStart early, Chunks chunks, Partials partials, std::int64_t rows) {
  early.wait();
  const int thread = int(threadIdx.x);
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    for (std::int64_t item = row * chunks.chunks; item < (row + 1) * chunks.chunks; ++item) {
      const auto sum = group_sum<sum_block, 1, Chunks::sums>(chunks.terms(item), true, thread);
      if (thread == 0) chunks.finish(item, sum);
    }
    if (chunks.chunks == 1) continue;
    __syncthreads();
    const auto sum = group_sum<sum_block, 1, Chunks::sums>(partials.terms(row), true, thread);
    if (thread == 0) partials.finish(row, sum);
  }
}

enum class PackedRowSum { wide, simple };
constexpr Row<PackedRowSum> packed_row_sum_rows[] = {
    {"16-byte loads", PackedRowSum::wide},
    {.name = "block per row", .config = PackedRowSum::simple, .naive = true}};

template <int N, class Rows, class Done>
void sum_rows_simply(const Rows& rows, const Done& done, std::int64_t count, std::int64_t k, Sums<N>* partial,
                     Stream& s) {
  const std::int64_t chunks = sum_chunks(k);
  cuda::launch_early(block_per_row<ChunkSums<N, Rows, Done>, PartialSums<N, Done>>, blocks(count, 1),
                     sum_block, 0, native(s), ChunkSums<N, Rows, Done>{rows, done, k, chunks, partial},
                     PartialSums<N, Done>{partial, done, chunks}, count);
}

/// The implementation of an operator that sums rows. R::packed(a) tells whether its rows are aligned to 16
/// bytes.
template <class R>
constexpr Impl<typename R::A> packed_row_sum() {
  using A = typename R::A;
  return ImplCode<A>{.rows = packed_row_sum_rows,
                     .launch =
                         [](const A& a, Arena scratch, Stream& s, int row) {
                           R::DTypes::visit(R::element(a).dtype, [&]<class T> {
                             const auto rows = R::template terms<T>(a);
                             const auto done = R::template done<T>(a);
                             const std::int64_t count = R::rows(a), k = R::length(a);
                             auto* const partial = row_sum_scratch<R>(scratch, a);
                             if (packed_row_sum_rows[row].config == PackedRowSum::simple)
                               sum_rows_simply<R::sums>(rows, done, count, k, partial, s);
                             else if (R::template packed<T>(a))
                               wide_row_sums<pack_width<T>, R::sums>(rows, done, count, k, partial, s);
                             else
                               wide_row_sums<1, R::sums>(rows, done, count, k, partial, s);
                           });
                         },
                     .lay = [](Arena& arena, const A& a, const Site&) { row_sum_scratch<R>(arena, a); }};
}

}  // namespace
}  // namespace kolmo::cuda
