#include "simt/block.hpp"

#include <bit>
#include <utility>

#include "simt/language.hpp"

namespace simt {
namespace {

// With two CUDA threads on one fiber, ThreadSanitizer would consider them ordered.
constexpr bool recycle_fibers = !tsan;

struct BarrierWait : Wait {
  bool predicate;
  int count;
};

}  // namespace

void Block::begin_grid(const Job& job, const std::string& kernel) {
  job_ = &job, kernel_ = kernel;
  reverse_ = config().reverse;
  gridDim = job.grid, blockDim = job.block;
  threads_ = static_cast<int>(blockDim.x * blockDim.y * blockDim.z);
  shared_.begin_grid(job.shared);
  if (!recycle_fibers)  // made here, because ThreadSanitizer watches the allocations of fibers too
    while (static_cast<int>(runners_.size()) < threads_) idle_.push_back(new_runner());
  idle_.reserve(lanes_.size()), retired_.reserve(lanes_.size());
  std::size_t i = 0;
  for (unsigned z = 0; z < blockDim.z; ++z)
    for (unsigned y = 0; y < blockDim.y; ++y)
      for (unsigned x = 0; x < blockDim.x; ++x) lanes_[i++].index = {x, y, z};
}

void Block::end_grid() { shared_.end_grid(); }

void Block::run(uint3 index) {
  blockIdx = index;
  shared_.begin_block();
  warps_.clear();
  for (int first = 0; first < threads_; first += 32) {
    const unsigned live = threads_ - first < 32 ? (1u << (threads_ - first)) - 1 : ~0u;
    warps_.push_back({live, live, 0, 0});
  }
  idle_.insert(idle_.end(), retired_.begin(), retired_.end());
  retired_.clear();
  for (int i = 0; i < threads_; ++i) {
    lanes_[i].runner = nullptr, lanes_[i].wait = nullptr;
    lanes_[i].copies.pending.clear(), lanes_[i].copies.groups = 0;
  }
  release(&begun_);
  try {
    while (run_warps()) release_barrier();
  } catch (...) {
    unwind();
    acquire(&ended_);
    throw;
  }
  acquire(&ended_);
}

void Block::wait(Wait& w) {
  w.thread = threadIdx;
  lane().wait = &w;
  char* token = tsan && w.orders_memory ? order_of(w).token() : nullptr;
  if (token) release(token);
  leave();
  if (token) acquire(token);
}

void Block::yield() {
  warps_[warp_].yielded |= bit_of(lane());
  leave();
}

void Block::leave() {
  dispatch(false);
  if (cancelled_) throw Cancelled{};
}

// Switches the OS thread to the next runnable lane of this warp, else to the scheduler.
void Block::dispatch(bool finished) {
  Warp& w = warps_[warp_];
  Runner* to = nullptr;
  if (w.ready && (!failure_ || cancelled_)) {
    const int i = reverse_ ? 31 - std::countl_zero(w.ready) : std::countr_zero(w.ready);
    w.ready &= ~(1u << i);
    Lane& next = lanes_[warp_ * 32 + i];
    if (!next.runner) {
      next.runner = finished && recycle_fibers ? running_ : idle_runner();
      next.runner->lane = &next;
    }
    to = next.runner;
    threadIdx = next.index;
  }
  if (to == running_) return;
  if (finished) (recycle_fibers ? idle_ : retired_).push_back(running_);
  switch_to(to);
}

void Block::switch_to(Runner* to) {
  Fiber& from = running_ ? *running_->fiber : main_;
  running_ = to;
  from.switch_to(to ? *to->fiber : main_);
}

Block::Runner* Block::idle_runner() {
  if (idle_.empty()) return new_runner();
  Runner* r = idle_.back();
  idle_.pop_back();
  return r;
}

Block::Runner* Block::new_runner() {
  const auto life = [](void* block) { static_cast<Block*>(block)->live(); };
  runners_.push_back(std::make_unique<Runner>());
  runners_.back()->fiber =
      std::make_unique<Fiber>(config().stack, static_cast<unsigned>(runners_.size()), life, this);
  return runners_.back().get();
}

// The main loop of a fiber, which runs one CUDA thread after the other.
void Block::live() {
  for (;;) {
    acquire(&begun_);
    try {
      job_->call(job_->closure);
      if (!lane().copies.pending.empty())
        throw Error("asynchronous copies that the thread never waited for\n  in " + where());
    } catch (const Cancelled&) {
    } catch (...) {
      if (!failure_) failure_ = std::current_exception();
    }
    warps_[warp_].done |= bit_of(lane());
    release(&ended_);
    dispatch(true);
  }
}

void Block::abandon_thread(std::exception_ptr failure) {
  if (!failure_) failure_ = std::move(failure);
  warps_[warp_].done |= bit_of(lane());
  switch_to(nullptr);
  std::terminate();
}

// Runs until every thread waits at a barrier (returns true) or has returned (false).
bool Block::run_warps() {
  bool again = true, alive = false;
  while (again) {
    again = alive = false;
    for (std::size_t i = 0; i < warps_.size(); ++i) {
      warp_ = reverse_ ? warps_.size() - 1 - i : i;
      Warp& w = warps_[warp_];
      do {
        if (w.ready) dispatch(false);
        if (failure_) std::rethrow_exception(failure_);
      } while (settle(w));
      w.ready = std::exchange(w.yielded, 0);
      again |= w.ready != 0;
      alive |= w.unfinished() != 0;
    }
  }
  return alive;
}

void Block::release_barrier() {
  const Wait* first = nullptr;
  int count = 0;
  bool in_step = true, in_warp = false;
  for (int i = 0; i < threads_; ++i) {
    if (warps_[i / 32].done >> i % 32 & 1) {
      in_step = in_step && config().exited_ok;
      continue;
    }
    const Wait* w = lanes_[i].wait;
    if (w->scope != Scope::block) {
      in_warp = true;
      continue;
    }
    if (!first) first = w;
    in_step = in_step && same_place(w->at, first->at);
    count += static_cast<const BarrierWait*>(w)->predicate;
  }
  if (in_warp)
    throw Error("warp divergence: lanes wait for lanes that never come\n  in " + where() + situation());
  if (!in_step)
    throw Error("barrier divergence: not all threads reached the same barrier\n  in " + where() +
                situation());
  block_order_.next();
  for (int i = 0; i < threads_; ++i)
    if (Wait* w = std::exchange(lanes_[i].wait, nullptr)) static_cast<BarrierWait*>(w)->count = count;
  for (Warp& w : warps_) w.ready = w.unfinished();
}

// After a failure: unwinds suspended threads, so that their fibers can be reused.
void Block::unwind() {
  cancelled_ = true;
  for (warp_ = 0; warp_ < warps_.size(); ++warp_) {
    Warp& w = warps_[warp_];
    w.ready = 0;
    for (unsigned g = w.unfinished(); g; g &= g - 1)
      if (lanes_[warp_ * 32 + std::countr_zero(g)].runner) w.ready |= g & -g;
    if (w.ready) dispatch(false);
  }
  cancelled_ = false, failure_ = nullptr;
}

int wait_block(bool predicate, const char* what, const Where& at) {
  BarrierWait w{{nullptr, 0, Scope::block, true, what, at}, predicate, 0};
  current_block->wait(w);
  return w.count;
}

}  // namespace simt
