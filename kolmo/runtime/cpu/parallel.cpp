#include "kolmo/runtime/cpu/parallel.hpp"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "kolmo/runtime/cpu/interrupt.hpp"
#include "kolmo/runtime/system_file.hpp"

namespace kolmo {
namespace {

/// The items from `next` to `end` that are not handed out yet.
struct alignas(64) Items {
  std::atomic<std::int64_t> next{0};
  std::int64_t end = 0;
};

/// One call of parallel_for, on its caller's stack. Every thread begins with a part of its own. That is the
/// same part in every call, so that the thread finds in its cache what it wrote there last time. Afterwards
/// it helps with the other parts.
struct Job {
  static constexpr int most_parts = 16;
  FunctionRef<void(std::int64_t, int)> work;
  std::int64_t n;
  int threads;
  const int parts = std::min(threads, most_parts);
  Items items[most_parts];
  const std::thread::id owner = std::this_thread::get_id();
  const int cpu = sched_getcpu();
  const std::atomic<bool>* const interrupt = Interruptible::current();

  // Guarded by the pool's mutex.
  int joined = 1;              // threads that got an index; the caller has 0
  std::atomic<int> active{0};  // pool threads at work on it; read without the mutex too
  std::exception_ptr failure;
  std::condition_variable idle;  // signalled when `active` becomes 0
  Job *newer = nullptr, *older = nullptr;

  Job(FunctionRef<void(std::int64_t, int)> f, std::int64_t count, int limit)
      : work(f), n(count), threads(limit) {
    for (int p = 0; p < parts; ++p)
      items[p].next = n / parts * p, items[p].end = p + 1 < parts ? n / parts * (p + 1) : n;
  }
  bool wants() const {
    return joined < threads && std::any_of(items, items + parts, [](const Items& i) {
             return i.next.load(std::memory_order_relaxed) < i.end;
           });
  }
};

/// Keeps a thread off one processor, if it may use others, until it is free() again. Kernels of virtual
/// machines avoid a processor that sleeps, as if it were not there, and wake a thread on the processor of the
/// thread that wakes it. The two would then take turns there, some milliseconds each.
class KeptOff {
 public:
  void keep(pid_t thread, int cpu) {
    if (kept_ || cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(thread, sizeof all_, &all_) != 0) return;
    cpu_set_t others = all_;
    CPU_CLR(std::size_t(cpu), &others);
    kept_ = CPU_COUNT(&others) && sched_setaffinity(thread, sizeof others, &others) == 0;
  }
  /// Lifts the restriction; the thread itself must call it.
  void free() {
    if (std::exchange(kept_, false)) sched_setaffinity(0, sizeof all_, &all_);
  }

