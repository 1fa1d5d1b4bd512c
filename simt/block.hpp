#pragma once
// Runs one block at a time on one OS thread: warp after warp, lane after lane. A lane runs until it returns
// or waits, and then switches directly to the next runnable lane. A lane that never waits leaves its fiber to
// the next one, so a kernel without barriers never switches.

#include <array>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "simt/engine.hpp"
#include "simt/fiber.hpp"
#include "simt/sanitizer.hpp"
#include "simt/shared_memory.hpp"

namespace simt {

class Block {
 public:
  void begin_grid(const Job& job, const std::string& kernel);
  void end_grid();
  /// Runs one block of the grid to its end. Throws errors of its threads, and violations of the
  /// synchronisation rules.
  void run(uint3 index);

  // Called by the running thread:
  void wait(Wait& w);
  void yield();
  AsyncCopies& async_copies() { return lane().copies; }
  SharedMemory& shared() { return shared_; }
  bool in_thread() const { return running_ != nullptr; }
  /// Ends the block with an error where exceptions cannot be thrown: the thread is never resumed or unwound.
  [[noreturn]] void abandon_thread(std::exception_ptr failure);

  /// Text with kernel, block, thread (default: the running one) and launch.
  std::string where(const uint3* thread = nullptr) const;

 private:
  struct Lane;
  struct Runner {  // a fiber and the lane it runs for
    std::unique_ptr<Fiber> fiber;
    Lane* lane = nullptr;
  };
  struct Lane {
    uint3 index{};
    Runner* runner = nullptr;
    Wait* wait = nullptr;
    AsyncCopies copies;
  };
  struct Warp {
    unsigned live, ready, done, yielded;  // sets of lanes
    unsigned unfinished() const { return live & ~done; }
  };
  struct Cancelled {};  // unwinds the threads of a block that has failed

  Lane& lane() { return *running_->lane; }
  unsigned bit_of(const Lane& l) const { return 1u << (&l - lanes_.data()) % 32; }

  // Called on any fiber.
  void leave();
  void dispatch(bool finished);
  void switch_to(Runner* to);
  Runner* idle_runner();
  Runner* new_runner();
  void live();

  // Called on the OS thread's own stack.
  bool run_warps();
  bool settle(Warp& w);
  bool finish_complete_groups(Warp& w, Wait* const* at, unsigned here);
  bool finish_converged_group(Warp& w, Wait* const* at, unsigned here);
  void finish_group(Warp& w, Wait* const* at, int leader, unsigned group);
  void release_barrier();
  void unwind();
  std::string situation() const;
  Order& order_of(const Wait& w) {
    return w.scope == Scope::block ? block_order_ : warp_orders_[warp_][w.mask];
  }

  const Job* job_ = nullptr;
  std::string kernel_;
  int threads_ = 0;
  bool reverse_ = false;
  std::size_t warp_ = 0;
  SharedMemory shared_;
  std::array<Lane, 1024> lanes_;
  std::vector<Warp> warps_;
  std::vector<std::unique_ptr<Runner>> runners_;
  std::vector<Runner*> idle_, retired_;
  Fiber main_;
  Runner* running_ = nullptr;  // null: the OS thread's own stack
  bool cancelled_ = false;
  std::exception_ptr failure_;
  char begun_ = 0, ended_ = 0;  // tokens for "happens before" at both ends of a block
  Order block_order_;
  std::array<std::map<unsigned, Order>, 32> warp_orders_;  // by the mask of lanes
};

/// The block that the calling OS thread runs, if that is a worker.
inline constinit thread_local Block* current_block = nullptr;

std::string text(const Where& at);
std::string text(uint3 v);
bool same_place(const Where& a, const Where& b);

}  // namespace simt
