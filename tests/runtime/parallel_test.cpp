#include "kolmo/runtime/cpu/parallel.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "kolmo/runtime/cpu/interrupt.hpp"
#include "tests/io/temporary_folder.hpp"

namespace kolmo {
namespace {

TEST(ParallelFor, DoesEveryItemOnce) {
  for (const int threads : {1, 2, 3, 8})
    for (const std::int64_t n : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(n));
      std::atomic<bool> bad_thread{false};
      parallel_for(threads, n, [&](std::int64_t i, int thread) {
        ++done[std::size_t(i)];
        if (thread < 0 || thread >= threads) bad_thread = true;
      });
      for (const auto& d : done) ASSERT_EQ(d, 1);
      EXPECT_FALSE(bad_thread);
    }
}

TEST(ParallelFor, OneThreadKeepsTheOrder) {
  std::vector<std::int64_t> order;
  parallel_for(1, 5, [&](std::int64_t i, int) { order.push_back(i); });
  EXPECT_EQ(order, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
}

TEST(ParallelFor, PassesOnTheExceptionAndStops) {
  for (const int threads : {1, 4}) {
    // The later items take seconds, since the thread that throws may be kept waiting.
    constexpr int items = 10000;
    std::atomic<int> begun{0};
    std::atomic<bool> throws{false};
    EXPECT_THROW(parallel_for(threads, items,
                              [&](std::int64_t i, int) {
                                ++begun;
                                if (i == 10) {
                                  throws = true;
                                  throw std::runtime_error("ten");
                                }
                                if (i < 10) return;
                                while (!throws) std::this_thread::yield();
                                std::this_thread::sleep_for(std::chrono::milliseconds(1));
                              }),
                 std::runtime_error);
    EXPECT_LT(begun, threads == 1 ? 12 : items);
  }
}

TEST(ParallelFor, AThreadThatIsDoneHelpsWithThePartsOfOthers) {
  std::atomic<int> others{0};
  parallel_for(2, 8, [&](std::int64_t i, int) {
    if (i > 0)
      ++others;
    else
      while (others < 7) std::this_thread::yield();  // items 1 to 3 belong to the same part
  });
  EXPECT_EQ(others, 7);
}

TEST(ParallelFor, MayBeNested) {
  std::atomic<int> total{0};
  parallel_for(2, 4, [&](std::int64_t, int) { parallel_for(2, 4, [&](std::int64_t, int) { ++total; }); });
  EXPECT_EQ(total, 16);
}

TEST(ParallelFor, MayBeNestedDeeplyByManyCallers) {
  std::atomic<int> total{0};
  const auto nest = [&](auto& self, int depth) -> void {
    parallel_for(3, 3, [&](std::int64_t, int) {
      if (depth == 0)
        ++total;
      else
        self(self, depth - 1);
    });
  };
  {
    std::vector<std::jthread> callers;
    for (int c = 0; c < 4; ++c) callers.emplace_back([&] { nest(nest, 4); });
  }
  EXPECT_EQ(total, 4 * 243);
}

TEST(ParallelFor, CallersOnManyThreadsAreIndependent) {
  std::atomic<int> wrong{0};
  const auto caller = [&](int which) {
    for (int call = 0; call < 300; ++call) {
      const std::int64_t n = 2 + (which * 7 + call) % 50;
      std::vector<std::int64_t> square(std::size_t(n), -1);
      bool thrown = false;
      try {
        parallel_for(2 + which % 3, n, [&](std::int64_t i, int thread) {
          if (thread < 0 || thread >= 2 + which % 3) ++wrong;
          square[std::size_t(i)] = i * i;
          if (call % 10 == 9 && i == n / 2) throw which;
        });
      } catch (int whose) {
        thrown = true;
        if (whose != which) ++wrong;
      }
      if (thrown != (call % 10 == 9)) ++wrong;
      for (std::int64_t i = 0; i < n && !thrown; ++i)
        if (square[std::size_t(i)] != i * i) ++wrong;
    }
  };
  {
    std::vector<std::jthread> callers;
    for (int c = 0; c < 6; ++c) callers.emplace_back(caller, c);
  }
  EXPECT_EQ(wrong, 0);
}

TEST(ParallelFor, UsesSeveralThreadsAtOnce) {
  std::atomic<int> here{0};
  // The call ends only once all three items are being worked on.
  parallel_for(3, 3, [&](std::int64_t, int) {
    ++here;
    while (here < 3) std::this_thread::yield();
  });
  EXPECT_EQ(here, 3);
}

// A thread that was woken on its caller's processor leaves it, and may go back afterwards.
TEST(ParallelFor, ThreadsMayRunWhereTheirCallerMay) {
  const auto processors = [] {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
  };
  const int all = processors();
  std::atomic<int> others{0}, wrong{0};
  for (int round = 0; round < 200; ++round)
    parallel_for(4, 8, [&](std::int64_t, int thread) {
      if (thread) ++others, wrong += processors() != all;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    });
  EXPECT_GT(others, 0);
  EXPECT_EQ(wrong, 0);
}

TEST(ParallelFor, KeepsItsThreads) {
  const auto work = [](std::int64_t, int) { std::this_thread::yield(); };
  parallel_for(4, 100, work);
  const int before = pool_threads();
  EXPECT_GE(before, std::min(3, hardware_threads() - 1));
  for (int call = 0; call < 200; ++call) parallel_for(4, 100, work);
  EXPECT_LE(pool_threads(), std::max({before, 3, hardware_threads() - 1}));
}

std::int64_t sum_in_parallel(int threads, std::int64_t n) {
  std::vector<std::int64_t> part(std::size_t(n), 0);
  parallel_for(threads, n, [&](std::int64_t i, int) { part[std::size_t(i)] = i; });
  return std::accumulate(part.begin(), part.end(), std::int64_t(0));
}

int status_of_child(int (*work)()) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ParallelFor, WorksInTheChildOfAForkWhileOthersCompute) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer cannot start threads in the child of a process with several";
#endif
  // AddressSanitizer's locks stay locked in the child of a fork: no thread may start or allocate meanwhile.
  std::atomic<int> started{0};
  parallel_for(4, 4, [&](std::int64_t, int) {
    ++started;
    while (started < 4) std::this_thread::yield();
  });
  std::atomic<bool> stop{false};
  std::jthread busy([&] {
    std::array<int, 20> done{};
    while (!stop) {
      parallel_for(3, 20, [&](std::int64_t i, int) { done[std::size_t(i)] = 1; });
      started = 5;
    }
  });
  while (started < 5) std::this_thread::yield();
  for (int round = 0; round < 20; ++round)
    EXPECT_EQ(status_of_child([] {
                alarm(60);  // otherwise a failure would hang
                if (pool_threads() != 0) return 1;
                if (sum_in_parallel(4, 1000) != 499500) return 2;
                std::atomic<int> here{0};
                parallel_for(2, 2, [&](std::int64_t, int) {
                  ++here;
                  while (here < 2) std::this_thread::yield();
                });
                return pool_threads() > 0 ? 0 : 3;
              }),
              0);
  stop = true;
  busy.join();
  EXPECT_EQ(sum_in_parallel(4, 100), 4950);
}

