// The OS threads that run blocks, and the checks of a launch.

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "simt/block.hpp"

namespace simt {
namespace {

std::size_t setting(const char* name, std::size_t otherwise) {
  const char* value = std::getenv(name);
  return value ? std::strtoull(value, nullptr, 0) : otherwise;
}

class Pool {
 public:
  explicit Pool(unsigned workers) : workers_(workers) {
    shared_scopes();  // reads the symbol table now, not in whichever worker is first
    for (unsigned i = 0; i < workers; ++i)
      threads_.emplace_back([this, i](std::stop_token stop) { serve(i, stop); });
  }

  void run(const Job& job) {
    const std::scoped_lock one_grid_at_a_time(turn_);
    std::unique_lock lock(mutex_);
    job_ = &job;
    const auto [name, is_new] = kernel_names_.try_emplace(job.kernel);
    if (is_new) name->second = function_name(job.kernel);
    kernel_ = name->second;
    blocks_ = std::uint64_t{job.grid.x} * job.grid.y * job.grid.z;
    next_ = 0, failure_ = nullptr, busy_ = workers_, awake_ = 0;
    ++generation_;
    wake_.notify_all();
    done_.wait(lock, [&] { return busy_ == 0; });
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  void serve(unsigned me, std::stop_token stop) {
    Block block;
    current_block = &block;
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    while (wake_.wait(lock, stop, [&] { return generation_ != seen; })) {
      seen = generation_;
      ++awake_;
      lock.unlock();
      // ThreadSanitizer would consider a worker that wakes after another one has finished as ordered after
      // it, which would hide races.
      while (tsan && awake_ < workers_) std::this_thread::yield();
      const std::exception_ptr failure = run_blocks(block, me);
      lock.lock();
      if (failure && !failure_) failure_ = failure;
      if (--busy_ == 0) done_.notify_all();
    }
  }

  std::exception_ptr run_blocks(Block& block, unsigned me) {
    std::uint64_t b = next_block(me, nullptr);
    if (b >= blocks_) return nullptr;
    std::exception_ptr failure;
    try {
      block.begin_grid(*job_, kernel_);
      for (; b < blocks_; b = next_block(me, &b)) {
        const std::uint64_t gx = job_->grid.x, gy = job_->grid.y;
        block.run({static_cast<unsigned>(b % gx), static_cast<unsigned>(b / gx % gy),
                   static_cast<unsigned>(b / gx / gy)});
      }
    } catch (...) {
      failure = std::current_exception();
      next_ = blocks_;
    }
    block.end_grid();
    return failure;
  }

  // Races between blocks are detected only between workers, so with ThreadSanitizer neighbouring blocks go to
  // different workers.
  std::uint64_t next_block(unsigned me, const std::uint64_t* last) {
    if (!tsan) return next_.fetch_add(1, std::memory_order_relaxed);
    return next_ >= blocks_ ? blocks_ : last ? *last + workers_ : me;
  }

  const unsigned workers_;
  std::mutex turn_, mutex_;
  std::condition_variable_any wake_, done_;
  const Job* job_ = nullptr;
  std::string kernel_;
  std::unordered_map<const void*, std::string> kernel_names_;
  std::uint64_t generation_ = 0, blocks_ = 0;
  unsigned busy_ = 0;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<unsigned> awake_ = 0;
  std::exception_ptr failure_;
  std::vector<std::jthread> threads_;  // the last member, so that it stops before others are destroyed
};

}  // namespace

Config& config() {
  static Config c = [] {
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    // ThreadSanitizer needs two workers to detect races between blocks. Its limit is 8128 threads, and each
    // worker has 1024 fibers.
    const unsigned workers = tsan ? std::clamp(cores, 2u, 4u) : cores;
    return Config{.workers = static_cast<unsigned>(setting("SIMT_WORKERS", workers)),
                  .reverse = setting("SIMT_REVERSE", 0) != 0,
                  .exited_ok = setting("SIMT_EXITED_OK", 0) != 0,
                  .shared_limit = setting("SIMT_SHARED_LIMIT", 227 << 10),
                  .stack = setting("SIMT_STACK", asan || tsan ? 256 << 10 : 64 << 10)};
  }();
  return c;
}

void run(const Job& j) {
  const auto refuse = [&](const std::string& what) {
    throw Error("launch refused: " + what + "\n  in kernel " + function_name(j.kernel) + ", grid " +
                text(j.grid) + ", block size " + text(j.block) + ", launched at " + text(j.at));
  };
  if (current_block) refuse("kernels cannot launch kernels");
  const std::uint64_t threads = std::uint64_t{j.block.x} * j.block.y * j.block.z;
  if (!threads || !j.grid.x || !j.grid.y || !j.grid.z) refuse("empty grid or block");
  if (threads > 1024 || j.block.z > 64)
    refuse(std::to_string(threads) + " threads per block; the limit is 1024, 64 in z");
  if (!j.grid_fits || j.grid.x > 0x7fffffffu || j.grid.y > 65535 || j.grid.z > 65535)
    refuse("grid too large; the limits are 2147483647, 65535, 65535");
  if (j.shared > config().shared_limit)
    refuse(std::to_string(j.shared) + " bytes of dynamic shared memory; the limit is " +
           std::to_string(config().shared_limit));
  static Pool pool(std::max(1u, config().workers));
  pool.run(j);
}

void yield() {
  if (current_block && current_block->in_thread()) current_block->yield();
}
void* shared_memory() { return current_block->shared().dynamic(); }
bool is_shared(const void* p, std::size_t bytes) { return current_block->shared().contains(p, bytes); }
void declare(Guard& guard) { current_block->shared().declare(guard); }
AsyncCopies& async_copies() { return current_block->async_copies(); }

}  // namespace simt
