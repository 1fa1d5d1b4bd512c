// Completes the warp-wide operations whose lanes have all arrived.

#include <bit>

#include "simt/block.hpp"

namespace simt {

bool Block::settle(Warp& w) {
  Wait* at[32] = {};
  unsigned here = 0;
  for (unsigned g = w.unfinished(); g; g &= g - 1) {
    const int i = std::countr_zero(g);
    Wait* wait = lanes_[warp_ * 32 + i].wait;
    if (!wait || wait->scope == Scope::block) continue;
    at[i] = wait, here |= 1u << i;
  }
  return here && (finish_complete_groups(w, at, here) || finish_converged_group(w, at, here));
}

// Completes groups in which all lanes of a mask that have not returned are at the same operation with the
// same mask.
bool Block::finish_complete_groups(Warp& w, Wait* const* at, unsigned here) {
  unsigned woken = 0;
  for (unsigned g = here; g; g &= g - 1) {
    const int i = std::countr_zero(g);
    const unsigned group = at[i]->mask & w.unfinished();
    if (at[i]->scope != Scope::warp || group & ~here || woken >> i & 1) continue;
    bool complete = true;
    for (unsigned h = group; h && complete; h &= h - 1) {
      const Wait& other = *at[std::countr_zero(h)];
      complete = other.finish == at[i]->finish && other.mask == at[i]->mask && other.scope == Scope::warp;
    }
    if (!complete) continue;
    finish_group(w, at, i, group);
    woken |= group;
  }
  return woken;
}

// Called when no lane can run: completes the first group of lanes that wait for convergence, since no more
// can join it.
bool Block::finish_converged_group(Warp& w, Wait* const* at, unsigned here) {
  if (w.yielded) return false;
  int leader = -1;
  unsigned group = 0;
  for (unsigned g = here; g; g &= g - 1) {
    const int i = std::countr_zero(g);
    if (at[i]->scope != Scope::converged) continue;
    if (leader < 0) leader = i;
    if (same_place(at[i]->at, at[leader]->at)) group |= 1u << i;
  }
  if (leader < 0) return false;
  finish_group(w, at, leader, group);
  return true;
}

void Block::finish_group(Warp& w, Wait* const* at, int leader, unsigned group) {
  const Unwatched exchange;
  if (at[leader]->orders_memory) order_of(*at[leader]).next();
  at[leader]->finish(at, group);
  for (unsigned g = group; g; g &= g - 1) lanes_[warp_ * 32 + std::countr_zero(g)].wait = nullptr;
  w.ready |= group;
}

void wait(Wait& w) { current_block->wait(w); }

}  // namespace simt
