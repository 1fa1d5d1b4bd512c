#pragma once
// Barriers, votes, shuffles, match and reduce. Each is one call of exchange(): every lane passes a value, and
// one function computes all results from all values after the lanes have arrived.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <type_traits>

#include "simt/language.hpp"

namespace simt {

struct Operation {
  unsigned mask;
  const char* what;
  const Where& at;
  Scope scope = Scope::warp;
  bool orders_memory = false;
};

template <class In>
struct Slot : Wait {
  In in;
};

/// The values passed by the lanes of the warp.
template <class In>
struct Lanes {
  Wait* const* wait;
  SIMT_PLAIN const In& operator[](int lane) const { return static_cast<const Slot<In>*>(wait[lane])->in; }
};

template <class F>
SIMT_PLAIN void for_each_lane(unsigned group, F f) {
  for (; group; group &= group - 1) f(__builtin_ctz(group));
}

/// Reports an error found while the results of a group are computed; names the thread that caused it.
[[noreturn]] void fail(const std::string& what, const Wait& of);

/// Every lane of the operation's mask passes `in` and gets f(own lane, all lanes, group).
template <class In, class F>
SIMT_PLAIN auto exchange(const Operation& op, In in, F) {
  using Out = std::invoke_result_t<F, int, Lanes<In>, unsigned>;
  struct Full : Slot<In> {
    Out out;
  };
  if (op.scope == Scope::warp && !(op.mask >> lane() & 1))
    fail(std::string(op.what) + " by a thread that is not in its own mask", op.at);
  const auto finish = [](Wait* const* wait, unsigned group) SIMT_PLAIN {
    for_each_lane(
        group, [&](int i) SIMT_PLAIN { static_cast<Full*>(wait[i])->out = F{}(i, Lanes<In>{wait}, group); });
  };
  Full mine{{{finish, op.mask, op.scope, op.orders_memory, op.what, op.at}, in}, {}};
  wait(mine);
  return mine.out;
}

template <class T>
SIMT_PLAIN T shuffle(const Operation& op, T value, int source) {
  struct In {
    T value;
    int source;
  };
  return exchange(op, In{value, source}, [](int me, Lanes<In> in, unsigned group) SIMT_PLAIN {
    const int source = in[me].source;
    if (!(group >> source & 1))
      fail(std::string(in.wait[me]->what) + ": lane " + std::to_string(me) + " reads lane " +
               std::to_string(source) + ", which does not take part",
           *in.wait[me]);
    return in[source].value;
  });
}

/// First and last lane of the calling lane's segment of `width` lanes.
struct Segment {
  int lane, first, last;
  SIMT_PLAIN Segment(int width, const Operation& op) : lane(simt::lane()) {
    if (width > 32 || __builtin_popcount(static_cast<unsigned>(width)) != 1)
      fail(std::string(op.what) + ": width " + std::to_string(width) + " is not a power of two up to 32",
           op.at);
    first = lane & -width, last = first + width - 1;
  }
  SIMT_PLAIN int within(int source) const { return source < first || source > last ? lane : source; }
};

struct Ballot {
  unsigned votes, group;
};
SIMT_PLAIN inline Ballot ballot(const Operation& op, bool vote) {
  return exchange(op, vote, [](int, Lanes<bool> in, unsigned group) SIMT_PLAIN {
    Ballot b{0, group};
    for_each_lane(group, [&](int i) SIMT_PLAIN { b.votes |= static_cast<unsigned>(in[i]) << i; });
    return b;
  });
}

template <class F, class T>
T reduce(const Operation& op, T value) {
  return exchange(op, value, [](int, Lanes<T> in, unsigned group) SIMT_PLAIN {
    T result = in[__builtin_ctz(group)];
    for_each_lane(group & (group - 1), [&](int i) SIMT_PLAIN { result = F{}(result, in[i]); });
    return result;
  });
}

inline namespace cuda {

inline void __syncthreads(SIMT_AT) { wait_block(false, "__syncthreads", at); }
inline int __syncthreads_count(int p, SIMT_AT) { return wait_block(p, "__syncthreads_count", at); }
inline int __syncthreads_and(int p, SIMT_AT) { return wait_block(!p, "__syncthreads_and", at) == 0; }
inline int __syncthreads_or(int p, SIMT_AT) { return wait_block(p, "__syncthreads_or", at) != 0; }

inline void __syncwarp(unsigned mask = ~0u, SIMT_AT) {
  ballot({mask, "__syncwarp", at, Scope::warp, true}, false);
}
inline unsigned __activemask(SIMT_AT) {
  return ballot({0, "__activemask", at, Scope::converged}, true).group;
}
inline unsigned __ballot_sync(unsigned mask, int p, SIMT_AT) {
  return ballot({mask, "__ballot_sync", at}, p).votes;
}
inline int __any_sync(unsigned mask, int p, SIMT_AT) {
  return ballot({mask, "__any_sync", at}, p).votes != 0;
}
inline int __all_sync(unsigned mask, int p, SIMT_AT) {
  return ballot({mask, "__all_sync", at}, !p).votes == 0;
}

template <class T>
T __shfl_sync(unsigned mask, T v, int source, int width = 32, SIMT_AT) {
  const Operation op{mask, "__shfl_sync", at};
  return shuffle(op, v, Segment(width, op).first | (source & (width - 1)));
}
template <class T>
T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32, SIMT_AT) {
  const Operation op{mask, "__shfl_up_sync", at};
  const Segment s(width, op);
  return shuffle(op, v, s.within(s.lane - static_cast<int>(std::min(delta, 32u))));
}
template <class T>
T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32, SIMT_AT) {
  const Operation op{mask, "__shfl_down_sync", at};
  const Segment s(width, op);
  return shuffle(op, v, s.within(s.lane + static_cast<int>(std::min(delta, 32u))));
}
template <class T>
T __shfl_xor_sync(unsigned mask, T v, int bits, int width = 32, SIMT_AT) {
  const Operation op{mask, "__shfl_xor_sync", at};
  const Segment s(width, op);
  const int source = s.lane ^ bits;  // unlike the others, may reach down into earlier segments
  return shuffle(op, v, source > s.last ? s.lane : source);
}