TEST(ParallelForDeathTest, StaticObjectsMayComputeWhileTheProcessEnds) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        alarm(60);
        std::atexit([] {
          if (sum_in_parallel(3, 1000) != 499500) _exit(9);
        });
        sum_in_parallel(3, 1000);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(ParallelRanges, AreAsLongAsAskedFor) {
  std::atomic<std::int64_t> items{0}, ranges{0};
  parallel_ranges(
      3, 1001,
      [&](std::int64_t begin, std::int64_t end) {
        EXPECT_EQ(begin % 10, 0);
        EXPECT_EQ(end, std::min<std::int64_t>(begin + 10, 1001));
        items += end - begin, ++ranges;
      },
      10);
  EXPECT_EQ(items, 1001);
  EXPECT_EQ(ranges, 101);
}

TEST(Interruptible, EndsTheLoopsOfItsThreadAndOfThoseThatHelp) {
  for (const int threads : {1, 3}) {
    std::atomic<bool> request{false};
    std::atomic<int> done{0};
    {
      const Interruptible scope(&request);
      EXPECT_THROW(parallel_for(threads, 4,
                                [&](std::int64_t, int) {
                                  parallel_for(threads, 1000, [&](std::int64_t, int) {
                                    if (++done == 50) request = true;
                                  });
                                }),
                   Interrupted);
      EXPECT_GE(done, 50);
      EXPECT_LT(done, 4000);
      EXPECT_THROW(check_interrupt(), Interrupted);
      const Interruptible never(nullptr);
      check_interrupt();
    }
    check_interrupt();
    done = 0;
    parallel_for(threads, 100, [&](std::int64_t, int) { ++done; });
    EXPECT_EQ(done, 100) << "the request was of other work";
  }
}

TEST(Interruptible, LeavesOtherCallersAlone) {
  const std::atomic<bool> request{true};
  std::atomic<int> done{0};
  std::jthread other([&] {
    for (int i = 0; i < 100; ++i) parallel_for(3, 20, [&](std::int64_t, int) { ++done; });
  });
  const Interruptible scope(&request);
  for (int i = 0; i < 100; ++i) EXPECT_THROW(parallel_for(3, 20, [](std::int64_t, int) {}), Interrupted);
  other.join();
  EXPECT_EQ(done, 2000);
}

TEST(HardwareThreads, AreAtLeastOne) { EXPECT_GE(hardware_threads(), 1); }

TEST(HardwareThreads, StayWithinTheQuotasOfControlGroups) {
  const testing_io::TemporaryFolder root;
  const auto limit = [&](const std::string& group, const char* text) {
    std::filesystem::create_directories(root / group);
    std::ofstream(root / (group + "/cpu.max")) << text;
  };
  const auto quota = [&](const std::string& group) { return cpu_quota(root / ".", group); };
  EXPECT_EQ(quota("/a/b"), 0) << "no file";
  limit("a/b", "max 100000\n");
  EXPECT_EQ(quota("/a/b"), 0);
  limit("a", "250000 100000\n");
  EXPECT_EQ(quota("/a/b"), 3) << "of a group around it, rounded up";
  limit("a/b", "400000 100000\n");
  EXPECT_EQ(quota("/a/b"), 3) << "the least";
  limit("a/b", "5000 100000\n");
  EXPECT_EQ(quota("/a/b"), 1);
  EXPECT_EQ(quota("/a"), 3);
  EXPECT_EQ(quota(""), 0);
  limit(".", "200000 100000\n");
  EXPECT_EQ(quota(""), 2) << "as a container sees its own";
  EXPECT_EQ(quota("/somewhere/else"), 2) << "a path of the host's";
  limit(".", "nonsense");
  EXPECT_EQ(quota(""), 0);
}

}  // namespace
}  // namespace kolmo
