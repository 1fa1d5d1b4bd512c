#pragma once
#include <source_location>
#include <stdexcept>
#include <string>

namespace kolmo {

#ifdef __cpp_lib_source_location
using SourceLocation = std::source_location;
#else  // clang 14 with libstdc++ 12, which builds the fuzzers
class SourceLocation {
 public:
  static constexpr SourceLocation current(const char* file = __builtin_FILE(),
                                          unsigned line = __builtin_LINE(),
                                          const char* function = __builtin_FUNCTION()) {
    SourceLocation here;
    here.file_ = file, here.line_ = line, here.function_ = function;
    return here;
  }
  constexpr const char* file_name() const noexcept { return file_; }
  constexpr unsigned line() const noexcept { return line_; }
  constexpr const char* function_name() const noexcept { return function_; }

 private:
  const char *file_ = "", *function_ = "";
  unsigned line_ = 0;
};
#endif

/// Base of every exception Kolmo throws. `what()` is one line that starts with the operator, file or command
/// it concerns. `where()` is the place in Kolmo's source that detected the error.
class Error : public std::runtime_error {
 public:
  Error(const std::string& what, SourceLocation where) : std::runtime_error(what), where_(where) {}
  const SourceLocation& where() const noexcept { return where_; }

 private:
  SourceLocation where_;
};

/// The caller's arguments or input are wrong. Raised before any work is queued.
struct InvalidArgument : Error {
  using Error::Error;
};
/// The request is valid, but this build or device does not support it.
struct Unsupported : Error {
  using Error::Error;
};
/// An allocation failed.
struct OutOfMemory : Error {
  using Error::Error;
};
/// The device failed. A sticky failure marks the device as lost: later calls throw this at once.
struct DeviceError : Error {
  using Error::Error;
};

// nvcc 13.0 crashes on an inherited constructor whose default argument is source_location::current(), so the
// location is captured by the function that throws.
template <class E>
[[noreturn]] void fail(const std::string& what, SourceLocation where = SourceLocation::current()) {
  throw E(what, where);
}

inline void require(bool ok, const char* what, SourceLocation where = SourceLocation::current()) {
  if (!ok) throw InvalidArgument(what, where);
}
inline void require(bool ok, const std::string& what, SourceLocation where = SourceLocation::current()) {
  if (!ok) throw InvalidArgument(what, where);
}

}  // namespace kolmo
