#pragma once
#include <cmath>
#include <cstdint>

#include "kolmo/base/half.hpp"
#include "kolmo/base/hd.hpp"
#include "kolmo/base/quotient.hpp"
#include "kolmo/ops/nn/attention/attention.hpp"

namespace kolmo {

/// The sizes of a call.
struct AttentionSizes {
  std::int64_t batch = 1, heads, kv_heads, s, t, d;
  bool heads_first;

  explicit AttentionSizes(const AttentionArgs& a) : heads_first(a.layout == HeadLayout::heads_first) {
    heads = a.q.dim(heads_first ? -3 : -2), s = a.q.dim(heads_first ? -2 : -3), d = a.q.dim(-1);
    kv_heads = a.k.dim(heads_first ? -3 : -2), t = a.k.dim(heads_first ? -2 : -3);
    for (int i = 0; i < a.q.rank - 3; ++i) batch *= a.q.dim(i);
  }
};

/// Tells which keys a query sees. A group is a key head of a batch entry; groups are numbered through the
/// batch. The rows of a group are the queries of the h / g heads that it serves, head by head, so that row r
/// is at position r % s.
struct AttentionMask {
  const std::uint8_t* mask;
  std::int64_t s, t, kv_heads, groups;
  std::int64_t rows;   ///< rows of one group
  std::int64_t shift;  ///< query i sees no key beyond i + shift
  std::int64_t of_batch, of_row;

  explicit AttentionMask(const AttentionArgs& a) {
    const AttentionSizes n(a);
    mask = a.mask.given() ? static_cast<const std::uint8_t*>(a.mask.data) : nullptr;
    s = n.s, t = n.t, kv_heads = n.kv_heads, groups = n.batch * n.kv_heads;
    rows = n.kv_heads ? n.heads / n.kv_heads * n.s : 0;
    shift = a.causal == Causal::none ? t : a.causal == Causal::upper_left ? 0 : t - s;
    of_row = a.mask.given() && a.mask.dim(-2) > 1 ? t : 0;
    of_batch = a.mask.given() ? a.mask.dim(-2) * t : 0;
  }
  /// Whether rows differ in the number of keys that they see.
  KOLMO_HD bool causal() const { return shift < t; }
  /// Number of pairs of a query and a key in one head that causality leaves.
  double pairs() const {
    const double keys = double(t), first = double(shift) + 1, last = double(shift) + double(s);
    const auto up_to = [keys](double end) {  // sum of min(i, keys) for i from 1 to end
      return end <= 0 ? 0 : end <= keys ? end * (end + 1) / 2 : keys * (keys + 1) / 2 + (end - keys) * keys;
    };
    return up_to(last) - up_to(first - 1);
  }
  /// Number of leading keys that a position may see.
  KOLMO_HD std::int64_t end(std::int64_t position) const {
    const std::int64_t n = position + shift + 1;
    return n < 0 ? 0 : n < t ? n : t;
  }
  /// The mask of a position, one byte for each key; null if there is no mask.
  KOLMO_HD const std::uint8_t* row(std::int64_t group, std::int64_t position) const {
    return mask ? mask + quotient(group, kv_heads) * of_batch + position * of_row : nullptr;
  }
  KOLMO_HD bool sees(std::int64_t group, std::int64_t position, std::int64_t key) const {
    return key < end(position) && (!mask || row(group, position)[key]);
  }
};

/// A call with typed pointers, and where rows of queries and keys begin.
template <class T>
struct AttentionCall : AttentionMask {
  using C = Compute<T>;
  const T *q, *k, *v;
  T* y;
  std::int64_t d, heads_of_group;
  std::int64_t q_batch, q_head, q_row, k_batch, k_head, k_row;
  double scale;

  explicit AttentionCall(const AttentionArgs& a)
      : AttentionMask(a), q(a.q.as<T>()), k(a.k.as<T>()), v(a.v.as<T>()), y(a.y.as<T>()) {
    const AttentionSizes n(a);
    d = n.d, heads_of_group = n.kv_heads ? n.heads / n.kv_heads : 0;
    q_batch = n.heads * s * d, k_batch = n.kv_heads * t * d;
    q_head = n.heads_first ? s * d : d, q_row = n.heads_first ? d : n.heads * d;
    k_head = n.heads_first ? t * d : d, k_row = n.heads_first ? d : n.kv_heads * d;
    scale = a.scale ? *a.scale : 1 / std::sqrt(double(d));
  }
  /// Offset of a row of queries, which is also that of its result.
  KOLMO_HD std::int64_t query_at(std::int64_t group, std::int64_t row) const {
    const std::int64_t entry = quotient(group, kv_heads), of_group = quotient(row, s),
                       head = (group - entry * kv_heads) * heads_of_group + of_group;
    return entry * q_batch + head * q_head + (row - of_group * s) * q_row;
  }
  /// Offset of a key, which is also that of its value.
  KOLMO_HD std::int64_t key_at(std::int64_t group, std::int64_t key) const {
    const std::int64_t entry = quotient(group, kv_heads);
    return entry * k_batch + (group - entry * kv_heads) * k_head + key * k_row;
  }
};

}  // namespace kolmo
