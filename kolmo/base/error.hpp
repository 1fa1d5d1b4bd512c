#pragma once
#include <source_location>
#include <stdexcept>
#include <string>

namespace kolmo {

/// Base of everything Kolmo throws. `what()` is one line that starts with the operator, file or command it
/// concerns; `where()` is the place in Kolmo's source that noticed.
class Error : public std::runtime_error {
 public:
  Error(const std::string& what, std::source_location where) : std::runtime_error(what), where_(where) {}
  const std::source_location& where() const noexcept { return where_; }

 private:
  std::source_location where_;
};

/// The caller's arguments or input are wrong. Raised before any work is queued.
struct InvalidArgument : Error {
  using Error::Error;
};
/// The request is right, but this build or device cannot do it.
struct Unsupported : Error {
  using Error::Error;
};
/// Memory for the request could not be had.
struct OutOfMemory : Error {
  using Error::Error;
};
/// The device failed. A sticky failure marks the device lost: later calls raise this at once.
struct DeviceError : Error {
  using Error::Error;
};

// nvcc 13.0 crashes on an inherited constructor whose default argument is source_location::current(), so the
// location is captured by the function that throws.
template <class E>
[[noreturn]] void fail(const std::string& what,
                       std::source_location where = std::source_location::current()) {
  throw E(what, where);
}

inline void require(bool ok, const char* what, std::source_location where = std::source_location::current()) {
  if (!ok) throw InvalidArgument(what, where);
}
inline void require(bool ok, const std::string& what,
                    std::source_location where = std::source_location::current()) {
  if (!ok) throw InvalidArgument(what, where);
}

}  // namespace kolmo
