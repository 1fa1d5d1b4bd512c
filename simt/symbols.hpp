#pragma once
// Information from the symbol table of the running program: positions of shared variables, names of kernels.

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

/// The shared variables of one function, at their addresses in the calling OS thread. Each range of
/// `variables` is rounded up to eight bytes if only padding follows; `padding` is the unused memory after
/// each variable.
struct SharedScope {
  std::vector<char*> guards;
  std::vector<Range> variables, padding, init_flags;
};
std::vector<SharedScope> shared_scopes();

/// Readable name of a function, without its parameters; its address if the program was stripped.
std::string function_name(const void* address);

}  // namespace simt
