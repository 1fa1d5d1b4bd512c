#include "kolmo/ops/nn/attention/attention_cpu.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <limits>

#include "kolmo/ops/nn/attention/attention_call.hpp"
#include "kolmo/ops/nn/attention/attention_vectors.hpp"
#include "kolmo/runtime/cpu/blas.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {
namespace {
using A = AttentionArgs;

constexpr std::int64_t most_rows = 128, keys_of_step = 256;

/// Rows of a block; fewer if there would be few blocks. The number depends on the shapes alone, and so do the
/// results.
std::int64_t rows_of_block(const AttentionMask& m) {
  return m.groups * m.rows >= 16 * most_rows ? most_rows : 32;
}

/// The memory of a thread.
template <class C>
struct ThreadBuffers {
  C *q, *scores, *sums, *k, *v;
  static std::int64_t size(std::int64_t d, bool widens) {
    return most_rows * (2 * d + keys_of_step) + (widens ? 2 * keys_of_step * d : 0);
  }
  ThreadBuffers(C* memory, std::int64_t d)
      : q(memory),
        scores(q + most_rows * d),
        sums(scores + most_rows * keys_of_step),
        k(sums + most_rows * d),
        v(k + keys_of_step * d) {}
};

template <class T>
constexpr bool widens = !std::is_same_v<T, Compute<T>>;

/// A matrix in the compute type, whose rows are `step` elements apart: the tensor's own memory, or a copy in
/// `to`.
template <class C>
struct Rows2d {
  const C* data;
  std::int64_t step;
};
template <class T>
Rows2d<Compute<T>> widened_rows(const T* from, std::int64_t step, std::int64_t rows, std::int64_t d,
                                [[maybe_unused]] Compute<T>* to) {
  if constexpr (!widens<T>) {
    return {from, step};
  } else {
    for (std::int64_t r = 0; r < rows; ++r) widen(from + r * step, d, to + r * d);
    return {to, d};
  }
}

/// Computes one block of rows of a group.
template <class T>
class Block {
 public:
  using C = Compute<T>;
  Block(const AttentionCall<T>& call, const ThreadBuffers<C>& buffers, std::int64_t group, std::int64_t row,
        std::int64_t rows)
      : c_(call), b_(buffers), group_(group), row_(row), rows_(rows) {
    most_.fill(-std::numeric_limits<C>::infinity());
  }

  void run() {
    std::int64_t last = 0;
    for (std::int64_t i = 0; i < rows_; ++i) {
      const T* const from = c_.q + c_.query_at(group_, row_ + i);
      std::transform(from, from + c_.d, b_.q + i * c_.d, [](T x) { return C(x); });
      last = std::max(last, c_.end(position(i)));
    }
    std::fill_n(b_.sums, rows_ * c_.d, C(0));
    for (std::int64_t key = 0; key < last; key += keys_of_step) step(key, std::min(keys_of_step, last - key));
    for (std::int64_t i = 0; i < rows_; ++i) {
      const double total = total_[std::size_t(i)];
      const C factor = total == 0 ? C(0) : C(1 / total);
      const C* const from = b_.sums + i * c_.d;
      std::transform(from, from + c_.d, c_.y + c_.query_at(group_, row_ + i),
                     [factor](C x) { return T(x * factor); });
    }
  }

 private:
  std::int64_t position(std::int64_t i) const { return (row_ + i) % c_.s; }

  void step(std::int64_t key, std::int64_t keys) {
    const std::int64_t at = c_.key_at(group_, key);
    const auto k = widened_rows(c_.k + at, c_.k_row, keys, c_.d, b_.k),
               v = widened_rows(c_.v + at, c_.k_row, keys, c_.d, b_.v);
    const int m = int(rows_), n = int(keys), d = int(c_.d);
    gemm({false, true, m, n, d}, c_.scale, b_.q, d, k.data, k.step, 0, b_.scores, keys_of_step);
    for (std::int64_t i = 0; i < rows_; ++i) weigh(i, key, keys);
    gemm({false, false, m, d, n}, 1, b_.scores, keys_of_step, v.data, v.step, 1, b_.sums, d);
  }

  /// Turns the scores of a row into weights, relative to its largest score so far.
  void weigh(std::int64_t i, std::int64_t key, std::int64_t keys) {
    C* const row = b_.scores + i * keys_of_step;
    const std::int64_t seen = std::clamp<std::int64_t>(c_.end(position(i)) - key, 0, keys);
    std::fill(row + seen, row + keys, C(0));
    if (!seen) return;
    if (const std::uint8_t* const mask = c_.row(group_, position(i)))
      for (std::int64_t j = 0; j < seen; ++j)
        if (!mask[key + j]) row[j] = -std::numeric_limits<C>::infinity();
    const std::size_t r = std::size_t(i);
    const auto weights = vectors_.weigh(row, seen, most_[r]);
    if (weights.largest != most_[r]) {
      const C factor = std::exp(most_[r] - weights.largest);
      vectors_.scale(b_.sums + i * c_.d, c_.d, factor);
      most_[r] = weights.largest, total_[r] *= double(factor);
    }
    total_[r] += weights.sum;
  }

  const AttentionCall<T>& c_;
  ThreadBuffers<C> b_;
  std::int64_t group_, row_, rows_;
  AttentionVectors<C> vectors_ = attention_vectors<C>();
  std::array<C, std::size_t(most_rows)> most_;
  std::array<double, std::size_t(most_rows)> total_{};
};

template <class T>
Compute<T>* take_buffers(Arena& arena, const A& a, int threads) {
  return arena.take<Compute<T>>(threads * ThreadBuffers<Compute<T>>::size(a.q.dim(-1), widens<T>));
}

}  // namespace

void attend_blocked(const A& a, Arena scratch, Stream& stream) {
  visit<double, float, Half, BFloat16>(a.q.dtype, [&]<class T> {
    using C = Compute<T>;
    const AttentionCall<T> c(a);
    const int threads = stream.threads();
    C* const memory = take_buffers<T>(scratch, a, threads);
    const std::int64_t rows = rows_of_block(c), blocks = (c.rows + rows - 1) / rows,
                       size = ThreadBuffers<C>::size(c.d, widens<T>);
    parallel_for(threads, c.groups * blocks, [&](std::int64_t i, int thread) {
      const std::int64_t row = (blocks - 1 - i % blocks) * rows;  // rows with the most keys come first
      Block<T>(c, {memory + thread * size, c.d}, i / blocks, row, std::min(rows, c.rows - row)).run();
    });
  });
}

void lay_blocked_attention(Arena& arena, const A& a, int threads) {
  visit<double, float, Half, BFloat16>(a.q.dtype, [&]<class T> { take_buffers<T>(arena, a, threads); });
}

bool blocked_attention_fits(const A& a) {
  const AttentionSizes n(a);
  return n.d * (n.heads_first ? 1 : n.kv_heads) <= INT_MAX;  // OpenBLAS counts in int
}

}  // namespace kolmo
