// The texts of error reports.

#include <bit>
#include <cstdio>
#include <cstring>
#include <map>

#include "simt/block.hpp"
#include "simt/language.hpp"
#include "simt/warp.hpp"

namespace simt {

bool same_place(const Where& a, const Where& b) {
  return std::bit_cast<const void*>(a) == std::bit_cast<const void*>(b) ||
         (a.line() == b.line() && a.column() == b.column() && !std::strcmp(a.file_name(), b.file_name()) &&
          !std::strcmp(a.function_name(), b.function_name()));
}

std::string text(const Where& at) { return std::string(at.file_name()) + ":" + std::to_string(at.line()); }

std::string text(uint3 v) {
  return "(" + std::to_string(v.x) + "," + std::to_string(v.y) + "," + std::to_string(v.z) + ")";
}

std::string Block::where(const uint3* thread) const {
  if (!thread && running_) thread = &running_->lane->index;
  return "kernel " + kernel_ + ", block " + text(blockIdx) + (thread ? ", thread " + text(*thread) : "") +
         ", launched at " + text(job_->at);
}

// Lists the waiting threads: one line for each group that waits at the same place.
std::string Block::situation() const {
  std::map<std::string, std::vector<int>> groups;
  for (int i = 0; i < threads_; ++i) {
    std::string state = "have returned";
    if (const Wait* w = lanes_[i].wait) {
      char mask[32] = "";
      if (w->scope == Scope::warp) std::snprintf(mask, sizeof mask, " with mask 0x%08x", w->mask);
      state = std::string("wait at ") + w->what + mask + ", " + text(w->at);
    }
    groups[state].push_back(i);
  }
  std::string all;
  for (const auto& [state, who] : groups) {
    std::string list;
    for (std::size_t i = 0; i < who.size(); ++i) {
      const std::size_t first = i;
      while (i + 1 < who.size() && who[i + 1] == who[i] + 1) ++i;
      list +=
          (first ? "," : "") + std::to_string(who[first]) + (i > first ? "-" + std::to_string(who[i]) : "");
    }
    all += "\n  threads " + list + " " + state;
  }
  return all;
}

void fail(const std::string& what, const Where& at) {
  throw Error(what + "\n  at " + text(at) + (current_block ? "\n  in " + current_block->where() : ""));
}

void fail(const std::string& what, const Wait& of) {
  throw Error(what + "\n  at " + text(of.at) + "\n  in " + current_block->where(&of.thread));
}

}  // namespace simt

// Called by AddressSanitizer and UndefinedBehaviorSanitizer when they report.
extern "C" void __asan_on_error() {
  if (simt::current_block) std::fprintf(stderr, "simt: in %s\n", simt::current_block->where().c_str());
}
extern "C" void __ubsan_on_report() { __asan_on_error(); }
