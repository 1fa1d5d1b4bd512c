#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "kolmo/runtime/stream.hpp"

namespace kolmo {

/// A kernel that is not compiled into the program: given as CUDA source, PTX or a cubin, and compiled and
/// loaded when it is first launched on a GPU. It stays loaded until the process ends. Copies share the loaded
/// code. Only `cuda` devices run it; the emulated GPU cannot.
///   const Kernel scale = Kernel::from_source(text, "scale<float>");
///   scale.launch({blocks}, {256}, 0, stream, x, factor, n);
class Kernel {
 public:
  struct Extent {
    unsigned x = 1, y = 1, z = 1;
  };

  /// CUDA C++, compiled by NVRTC for the capability of each GPU it is launched on. `name` may be an
  /// expression such as "scale<float>". `options` are NVRTC's, e.g. "--use_fast_math".
  static Kernel from_source(std::string source, std::string name, std::vector<std::string> options = {});
  /// The content of a PTX or cubin file. `name` is the kernel's symbol in it, or its name in the source if
  /// that is unique.
  static Kernel from_image(std::string image, std::string name);

  /// Queues the kernel. `shared`: bytes of dynamic shared memory. Arguments are pointers to device memory and
  /// plain values of exactly the parameters' types; their number and sizes are checked. Throws
  /// InvalidArgument if they or the source are wrong, Unsupported if the kernel cannot be compiled or run
  /// here.
  template <class... A>
  void launch(Extent grid, Extent block, std::size_t shared, Stream& stream, const A&... arguments) const {
    static_assert((std::is_trivially_copyable_v<A> && ...), "kernel arguments are copied byte by byte");
    const std::array<Argument, sizeof...(A)> all{Argument{&arguments, sizeof(A)}...};
    queue(grid, block, shared, stream, all);
  }

  /// The bytes of one argument.
  struct Argument {
    const void* data;
    std::size_t bytes;
  };
  /// Does what launch() does, for arguments whose types the compiler does not know.
  void queue(Extent grid, Extent block, std::size_t shared, Stream& stream,
             std::span<const Argument> arguments) const;

  const std::string& name() const;
  /// The compiler's output for a capability ("9.0"), for tune::ResourceTable; empty for PTX and cubins.
  std::string compiler_log(const std::string& capability) const;

 private:
  struct State;
  explicit Kernel(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

}  // namespace kolmo
