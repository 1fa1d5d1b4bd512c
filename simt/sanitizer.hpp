#pragma once
// Annotations for the sanitizers, as functions that do nothing when these are off. For race detection the
// kernels are compiled with -fsanitize=thread and the engine without it but with -DSIMT_TSAN. Every CUDA
// thread is then a thread to ThreadSanitizer, ordered only by launches, barriers, __syncwarp and atomics.

#include <cstddef>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef SIMT_TSAN
#include <sanitizer/tsan_interface.h>
extern "C" void AnnotateIgnoreReadsBegin(const char*, int), AnnotateIgnoreReadsEnd(const char*, int);
extern "C" void AnnotateIgnoreWritesBegin(const char*, int), AnnotateIgnoreWritesEnd(const char*, int);
extern "C" void AnnotateBenignRaceSized(const char*, int, volatile void*, std::size_t, const char*);
#endif

namespace simt {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool asan = true;
inline void forbid_access(void* p, std::size_t n) { __asan_poison_memory_region(p, n); }
inline void start_switch(void** fake_stack, const void* to, std::size_t size) {
  __sanitizer_start_switch_fiber(fake_stack, to, size);
}
inline void finish_switch(void* fake_stack) { __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr); }
#else
inline constexpr bool asan = false;
inline void forbid_access(void*, std::size_t) {}
inline void start_switch(void**, const void*, std::size_t) {}
inline void finish_switch(void*) {}
#endif

#ifdef SIMT_TSAN
inline constexpr bool tsan = true;
inline void* current_thread() { return __tsan_get_current_fiber(); }
inline void* new_thread() { return __tsan_create_fiber(0); }
inline void become_thread(void* thread) { __tsan_switch_to_fiber(thread, __tsan_switch_to_fiber_no_sync); }
inline void release(char* token) { __tsan_release(token); }
inline void acquire(char* token) { __tsan_acquire(token); }
inline void benign_race(void* p, std::size_t n) { AnnotateBenignRaceSized("", 0, p, n, ""); }
struct Unwatched {
  Unwatched() { AnnotateIgnoreReadsBegin("", 0), AnnotateIgnoreWritesBegin("", 0); }
  ~Unwatched() { AnnotateIgnoreWritesEnd("", 0), AnnotateIgnoreReadsEnd("", 0); }
};
#else
inline constexpr bool tsan = false;
inline void* current_thread() { return nullptr; }
inline void* new_thread() { return nullptr; }
inline void become_thread(void*) {}
inline void release(char*) {}
inline void acquire(char*) {}
inline void benign_race(void*, std::size_t) {}
struct Unwatched {
  Unwatched() {}
};
#endif

/// Orders everything before release() before everything after acquire(). The token alternates with every
/// completed barrier, so that a thread that is ahead does not seem ordered before one that is behind.
class Order {
 public:
  char* token() { return &tokens_[phase_]; }
  void next() { phase_ = !phase_; }

 private:
  char tokens_[2];
  bool phase_ = false;
};

}  // namespace simt
