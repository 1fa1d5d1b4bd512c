#pragma once
// What the symbol table of the running program tells: where shared variables lie, what a kernel is called.

#include <cstddef>
#include <string>
#include <vector>

namespace simt {

struct Range {
  char* at;
  std::size_t size;
  bool contains(const void* p, std::size_t n) const {
    return p >= at && static_cast<const char*>(p) + n <= at + size;
  }
};

/// The shared variables of one function, as they lie in the calling OS thread. Each range of `variables` is
/// rounded up to eight bytes where only padding follows; `padding` is the unused memory behind each variable.
struct SharedScope {
  std::vector<char*> guards;
  std::vector<Range> variables, padding, init_flags;
};
std::vector<SharedScope> shared_scopes();

/// Readable name of a function, without its parameters; its address if the program was stripped.
std::string function_name(const void* address);

}  // namespace simt
