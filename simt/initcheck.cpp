// Reports reads of uninitialised memory. Kernels are compiled with -fsanitize=address and the parameter
// asan-instrumentation-with-call-threshold=0 and then call __asan_load<size> before every read. The
// definitions here replace AddressSanitizer's: they do the same check and then look for the pattern of
// poison().

#include <cstdio>

#include "simt/block.hpp"
#include "simt/sanitizer.hpp"

namespace simt {
namespace {

std::string complaint(const void* p, std::size_t bytes) {
  const bool shared = current_block->shared().contains(p, bytes);
  return "read of " + std::to_string(bytes) + " bytes of uninitialised " + (shared ? "shared" : "global") +
         " memory";
}

}  // namespace

void check_initialised(const void* p, std::size_t bytes, const char* what, const Where& at) {
  if (current_block && holds_poison(p, bytes)) fail(std::string(what) + ": " + complaint(p, bytes), at);
}

#ifdef __SANITIZE_ADDRESS__
namespace {

// For eight bytes of memory there is a shadow byte. It is 0 if all of them are accessible, k if the first k
// are, and negative otherwise.
SIMT_PLAIN inline bool forbidden(const void* p, std::size_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(p), last = first + bytes - 1;
  const auto shadow = [](std::uintptr_t at) SIMT_PLAIN {
    // The address of the shadow on x86-64 Linux.
    return *reinterpret_cast<const signed char*>((at >> 3) + 0x7fff8000);
  };
  const int end = shadow(last);
  const bool end_allowed = !end || static_cast<int>(last % 8) < end;
  if (end_allowed && (first / 8 == last / 8 || (bytes <= 16 && !shadow(first) && !shadow(first + bytes / 2))))
    return false;
  return __asan_region_is_poisoned(const_cast<void*>(p), bytes);
}

std::string source_line(void* return_address) {
  char line[512];
  __sanitizer_symbolize_pc(static_cast<char*>(return_address) - 1, "%S", line, sizeof line);
  return line;
}

std::exception_ptr uninitialised(const void* p, std::size_t bytes, void* return_address) {
  return std::make_exception_ptr(Error(complaint(p, bytes) + "\n  at " + source_line(return_address) +
                                       "\n  in " + current_block->where()));
}

// AddressSanitizer's callers must not throw, so the thread is abandoned instead.
[[noreturn]] void report(const void* p, std::size_t bytes, void* return_address) {
  current_block->abandon_thread(uninitialised(p, bytes, return_address));
}

}  // namespace

#define SIMT_CHECK_LOAD(p, bytes)                                                                            \
  if (forbidden(p, bytes))                                                                                   \
    __asan_report_error(__builtin_return_address(0), __builtin_frame_address(0), __builtin_frame_address(0), \
                        p, 0, bytes);                                                                        \
  if (starts_with_poison(p) && current_block && current_block->in_thread() && holds_poison(p, bytes))        \
    report(p, bytes, __builtin_return_address(0));

#define SIMT_LOAD(bytes) \
  extern "C" SIMT_PLAIN void __asan_load##bytes(void* p) { SIMT_CHECK_LOAD(p, bytes) }
SIMT_LOAD(1)
SIMT_LOAD(2)
SIMT_LOAD(4)
SIMT_LOAD(8)
SIMT_LOAD(16)
extern "C" SIMT_PLAIN void __asan_loadN(void* p, std::size_t bytes) { SIMT_CHECK_LOAD(p, bytes) }
#endif

}  // namespace simt
