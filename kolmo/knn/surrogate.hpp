#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "kolmo/base/hd.hpp"
#include "kolmo/knn/permutation.hpp"

namespace kolmo {

/// How a surrogate rearranges the rows of x, which breaks their relation to y and z:
///   permute    all rows in random order
///   circular   all rows shifted cyclically by one distance, from min_shift to n - min_shift. The surrogates of a
///              random stream have different distances until all n - 2 min_shift + 1 have been used
///   block      the rows are shifted cyclically by a random distance, cut into blocks of block_length and a shorter
///              one, and the blocks put in random order
///   trials     blocks of block_length, the rows of a trial, in random order; nothing is shifted
/// Sources: Theiler et al., Physica D 58, 77 (1992); Quian Quiroga et al., Phys. Rev. E 65, 041903 (2002) for
/// shifts; Kuensch, Ann. Stat. 17, 1217 (1989) for blocks.
enum class SurrogateType : std::int32_t { permute, circular, block, trials };
inline constexpr std::string_view surrogate_type_names[] = {"permute", "circular", "block", "trials"};
constexpr std::span<const std::string_view> names_of(SurrogateType) { return surrogate_type_names; }

struct SurrogateOptions {
  SurrogateType type = SurrogateType::permute;
  std::int64_t block_length = 0;  ///< 0: the square root of the number of rows
  std::int64_t min_shift = 1;     ///< limited to the range from 1 to half of the rows
  std::uint64_t seed = 0;
  std::int64_t first = 0;  ///< added to the numbers of surrogates
};

/// The number of different shifts of n rows.
constexpr std::int64_t different_shifts(std::int64_t n, std::int64_t min_shift) {
  const std::int64_t most = n / 2, least = min_shift < 1 ? 1 : min_shift < most ? min_shift : most;
  return n - 2 * least + 1;
}

/// Row i of a surrogate is row map(i) of x. Surrogate 0 is the observed data.
struct SurrogateMap {
  std::uint32_t n;
  std::uint32_t shift = 0;               // by how much all rows are shifted
  std::uint32_t length = 0;              // of a block; 0: the rows keep their order
  std::uint32_t short_at = 0, last = 0;  // position and length of the one short block
  Permutation permutation{};

  KOLMO_HD constexpr SurrogateMap(const SurrogateOptions& o, std::int64_t rows, std::uint64_t stream,
                                  std::uint64_t number)
      : n(std::uint32_t(rows)) {
    number += std::uint64_t(o.first);
    if (number == 0 || n < 2) return;
    if (o.type == SurrogateType::circular) {
      const auto different = std::uint32_t(different_shifts(rows, o.min_shift));
      const Permutation order(different, o.seed, stream, 0);  // no surrogate has the number 0
      shift = (n - different + 1) / 2 + order(std::uint32_t((number - 1) % different));
      return;
    }
    length = o.type == SurrogateType::permute ? 1 : block_rows(o.block_length);
    if (o.type == SurrogateType::block) {
      const Philox::Words w = Philox(o.seed)(number << 8 | 0xff, stream);
      shift = std::uint32_t((std::uint64_t(w.w[0]) * n) >> 32);
    }
    const std::uint32_t count = (n + length - 1) / length;
    permutation = Permutation(count, o.seed, stream, number);
    last = n - (count - 1) * length;
    if (length > 1) short_at = permutation.inverse(count - 1);
  }

  /// Whether the rows are only shifted cyclically.
  KOLMO_HD constexpr bool in_order() const { return length == 0; }
  KOLMO_HD constexpr bool identity() const { return in_order() && shift == 0; }

  /// Row i begins or continues a run of rows that come from consecutive rows of x (where the first row of x
  /// follows the last). Returns the end of that run.
  KOLMO_HD constexpr std::uint32_t run_end(std::uint32_t i) const {
    if (in_order()) return n;
    const std::uint32_t begin = short_at * length;
    if (i < begin) return i / length * length + length;
    if (i < begin + last) return begin + last;
    return (i - last) / length * length + length + last;
  }

  KOLMO_HD constexpr std::uint32_t operator()(std::uint32_t i) const {
    if (length == 1) return permutation(i);
    const std::uint32_t from = length ? rearranged(i) : i;
    return from < n - shift ? from + shift : from - (n - shift);
  }

 private:
  KOLMO_HD constexpr std::uint32_t block_rows(std::int64_t wanted) const {
    if (wanted) return wanted < n ? std::uint32_t(wanted) : n;
    std::uint32_t root = 1;
    while (std::uint64_t(root + 1) * (root + 1) <= n) ++root;
    return root;
  }
  KOLMO_HD constexpr std::uint32_t rearranged(std::uint32_t i) const {
    const std::uint32_t begin = short_at * length;  // all blocks before the short one are full
    if (i < begin) return permutation(i / length) * length + i % length;
    if (i < begin + last) return (n - last) + (i - begin);
    i -= last;
    return permutation(i / length + 1) * length + i % length;
  }
};

}  // namespace kolmo