template <class T>
unsigned __match_any_sync(unsigned mask, T v, SIMT_AT) {
  return exchange(Operation{mask, "__match_any_sync", at}, v,
                  [](int me, Lanes<T> in, unsigned group) SIMT_PLAIN {
                    unsigned same = 0;
                    for_each_lane(group, [&](int i) SIMT_PLAIN {
                      if (!std::memcmp(&in[i], &in[me], sizeof(T))) same |= 1u << i;
                    });
                    return same;
                  });
}
template <class T>
unsigned __match_all_sync(unsigned mask, T v, int* all, SIMT_AT) {
  const unsigned same = exchange(
      Operation{mask, "__match_all_sync", at}, v, [](int me, Lanes<T> in, unsigned group) SIMT_PLAIN {
        bool equal = true;
        for_each_lane(group,
                      [&](int i) SIMT_PLAIN { equal = equal && !std::memcmp(&in[i], &in[me], sizeof(T)); });
        return equal ? group : 0;
      });
  *all = same != 0;
  return same;
}

#define SIMT_REDUCE(name, expression)                                                                   \
  template <class T>                                                                                    \
  requires std::is_same_v<T, int> || std::is_same_v<T, unsigned> T name(unsigned mask, T v, SIMT_AT) {  \
    return reduce<decltype([](T a, T b) SIMT_PLAIN -> T { return expression; })>({mask, #name, at}, v); \
  }
SIMT_REDUCE(__reduce_add_sync, static_cast<T>(static_cast<unsigned>(a) + static_cast<unsigned>(b)))
SIMT_REDUCE(__reduce_min_sync, a < b ? a : b)
SIMT_REDUCE(__reduce_max_sync, a > b ? a : b)
SIMT_REDUCE(__reduce_and_sync, a& b)
SIMT_REDUCE(__reduce_or_sync, a | b)
SIMT_REDUCE(__reduce_xor_sync, a ^ b)
#undef SIMT_REDUCE

inline void __threadfence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline void __threadfence_block() { __threadfence(); }
inline void __threadfence_system() { __threadfence(); }
inline void __nanosleep(unsigned) { yield(); }
[[noreturn]] inline void __trap(SIMT_AT) { fail("__trap", at); }

}  // namespace cuda
}  // namespace simt
