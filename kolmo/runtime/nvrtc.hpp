#pragma once
#include <string>
#include <vector>

namespace kolmo {

/// GPU code of a kernel for one capability.
struct CompiledKernel {
  std::string image;  ///< a cubin
  std::string entry;  ///< the kernel's symbol in it
  /// Compiler output, with the kernel's resources (ptxas -v); empty if the result was cached.
  std::string log;
};

/// Compiles CUDA C++ for a capability ("9.0") with NVRTC, which needs no GPU. NVRTC is opened at first use,
/// from the folder $KOLMO_NVRTC, the loader's path, or cuda_library_folders(). `kernel` is a name or, for a
/// template, an expression such as "scale<float, 256>". Throws Unsupported without NVRTC, and InvalidArgument
/// with the compiler's messages.
CompiledKernel compile_kernel(const std::string& source, const std::string& kernel,
                              const std::string& capability, const std::vector<std::string>& options = {});

/// Whether NVRTC can be opened here.
bool can_compile_kernels();

}  // namespace kolmo
