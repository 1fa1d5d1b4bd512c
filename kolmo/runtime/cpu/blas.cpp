#include "kolmo/runtime/cpu/blas.hpp"

#include <cblas.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "kolmo/base/error.hpp"

namespace kolmo {
namespace {

struct OpenBlas {
  decltype(&cblas_dgemm) dgemm;
  decltype(&cblas_dgemv) dgemv;
  decltype(&cblas_sgemm) sgemm;
  decltype(&cblas_sgemv) sgemv;
  /// Calls of a build without threads share its buffers, and give wrong results if several are made at once.
  bool any_number_at_once;
};

/// OpenBLAS starts its threads when it is loaded, and waits for ever where their memory cannot be had.
void require_room() {
  constexpr std::size_t mebi = 1 << 20, alone = 64 * mebi,
                        a_thread = 176 * mebi;  // a stack, a buffer, and what malloc keeps
  const char* named = std::getenv("OPENBLAS_NUM_THREADS");
  const long threads = named && std::string_view(named) == "1" ? 0 : sysconf(_SC_NPROCESSORS_ONLN);
  const std::size_t bytes = alone + a_thread * std::size_t(threads);
  void* const room = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED)
    fail<OutOfMemory>("matrix products on the CPU: OpenBLAS needs " + std::to_string(bytes / mebi) +
                      " MiB of address space to start, which ulimit -v does not leave it; with "
                      "OPENBLAS_NUM_THREADS=1 it needs " +
                      std::to_string(alone / mebi) + " MiB");
  ::munmap(room, bytes);
}

/// The object that this function is part of, if OpenBLAS is linked to it, as it is in a wheel; otherwise that of the system.
void* open_library() {
  Dl_info own{};
  if (::dladdr(reinterpret_cast<void*>(&open_library), &own) && own.dli_fname)
    for (const char* file : {own.dli_fname, static_cast<const char*>(nullptr)})
      if (void* const handle = ::dlopen(file, RTLD_NOW | RTLD_NOLOAD))
        if (::dlsym(handle, "openblas_get_parallel")) return handle;
  require_room();
  void* const handle = ::dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    fail<Unsupported>(std::string("matrix products on the CPU: OpenBLAS cannot be loaded: ") + ::dlerror() +
                      "; Debian has it in libopenblas0-pthread");
  return handle;
}

template <class F>
void find(void* library, const char* name, F*& function) {
  function = reinterpret_cast<F*>(::dlsym(library, name));
  if (!function) fail<Unsupported>(std::string("matrix products on the CPU: OpenBLAS has no ") + name);
}

OpenBlas load() {
  void* const library = open_library();
  OpenBlas b{};
  find(library, "cblas_dgemm", b.dgemm), find(library, "cblas_dgemv", b.dgemv);
  find(library, "cblas_sgemm", b.sgemm), find(library, "cblas_sgemv", b.sgemv);
  void (*set_threads)(int) = nullptr;
  int (*parallel)() = nullptr;
  find(library, "openblas_set_num_threads", set_threads), find(library, "openblas_get_parallel", parallel);
  set_threads(1);  // Kolmo's threads divide the work
  b.any_number_at_once = parallel() != OPENBLAS_SEQUENTIAL;
  return b;
}

const OpenBlas& blas();

std::atomic<int> calls_under_way{0};
std::atomic<bool> ending{false};
std::thread::id ender;  // the thread in which the process exits; set before `ending`

/// A call of OpenBLAS. OpenBLAS frees its buffers when the process exits, also while other threads compute in them. The
/// exit therefore waits for calls under way, ten seconds at most, and later calls of other threads wait for the end.
class Call {
 public:
  Call() {
    blas();  // may throw, before the call is counted
    ++calls_under_way;
    if (ending && std::this_thread::get_id() != ender) {
      --calls_under_way;
      for (;;) ::pause();
    }
    turn_ = turn();  // after that, so that a thread which waits for the end holds no lock
  }
  ~Call() { --calls_under_way; }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  static std::unique_lock<std::mutex> turn() {
    static std::mutex one_at_a_time;
    return blas().any_number_at_once ? std::unique_lock<std::mutex>() : std::unique_lock(one_at_a_time);
  }

  std::unique_lock<std::mutex> turn_;
};

void wait_for_calls() {
  constexpr int longest = 10'000;  // milliseconds
  ender = std::this_thread::get_id();
  ending = true;
  for (int waited = 0; calls_under_way && waited < longest; ++waited) ::usleep(1000);
}

const OpenBlas& blas() {
  static const OpenBlas loaded = [] {
    const OpenBlas b = load();
    std::atexit(wait_for_calls);  // runs before OpenBLAS ends, as it is registered after OpenBLAS was loaded
    ::pthread_atfork(nullptr, nullptr, [] { calls_under_way = 0; });
    return b;
  }();
  return loaded;
}

CBLAS_TRANSPOSE turned(bool transpose) { return transpose ? CblasTrans : CblasNoTrans; }

}  // namespace

// One row is a product of a matrix and a vector, for which OpenBLAS has functions that take a fifth of the time.
void gemm(const GemmShape& s, double alpha, const double* a, std::int64_t lda, const double* b,
          std::int64_t ldb, double beta, double* c, std::int64_t ldc) {
  const Call call;
  if (s.m == 1) {
    if (beta == 0) std::fill_n(c, s.n, 0);
    blas().dgemv(CblasRowMajor, turned(!s.transpose_b), s.transpose_b ? s.n : s.k, s.transpose_b ? s.k : s.n,
                 alpha, b, int(ldb), a, s.transpose_a ? int(lda) : 1, beta, c, 1);
  } else {
    blas().dgemm(CblasRowMajor, turned(s.transpose_a), turned(s.transpose_b), s.m, s.n, s.k, alpha, a,
                 int(lda), b, int(ldb), beta, c, int(ldc));
  }
}
void gemm(const GemmShape& s, double alpha, const float* a, std::int64_t lda, const float* b,
          std::int64_t ldb, double beta, float* c, std::int64_t ldc) {
  const Call call;
  if (s.m == 1) {
    if (beta == 0) std::fill_n(c, s.n, 0);
    blas().sgemv(CblasRowMajor, turned(!s.transpose_b), s.transpose_b ? s.n : s.k, s.transpose_b ? s.k : s.n,
                 float(alpha), b, int(ldb), a, s.transpose_a ? int(lda) : 1, float(beta), c, 1);
  } else {
    blas().sgemm(CblasRowMajor, turned(s.transpose_a), turned(s.transpose_b), s.m, s.n, s.k, float(alpha), a,
                 int(lda), b, int(ldb), float(beta), c, int(ldc));
  }
}

}  // namespace kolmo
