#include "kolmo/runtime/memory/mapped.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <string>

#include "kolmo/base/error.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/memory/size_class.hpp"

namespace kolmo::memory {
namespace {
constexpr std::size_t page = 4 << 10, huge_page = 2 << 20;

std::size_t page_of(std::size_t bytes) { return bytes < huge_page ? page : huge_page; }
}  // namespace

void* map_touched(std::size_t bytes) {
  const std::size_t step = page_of(bytes), size = round_up(bytes, step);
  void* const mapped = size < bytes ? MAP_FAILED
                                    : mmap(nullptr, size + step, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) fail<OutOfMemory>("host: no memory for " + std::to_string(bytes) + " bytes");
  char* const begin = static_cast<char*>(mapped);
  char* const data = begin + (step - reinterpret_cast<std::uintptr_t>(begin) % step) % step;
  if (data != begin) munmap(begin, std::size_t(data - begin));
  if (const auto rest = std::size_t(begin + size + step - (data + size))) munmap(data + size, rest);
  madvise(data, size, MADV_HUGEPAGE);  // the system may ignore it
  parallel_for(hardware_threads(), std::int64_t(size / step), [&](std::int64_t i, int) {
    for (std::size_t at = 0; at < step; at += page)
      static_cast<volatile char*>(data)[std::size_t(i) * step + at] = 0;
  });
  return data;
}

void unmap(void* data, std::size_t bytes) noexcept { munmap(data, round_up(bytes, page_of(bytes))); }

}  // namespace kolmo::memory
