// foreach_target.h includes this file once per instruction set, so it has no ordinary include guard.
#if defined(KOLMO_KNN_SPLIT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef KOLMO_KNN_SPLIT_INL
#undef KOLMO_KNN_SPLIT_INL
#else
#define KOLMO_KNN_SPLIT_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "kolmo/knn/tree.hpp"

HWY_BEFORE_NAMESPACE();
namespace kolmo::knn {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Splits the nodes of a tree at the median of their widest column. Vectors of values are compared and moved, so that no branch depends on
/// a value.
template <class T>
class Splitter {
 public:
  explicit Splitter(Tree<T>& tree) : t_(tree) {}

  /// Orders the rows of leaves [a, b), and the columns with them, so that memory is read in order at all levels.
  void split(std::int64_t a, std::int64_t b) {
    const std::int64_t begin = a * Tree<T>::leaf, count = t_.size(a, b);
    T lower[max_columns], upper[max_columns];
    int widest = 0;
    for (int c = 0; c < t_.d; ++c) {
      range_of(t_.column(c) + begin, count, lower[c], upper[c]);
      if (upper[c] - lower[c] > upper[widest] - lower[widest]) widest = c;
    }
    t_.store_box(a, b, lower, upper);
    if (b - a == 1) return;
    // Halve the children of the smallest node that holds all leaves.
    const int shift = int(std::bit_width(std::uint64_t(b - a - 1)) - 1) / 3 * 3;
    const std::int64_t children = (b - a - 1) >> shift, left = (children / 2 + 1) << shift;
    halve(begin, count, left * Tree<T>::leaf, widest);
    split(a, a + left);
    split(a + left, b);
  }

 private:
  static constexpr T infinity = std::numeric_limits<T>::infinity();
  static constexpr std::int64_t few = 64;  // values whose ranks are counted
  using Tag = hn::ScalableTag<T>;
  using Order = typename Tree<T>::Order;
  static std::int64_t lanes() { return std::int64_t(hn::Lanes(Tag())); }

  static void range_of(const T* value, std::int64_t n, T& low, T& high) {
    const Tag tag;
    auto lows = hn::Set(tag, infinity), highs = hn::Set(tag, -infinity);
    std::int64_t i = 0;
    for (; i + lanes() <= n; i += lanes()) {
      const auto v = hn::LoadU(tag, value + i);
      lows = hn::Min(lows, v), highs = hn::Max(highs, v);
    }
    low = hn::GetLane(hn::MinOfLanes(tag, lows)), high = hn::GetLane(hn::MaxOfLanes(tag, highs));
    for (; i < n; ++i) low = std::min(low, value[i]), high = std::max(high, value[i]);
  }

  /// Moves the `left` least values of a column to the front, and all other columns and the rows with them.
  void halve(std::int64_t begin, std::int64_t count, std::int64_t left, int column) {
    const T* key = t_.column(column) + begin;
    const T pivot = of_rank(key, count, left);
    const std::int64_t front = move_all(begin, count, column, [&](auto v) HWY_ATTR {
      if constexpr (std::is_same_v<decltype(v), T>)
        return v < pivot;
      else
        return hn::Lt(v, hn::Set(Tag(), pivot));
    });
    if (front == left) return;  // otherwise some values equal the pivot: the first of the others
    move_all(begin + front, count - front, column, [&](auto v) HWY_ATTR {
      if constexpr (std::is_same_v<decltype(v), T>)
        return v <= pivot;
      else
        return hn::Le(v, hn::Set(Tag(), pivot));
    });
  }

  template <class Before>
  std::int64_t move_all(std::int64_t begin, std::int64_t count, int column, const Before& before) {
    T* key = t_.column(column) + begin;
    for (int c = 0; c < t_.d; ++c)
      if (c != column) move(key, t_.column(c) + begin, count, t_.scratch, before);
    move(key, t_.order + begin, count, reinterpret_cast<Order*>(t_.scratch), before);
    return move(key, key, count, t_.scratch, before);
  }

  /// Moves the values to the front whose keys are before the pivot, in order; returns how many they are. The keys may be the values.
  template <class V, class Before>
  static std::int64_t move(const T* key, V* value, std::int64_t n, V* scratch, const Before& before) {
    const Tag tag;
    const hn::Rebind<V, Tag> values;
    std::int64_t front = 0, back = 0, i = 0;
    for (; i + lanes() <= n; i += lanes()) {
      const auto mask = hn::RebindMask(values, before(hn::LoadU(tag, key + i)));
      const auto v = hn::LoadU(values, value + i);
      // May write to the end of a vector: at most to i + lanes(), which was loaded.
      front += store_some(values, v, mask, value + front);
      back += store_some(values, v, hn::Not(mask), scratch + back);
    }
    for (; i < n; ++i) {
      const bool in = before(key[i]);
      const V v = value[i];
      value[front] = v, scratch[back] = v;
      front += in, back += !in;
    }
    std::copy_n(scratch, back, value + front);
    return front;
  }

