// Each deliberately wrong kernel runs in a child process, which must die with the expected report.

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "device_memory.hpp"
#include "simt/engine.hpp"

// The build that detects the error. `thrown` works in every build.
enum class By { thrown, asan, tsan };

#define CASES(X)                                                                                            \
  X(returned, thrown, "barrier divergence", "kernel returned, block (", "launched at",                      \
    "synchronisation.cu:", "threads 0-39 wait at __syncthreads", "threads 40-63 have returned")             \
  X(branch, thrown, "barrier divergence", "threads 0-31 wait at __syncthreads",                             \
    "threads 32-63 wait at __syncthreads")                                                                  \
  X(lanes, thrown, "warp divergence", "kernel lanes", "__shfl_sync with mask 0xffffffff")                   \
  X(mask, thrown, "not in its own mask", "thread (16,0,0)", "kernel mask")                                  \
  X(masks, thrown, "warp divergence", "wait at __any_sync with mask 0xffffffff", "wait at __syncthreads")   \
  X(absent, thrown, "which does not take part", "kernel absent", "thread (32,0,0)")                         \
  X(width, thrown, "width 12 is not a power of two")                                                        \
  X(too_many_threads, thrown, "launch refused: 2048 threads", "kernel fill<int, 3>", "synchronisation.cu:") \
  X(too_much_shared, thrown, "launch refused: 307200 bytes")                                                \
  X(empty_grid, thrown, "launch refused: empty grid")                                                       \
  X(endless_grid, thrown, "launch refused: grid too large")                                                 \
  X(huge_grid, thrown, "launch refused: grid too large", "kernel fill<int, 3>")                             \
  X(never_waited, thrown, "never waited for", "kernel never_waited, block (0,0,0), thread (0,0,0)")         \
  X(to_global, thrown, "not shared memory", "kernel to_global")                                             \
  X(copy_misaligned, thrown, "address not aligned to the 16 bytes copied", "kernel copy_misaligned")        \
  X(atomic_misaligned, thrown, "atomicAdd: misaligned address", "kernel atomic_misaligned")                 \
  X(wmma_incomplete, thrown, "wmma::store_matrix_sync: all 32 lanes of the warp are needed",                \
    "thread (0,0,0)")                                                                                       \
  X(mma_incomplete, thrown, "mma.m16n8k16: all 32 lanes of the warp are needed", "thread (0,0,0)")          \
  X(wmma_misaligned, thrown, "wmma::load_matrix_sync: address not 32-byte aligned",                         \
    "kernel wmma_misaligned")                                                                               \
  X(wmma_stride, thrown, "stride not a multiple of 16")                                                     \
  X(wmma_lanes, thrown, "differs between lanes", "thread (16,0,0)")                                         \
  X(uninitialised_counter, thrown, "uninitialised shared memory", "atomicAdd",                              \
    "kernel uninitialised_counter")                                                                         \
  X(dynamic_past_end, asan, "heap-buffer-overflow",                                                         \
    "kernel dynamic_past_end, block (0,0,0), thread (63,0,0)", "launched at", "memory.cu:")                 \
  X(static_index, asan, "out of bounds", "kernel static_index, block (0,0,0), thread (63,0,0)")             \
  X(static_past_end, asan, "use-after-poison", "kernel static_pointer")                                     \
  X(static_before_begin, asan, "use-after-poison", "kernel static_pointer")                                 \
  X(template_pointer, asan, "use-after-poison", "kernel template_pointer, block (0,0,0), thread (63,0,0)")  \
  X(global_past_end, asan, "heap-buffer-overflow", "kernel global_past_end")                                \
  X(misaligned, asan, "misaligned address", "kernel misaligned")                                            \
  X(recursion, asan, "stack-overflow", "kernel recursion")                                                  \
  X(uninitialised_float, asan, "read of 4 bytes of uninitialised shared memory",                            \
    "memory.cu:", "kernel uninitialised_static<float>, block (", "thread (0,0,0), launched at")             \
  X(uninitialised_double, asan, "read of 8 bytes of uninitialised shared memory")                           \
  X(uninitialised_int, asan, "read of 4 bytes of uninitialised shared memory")                              \
  X(uninitialised_unsigned, asan, "read of 4 bytes of uninitialised shared memory")                         \
  X(uninitialised_half, asan, "read of 2 bytes of uninitialised shared memory")                             \
  X(uninitialised_char, asan, "read of 1 bytes of uninitialised shared memory")                             \
  X(uninitialised_flag, asan, "kernel uninitialised_flag, block (")                                         \
  X(uninitialised_later, asan, "read of 4 bytes of uninitialised shared memory",                            \
    "kernel uninitialised_later")                                                                           \
  X(uninitialised_global, asan, "bytes of uninitialised global memory")                                     \
  X(no_wait, asan, "read of 4 bytes of uninitialised shared memory", "kernel no_wait")                      \
  X(race_reversed, tsan, "data race", "races.cu:")                                                          \
  X(race_tiles, tsan, "data race", "races.cu:")                                                             \
  X(race_warp, tsan, "data race", "races.cu:")                                                              \
  X(race_reused, tsan, "data race", "races.cu:")                                                            \
  X(race_blocks, tsan, "data race", "races.cu:")                                                            \
  X(race_neighbours, tsan, "data race", "races.cu:")

