#include "kolmo/check/reference.hpp"

#include <algorithm>

namespace kolmo::check {

std::uint32_t philox32(std::uint64_t seed, std::uint64_t index) {
  std::uint32_t x[4] = {std::uint32_t(index / 4), std::uint32_t(index / 4 >> 32), 0, 0};
  std::uint32_t key[2] = {std::uint32_t(seed), std::uint32_t(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = x[0] * 0xD2511F53ull, b = x[2] * 0xCD9E8D57ull;
    const std::uint32_t next[4] = {std::uint32_t(b >> 32) ^ x[1] ^ key[0], std::uint32_t(b),
                                   std::uint32_t(a >> 32) ^ x[3] ^ key[1], std::uint32_t(a)};
    std::copy(next, next + 4, x);
    key[0] += 0x9E3779B9, key[1] += 0xBB67AE85;
  }
  return x[index % 4];
}

std::uint64_t philox64(std::uint64_t seed, std::uint64_t index) {
  return std::uint64_t(philox32(seed, 2 * index)) << 32 | philox32(seed, 2 * index + 1);
}

long double get_broadcast(const Tensor& t, const Tensor& out, std::int64_t i) {
  std::int64_t at = 0, step = 1;
  for (int d = out.rank - 1; d >= 0; --d) {
    const int own = d - (out.rank - t.rank);
    if (own >= 0) {
      if (t.dim(own) > 1) at += i % out.dim(d) * step;
      step *= t.dim(own);
    }
    i /= out.dim(d);
  }
  return get(t, at);
}

}  // namespace kolmo::check