  /// The value with `rank` values before it in ascending order. A sample of the values says between which two it probably is; those
  /// between them are kept, and so on.
  T of_rank(const T* value, std::int64_t n, std::int64_t rank) {
    while (n > few) {
      HWY_ALIGN T sample[few];
      const std::int64_t samples = n < 32 * few ? few / 2 : few, stride = n / samples;
      for (std::int64_t i = 0; i < samples; ++i) sample[i] = value[i * stride + stride / 2];
      // The rank of a value in the sample has a standard deviation of at most sqrt(samples) / 2.
      const std::int64_t at = rank * samples / n, margin = few / 8;
      auto [low, high] = of_ranks_among_few(sample, samples, at - margin, at + margin);
      if (at + margin >= samples) high = infinity;
      std::int64_t below = 0;
      const std::int64_t kept = keep(value, n, low, high, below);
      if (rank < below)
        n = keep(value, n, -infinity, std::nextafter(low, -infinity), below);
      else if (rank >= below + kept) {
        const std::int64_t skipped = below + kept;
        n = keep(value, n, std::nextafter(high, infinity), infinity, below), rank -= skipped;
      } else if (low == high)
        return low;
      else if (kept == n)
        return by_library(value, n, rank);
      else
        n = kept, rank -= below;
      value = t_.scratch;
    }
    HWY_ALIGN T last[few];
    std::copy_n(value, n, last);
    return of_ranks_among_few(last, n, rank, rank).first;
  }

  T by_library(const T* value, std::int64_t n, std::int64_t rank) {
    if (value != t_.scratch) std::copy_n(value, n, t_.scratch);
    std::nth_element(t_.scratch, t_.scratch + rank, t_.scratch + n);
    return t_.scratch[rank];
  }

  /// Stores the lanes of a mask side by side; returns how many they are. Writes a whole vector or less.
  template <class D, class V, class M, class To>
  static std::int64_t store_some(D d, V v, M mask, To* to) {
#if HWY_TARGET == HWY_AVX2  // Highway 1.0 copies its table of indices at each call
    using Index = hwy::MakeSigned<To>;
    static constexpr auto indices = lanes_of_masks<Index, 32 / sizeof(To)>();
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(d, mask, bits);
    hn::StoreU(hn::TableLookupLanes(v, hn::SetTableIndices(d, indices[bits[0]].data())), d, to);
    return std::popcount(bits[0]);
#else
    return std::int64_t(hn::CompressStore(v, mask, d, to));
#endif
  }
  /// For each mask its lanes, then others.
  template <class Index, std::size_t lanes>
  static constexpr auto lanes_of_masks() {
    std::array<std::array<Index, lanes>, std::size_t(1) << lanes> all{};
    for (std::size_t mask = 0; mask < all.size(); ++mask)
      for (std::size_t lane = 0, at = 0; lane < lanes; ++lane)
        if (mask >> lane & 1) all[mask][at++] = Index(lane);
    return all;
  }

  /// Copies the values in [low, high] to the scratch memory, which may hold them; returns how many they are, and how many are below.
  std::int64_t keep(const T* value, std::int64_t n, T low, T high, std::int64_t& below) {
    const Tag tag;
    const auto lows = hn::Set(tag, low), highs = hn::Set(tag, high);
    std::int64_t kept = 0, i = 0;
    below = 0;
    for (; i + lanes() <= n; i += lanes()) {
      const auto v = hn::LoadU(tag, value + i);
      const auto in = hn::And(hn::Le(lows, v), hn::Le(v, highs));
      below += std::int64_t(hn::CountTrue(tag, hn::Lt(v, lows)));
      kept += store_some(tag, v, in, t_.scratch + kept);
    }
    for (; i < n; ++i) {
      const T v = value[i];
      below += v < low, t_.scratch[kept] = v, kept += low <= v && v <= high;
    }
    return kept;
  }

  /// Returns the values of two ranks among at most `few` aligned values, behind which there is memory to the end of a vector. The value of a
  /// rank is the largest that has at most so many values below it; that of a negative rank is -infinity.
  static std::pair<T, T> of_ranks_among_few(T* value, std::int64_t n, std::int64_t first,
                                            std::int64_t second) {
    const Tag tag;
    const auto none = hn::Set(tag, -infinity), one = hn::Set(tag, T(1));
    std::fill(value + n, value + (n + lanes() - 1) / lanes() * lanes(), infinity);
    auto of_first = none, of_second = none;
    for (std::int64_t i = 0; i < n; i += lanes()) {
      const auto v = hn::Load(tag, value + i);
      auto below = hn::Zero(tag);
      for (std::int64_t j = 0; j < n; ++j)
        below = hn::Add(below, hn::IfThenElseZero(hn::Lt(hn::Set(tag, value[j]), v), one));
      of_first = hn::Max(of_first, hn::IfThenElse(hn::Le(below, hn::Set(tag, T(first))), v, none));
      of_second = hn::Max(of_second, hn::IfThenElse(hn::Le(below, hn::Set(tag, T(second))), v, none));
    }
    return {hn::GetLane(hn::MaxOfLanes(tag, of_first)), hn::GetLane(hn::MaxOfLanes(tag, of_second))};
  }

  Tree<T>& t_;
};

}  // namespace HWY_NAMESPACE
}  // namespace kolmo::knn
HWY_AFTER_NAMESPACE();
#endif
