#pragma once
// Asynchronous copies from global to shared memory. A copy is performed only when its thread waits for it, so
// that a missing wait shows as uninitialised or stale data.

#include "simt/simt.hpp"

namespace simt {
inline namespace cuda {

/// Starts copying `size` (4, 8 or 16) bytes; the last `zfill` of them are set to zero instead.
inline void __pipeline_memcpy_async(void* to, const void* from, std::size_t size, std::size_t zfill = 0,
                                    SIMT_AT) {
  const std::string what = "__pipeline_memcpy_async: ";
  if (size != 4 && size != 8 && size != 16) fail(what + std::to_string(size) + " bytes, not 4, 8 or 16", at);
  if (zfill > size) fail(what + "more zeros than bytes", at);
  if ((reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from)) % size)
    fail(what + "address not aligned to the " + std::to_string(size) + " bytes copied", at);
  if (!is_shared(to, size)) fail(what + "the destination is not shared memory of this block", at);
  auto& copies = async_copies();
  copies.pending.push_back(
      {to, from, static_cast<unsigned>(size), static_cast<unsigned>(zfill), copies.groups});
}

inline void __pipeline_commit() { ++async_copies().groups; }

/// Waits for all committed groups but the last `prior`.
inline void __pipeline_wait_prior(std::size_t prior) {
  auto& [pending, groups] = async_copies();
  std::size_t landed = 0;
  for (; landed < pending.size() && pending[landed].group + prior < groups; ++landed) {
    const AsyncCopy& c = pending[landed];
    auto* to = static_cast<std::uint32_t*>(c.to);
    alignas(16) unsigned char bytes[16] = {};
    for (unsigned i = 0; i < c.bytes - c.zeros; ++i) bytes[i] = static_cast<const unsigned char*>(c.from)[i];
    for (unsigned i = 0; i < c.bytes / 4; ++i) std::memcpy(to + i, bytes + 4 * i, 4);
  }
  pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(landed));
}

}  // namespace cuda
}  // namespace simt