#define DECLARE(name, ...) void name(int*);
namespace bad {
CASES(DECLARE)
}

namespace {

struct Case {
  const char* name;
  void (*run)(int*);
  By by;
  std::vector<std::string> expected;
};
const std::vector<Case>& cases() {
#define ROW(name, by, ...) {#name, bad::name, By::by, {__VA_ARGS__}},
  static const std::vector<Case> all = {CASES(ROW)};
  return all;
}

#if defined(__SANITIZE_ADDRESS__)
constexpr By here = By::asan;
#elif defined(__SANITIZE_THREAD__)
constexpr By here = By::tsan;
#else
constexpr By here = By::thrown;
#endif

constexpr std::size_t out_size = 4096;

std::ostream& operator<<(std::ostream& s, const Case& c) { return s << c.name; }

struct Died {
  int status;
  std::string output;
};
Died run_in_child(const std::string& name) {
  const std::string command = "/proc/" + std::to_string(getpid()) + "/exe --run " + name + " 2>&1";
  Died died{-1, ""};
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return died;
  std::array<char, 4096> piece;
  while (const std::size_t n = fread(piece.data(), 1, piece.size(), pipe))
    died.output.append(piece.data(), n);
  died.status = pclose(pipe);
  return died;
}

class Bad : public testing::TestWithParam<Case> {};

TEST_P(Bad, IsReported) {
  const Case& c = GetParam();
  const Died died = run_in_child(c.name);
  EXPECT_NE(died.status, 0);
  for (const std::string& part : c.expected)
    EXPECT_NE(died.output.find(part), std::string::npos) << "no: " << part << "\nin: " << died.output;
}

std::vector<Case> noticed_here() {
  std::vector<Case> some;
  for (const Case& c : cases())
    if (c.by == here || (c.by == By::thrown && here != By::tsan)) some.push_back(c);
  return some;
}
INSTANTIATE_TEST_SUITE_P(Kernel, Bad, testing::ValuesIn(noticed_here()),
                         [](const auto& info) { return info.param.name; });

TEST(Engine, SurvivesFailures) {
  std::vector<int> out(out_size);
  int thrown = 0, expected = 0;
  for (int i = 0; i < 100; ++i)
    for (auto* run :
         {bad::returned, bad::branch, bad::lanes, bad::mask, bad::absent, bad::too_many_threads}) {
      ++expected;
      try {
        run(out.data());
      } catch (const simt::Error&) {
        ++thrown;
      }
    }
  EXPECT_EQ(thrown, expected);
}

int run_case(const char* name) {
  const bool at_the_end = !std::strcmp(name, "global_past_end");
  DeviceArray<int> out(at_the_end ? 64 : out_size);
  if (!std::strcmp(name, "uninitialised_global")) simt::poison(out.data(), out_size * sizeof(int));
  for (const Case& c : cases()) {
    if (std::strcmp(c.name, name) != 0) continue;
    try {
      c.run(out.data());
    } catch (const simt::Error& e) {
      std::fprintf(stderr, "%s\n", e.what());
      return 1;
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && !std::strcmp(argv[1], "--run")) return run_case(argv[2]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