 private:
  bool kept_ = false;
  cpu_set_t all_{};
};

/// A thread of the pool.
struct Worker {
  const pid_t id = gettid();
  KeptOff cpu;
  std::condition_variable wake;
  bool called = false;
  Worker* next = nullptr;  // the next one of those that sleep
};

/// Waits for some microseconds until done() is true, without the lock: this is faster than waking a thread
/// that sleeps. Takes the lock again, and returns whether done() is true then.
template <class Done>
bool soon(std::unique_lock<std::mutex>& lock, const Done& done) {
  lock.unlock();
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
  while (!done() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  lock.lock();
  return done();
}

/// Threads that wait for jobs. A job is open until its caller finds no more items. Then no thread can join
/// it, and the caller waits only for those that did. So a caller never waits for a thread that works on
/// another job, and nested calls cannot deadlock.
class ThreadPool {
 public:
  ThreadPool() {
    static ThreadPool* self;
    self = this;
    pthread_atfork([] { self->mutex_.lock(); }, [] { self->mutex_.unlock(); }, [] { self->restart(); });
  }

  void run(Job& job) {
    open(job);
    serve(job, 0);
    close(job);
    if (job.failure) std::rethrow_exception(job.failure);
  }
  int threads() {
    const std::scoped_lock lock(mutex_);
    return started_;
  }

 private:
  void open(Job& job) {
    const std::scoped_lock lock(mutex_);
    job.older = newest_;
    if (newest_) newest_->newer = &job;
    newest_ = &job;
    ++opened_;
    const int wanted = job.threads - 1;
    if (wanted > waiting_) start(wanted - waiting_, std::max(wanted, cores_ - 1));
    for (int i = 0; i < wanted && asleep_; ++i) {
      Worker& worker = *asleep_;
      asleep_ = worker.next;
      if (cores_ <= few_cores) worker.cpu.keep(worker.id, job.cpu);
      worker.called = true;
      worker.wake.notify_one();
    }
  }

  void close(Job& job) {
    std::unique_lock lock(mutex_);
    (job.newer ? job.newer->older : newest_) = job.older;
    if (job.older) job.older->newer = job.newer;
    const auto idle = [&] { return job.active == 0; };
    if (!idle() && !soon(lock, idle)) job.idle.wait(lock, idle);
  }

  void serve(Job& job, int thread) {
    try {
      for (int p = 0; p < job.parts; ++p) {
        Items& part = job.items[(thread + p) % job.parts];
        for (std::int64_t i; (i = part.next.fetch_add(1, std::memory_order_relaxed)) < part.end;) {
          check_interrupt(job.interrupt);
          job.work(i, thread);
        }
      }
    } catch (...) {
      for (Items& part : job.items) part.next = part.end;
      const std::scoped_lock lock(mutex_);
      if (!job.failure) job.failure = std::current_exception();
    }
  }

  /// Threads are never joined. At exit they sleep and access only the pool, which is never destroyed.
  void start(int count, int limit) {
    for (; count > 0 && started_ < limit; --count) try {
        std::thread([this] { wait_for_jobs(); }).detach();
        ++started_;
      } catch (const std::system_error&) {  // no more threads: the caller works alone
        return;
      }
  }

  void wait_for_jobs() {
    Worker self;
    std::unique_lock lock(mutex_);
    for (;;) {
      Job* job = newest_;
      while (job && !job->wants()) job = job->older;
      if (!job) {
        ++waiting_;
        const auto seen = opened_.load();
        if (!soon(lock, [&] { return opened_ != seen; })) {
          self.called = false, self.next = std::exchange(asleep_, &self);
          self.wake.wait(lock, [&] { return self.called; });
          self.cpu.free();
        }
        --waiting_;
        continue;
      }
      ++job->active;
      const int thread = job->joined++;
      lock.unlock();
      {
        if (sched_getcpu() == job->cpu) self.cpu.keep(self.id, job->cpu), self.cpu.free();
        const Interruptible same(job->interrupt);  // work within this work is interrupted with it
        serve(*job, thread);
      }
      lock.lock();
      if (--job->active == 0) job->idle.notify_one();
    }
  }

  /// Runs in the child of a fork, where only the forking thread exists, and holds the mutex.
  void restart() {
    asleep_ = nullptr;
    started_ = waiting_ = 0;
    Job* kept = nullptr;
    for (Job *job = newest_, *older; job; job = older) {
      older = job->older;
      if (job->owner != std::this_thread::get_id()) continue;
      job->active = 0;
      job->older = nullptr, job->newer = kept;
      (kept ? kept->older : newest_) = job;
      kept = job;
    }
    if (!kept) newest_ = nullptr;
    mutex_.unlock();
  }

  // The most cores with which threads are kept off a processor (KeptOff). With more cores, one that two
  // threads share costs little, and restricting all threads takes long.
  static constexpr int few_cores = 8;
  const int cores_ = hardware_threads();
  std::mutex mutex_;
  Worker* asleep_ = nullptr;
  Job* newest_ = nullptr;
  int started_ = 0, waiting_ = 0;
  std::atomic<std::uint64_t> opened_{0};  // number of jobs so far; changed under the mutex
};

ThreadPool& pool() {
  static auto& all = *new ThreadPool;  // never destroyed: destructors of static objects may use it
  return all;
}

/// Reads the quota of this process's control group. In a container that group is often reported as "/", the
/// root of what the container sees.
int own_cpu_quota() {
  SystemFile groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);)
    if (line.starts_with("0::/")) return cpu_quota("/sys/fs/cgroup", line.substr(line == "0::/" ? 4 : 3));
  return 0;
}

}  // namespace

int cpu_quota(const std::string& root, const std::string& group) {
  int least = 0;
  for (std::string path = group;; path.resize(path.rfind('/'))) {
    SystemFile file(root + path + "/cpu.max");  // "max 100000", or microseconds in a period
    double quota = 0, period = 0;
    if (file >> quota >> period && quota > 0 && period > 0) {
      const int cores = int(std::min(1e6, std::ceil(quota / period)));
      least = least ? std::min(least, cores) : cores;
    }
    if (path.find('/') == std::string::npos) return least;
  }
}

int hardware_threads() {
  static const int quota = own_cpu_quota();
  cpu_set_t set;
  const bool known = sched_getaffinity(0, sizeof set, &set) == 0;
  const int cores = std::max(1, known ? CPU_COUNT(&set) : int(std::thread::hardware_concurrency()));
  return quota ? std::min(cores, quota) : cores;
}

void parallel_for(int threads, std::int64_t n, FunctionRef<void(std::int64_t, int)> work) {
  threads = int(std::min<std::int64_t>(threads, n));
  if (threads <= 1) {
    const std::atomic<bool>* const interrupt = Interruptible::current();
    for (std::int64_t i = 0; i < n; ++i) {
      check_interrupt(interrupt);
      work(i, 0);
    }
    return;
  }
  Job job(work, n, threads);
  pool().run(job);
}

void parallel_ranges(int threads, std::int64_t n, FunctionRef<void(std::int64_t, std::int64_t)> work,
                     std::int64_t range) {
  parallel_for(threads, (n + range - 1) / range,
               [&](std::int64_t i, int) { work(i * range, std::min(n, (i + 1) * range)); });
}

int pool_threads() { return pool().threads(); }

}  // namespace kolmo
