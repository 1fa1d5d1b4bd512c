#pragma once
#include "kolmo/base/sums.hpp"
#include "kolmo/ops/training/weights_gram/weights_gram.hpp"

namespace kolmo {

/// The matrix is computed in tiles of gram_side x gram_side products on and above its diagonal.
inline constexpr int gram_side = 4, gram_products = gram_side * gram_side;
using GramSums = Sums<gram_products>;

struct GramSizes {
  std::int64_t m, n, matrices, tiles, chunks;
  explicit GramSizes(const WeightsGramArgs& a)
      : m(a.weights.dim(-2)),
        n(a.weights.dim(-1)),
        matrices(m ? a.gram.size() / (m * m) : 0),
        tiles((m + gram_side - 1) / gram_side * ((m + gram_side - 1) / gram_side + 1) / 2),
        chunks(sum_chunks(n)) {}
};
/// The first row and column of a tile; the tiles of a column of tiles follow each other, from the top.
struct GramTile {
  std::int64_t row = 0, column = 0;
  KOLMO_HD explicit GramTile(std::int64_t tile) {
    while (tile > column) tile -= ++column;
    row = tile * gram_side, column *= gram_side;
  }
};

/// Stores the products of a tile on and above the diagonal, and their mirror images.
struct StoreGramTile {
  double* gram;
  std::int64_t m, tiles;

  KOLMO_HD void operator()(std::int64_t item, const GramSums& s) const {
    const std::int64_t matrix = item / tiles;
    const GramTile tile(item - matrix * tiles);
    double* const to = gram + matrix * m * m;
    for (int p = 0; p < gram_products; ++p) {
      const std::int64_t i = tile.row + p / gram_side, j = tile.column + p % gram_side;
      if (i <= j && j < m) to[i * m + j] = to[j * m + i] = one_nan(s.value[p]);
    }
  }
};

/// The tiles over a chunk of the vectors, a job of base/sums.hpp. All tiles of a chunk are neighbours, so that what they read
/// stays in a cache.
template <class T>
struct GramChunks {
  static constexpr int sums = gram_products;
  GramSizes size;
  const T *weights, *base;
  GramSums* partial;
  StoreGramTile done;

  struct Terms {
    const T *weights, *base;
    std::int64_t row, column, m, n, count;

    /// The values from which the products of a term are computed, which are 0 where there is no such vector or term.
    struct Fetched {
      T left[gram_side], right[gram_side], base;
    };
    template <bool Diagonal>
    KOLMO_HD void fetch(std::int64_t i, Fetched& to) const {
      const auto of = [&](std::int64_t vector) {
        return vector < m && i < count ? weights[vector * n + i] : T(0);
      };
      for (int k = 0; k < gram_side; ++k) {
        to.left[k] = of(row + k);
        if constexpr (!Diagonal) to.right[k] = of(column + k);
      }
      to.base = base && i < count ? base[i] : T(0);
    }
    KOLMO_HD double off(T value, T from) const {
      return exact_add(double(Compute<T>(value)), -double(Compute<T>(from)));
    }

    KOLMO_HD double element(std::int64_t vector, std::int64_t i) const {
      const double value = vector < m ? double(Compute<T>(weights[vector * n + i])) : 0;
      return base && vector < m ? exact_add(value, -double(Compute<T>(base[i]))) : value;
    }
    KOLMO_HD GramSums operator()(std::int64_t i) const {
      double left[gram_side], right[gram_side];
      for (int k = 0; k < gram_side; ++k) left[k] = element(row + k, i), right[k] = element(column + k, i);
      GramSums products;
      for (int p = 0; p < gram_products; ++p)
        products.value[p] = exact_mul(left[p / gram_side], right[p % gram_side]);
      return products;
    }
  };
  std::int64_t items() const { return size.matrices * size.chunks * size.tiles; }
  KOLMO_HD Terms terms(std::int64_t item) const {
    const std::int64_t all = item / size.tiles, matrix = all / size.chunks,
                       first = (all - matrix * size.chunks) * sum_chunk, rest = size.n - first;
    const GramTile tile(item - all * size.tiles);
    return {weights + matrix * size.m * size.n + first,
            base ? base + matrix * size.n + first : nullptr,
            tile.row,
            tile.column,
            size.m,
            size.n,
            rest < sum_chunk ? rest : sum_chunk};
  }
  KOLMO_HD void finish(std::int64_t item, const GramSums& s) const {
    const std::int64_t all = item / size.tiles, tile = item - all * size.tiles, matrix = all / size.chunks,
                       at = matrix * size.tiles + tile;
    if (size.chunks == 1)
      done(at, s);
    else
      partial[at * size.chunks + all - matrix * size.chunks] = s;
  }
};

inline GramSums* gram_scratch(Arena& arena, const WeightsGramArgs& a) {
  const GramSizes size(a);
  return take_partial_sums<gram_products>(arena, size.matrices * size.tiles, size.n);
}

/// Calls run(job, items, terms of the longest sum) for the chunks and, if there are several, for their sums.
template <class Run>
void gram_sums(const WeightsGramArgs& a, Arena& arena, const Run& run) {
  const GramSizes size(a);
  GramSums* const partial = gram_scratch(arena, a);
  const StoreGramTile done{a.gram.as<double>(), size.m, size.tiles};
  visit<double, float, Half, BFloat16>(a.weights.dtype, [&]<class T> {
    const GramChunks<T> chunks{size, a.weights.as<T>(), a.base.as<T>(), partial, done};
    run(chunks, chunks.items(), std::min(size.n, sum_chunk));
  });
  if (size.chunks > 1)
    run(PartialSums<gram_products, StoreGramTile>{partial, done, size.chunks}, size.matrices * size.tiles,
        size.chunks);
}

}  // namespace kolmo
