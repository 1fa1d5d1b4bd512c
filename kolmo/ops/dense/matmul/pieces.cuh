#pragma once
// Copies pieces of the factors of matmul into shared memory.
#include <cstdint>
#include <type_traits>

#include "kolmo/base/pack.hpp"
#include "kolmo/device/async.cuh"

namespace kolmo {
namespace {

/// How a factor lies in memory, and its pieces in shared memory:
///   down     the factor is k x extent, and so are its pieces
///   right    the factor is extent x k, and so are its pieces
///   turned   the factor is extent x k, and its pieces are k x extent
enum class PieceLayout : std::uint8_t { down, right, turned };

/// Copies a piece by single elements, where PieceCopies cannot copy packs. From `from` on the matrix has
/// `rows` more rows and `columns` more columns.
template <class T, int Rows, int Columns, int Threads, int Row>
__device__ void copy_elements(T (*to)[Row], const T* from, int rows, int columns, int of_row) {
  if (rows <= 0 || columns <= 0) {  // beyond the matrix
    constexpr int width = pack_width<T>;
    static_assert(Row % width == 0);
#pragma unroll 1
    for (int i = int(threadIdx.x); i < Rows * Row / width; i += Threads)
      store_pack(to[0] + i * width, Pack<T, width>{});
    return;
  }
#pragma unroll 1
  for (int i = int(threadIdx.x); i < Rows * Columns; i += Threads) {
    const int r = i / Columns, c = i % Columns;
    const bool inside = r < rows && c < columns;
    const T* const at = from + (std::int64_t(r) * of_row + c);
    if constexpr (sizeof(T) >= 4)
      cuda::copy_async(&to[r][c], at, inside);
    else
      to[r][c] = inside ? *at : T(0.0f);
  }
}

/// A thread's share in copying pieces of Depth by Extent elements of a factor, one after the other along k.
/// Elements outside the matrix become 0. The pointer advances from piece to piece: computing it anew for each
/// would take longer than all else in a step but the products.
template <class T, int Depth, int Extent, int Threads, PieceLayout Layout>
class PieceCopies {
  static constexpr bool turned = Layout == PieceLayout::turned, down = Layout == PieceLayout::down;
  using Copied = std::conditional_t<turned, T, Pack<T, pack_width<T>>>;
  static constexpr int rows = down ? Depth : Extent, columns = down ? Extent : Depth,
                       width = sizeof(Copied) / sizeof(T), across = columns / width, apart = Threads / across,
                       copies = rows / apart;
  static_assert(Threads % across == 0 && copies * apart == rows);

 public:
  /// Copies from (k, e) on, in a factor of `depth` by `extent` elements.
  __device__ PieceCopies(const T* from, int k, int e, int depth, int extent)
      : of_row_(down ? extent : depth),
        extent_left_(extent - e),
        row_(int(threadIdx.x) / across),
        column_(int(threadIdx.x) % across * width),
        at_(from + std::int64_t((down ? k : e) + row_) * of_row_ + (down ? e : k) + column_) {}

  /// Starts copying the next piece, in which k ends after k_left indices. Packs: rows of the matrix begin at
  /// multiples of 16 bytes.
  template <bool Packs, int Row>
  __device__ void next(T (*to)[Row], int k_left) {
    const int rows_left = down ? k_left : extent_left_, columns_left = down ? extent_left_ : k_left;
    if constexpr (turned || Packs) {
      const int there = column_ < columns_left ? rows_left - row_ : 0;
      const T* at = at_;
#pragma unroll
      for (int i = 0; i < copies; ++i, at += std::int64_t(apart) * of_row_) {
        T* const place = turned ? &to[column_][row_ + i * apart] : &to[row_ + i * apart][column_];
        cuda::copy_async(reinterpret_cast<Copied*>(place), reinterpret_cast<const Copied*>(at),
                         i * apart < there);
      }
    } else {
      copy_elements<T, rows, columns, Threads>(to, at_ - (std::int64_t(row_) * of_row_ + column_), rows_left,
                                               columns_left, of_row_);
    }
    at_ += down ? std::int64_t(Depth) * of_row_ : Depth;
  }
  template <int Row>
  __device__ void next(T (*to)[Row], int k_left, bool packs) {
    turned || packs ? next<true>(to, k_left) : next<false>(to, k_left);
  }

 private:
  int of_row_, extent_left_, row_, column_;
  const T* at_;
};

}  // namespace
}  // namespace kolmo
