#include "kolmo/runtime/kernel.hpp"

#include <map>
#include <mutex>

#include "kolmo/runtime/kernel_loader.hpp"
#include "kolmo/runtime/launch_log.hpp"
#include "kolmo/runtime/nvrtc.hpp"

namespace kolmo {

struct Kernel::State {
  State(std::string c, std::string n, std::vector<std::string> o, bool s)
      : code(std::move(c)), name(std::move(n)), options(std::move(o)), is_source(s) {}

  const std::string code, name;
  const std::vector<std::string> options;
  const bool is_source;

  std::mutex mutex;
  std::map<std::string, CompiledKernel> compiled;  // by capability
  std::map<int, LoadedKernel> loaded;              // by index of the GPU

  /// The mutex must be held.
  CompiledKernel& compile(const std::string& capability) {
    auto found = compiled.find(capability);
    if (found == compiled.end())
      found = compiled.emplace(capability, compile_kernel(code, name, capability, options)).first;
    return found->second;
  }

  const LoadedKernel& on(Device device) {
    const std::lock_guard lock(mutex);
    auto found = loaded.find(device.index);
    if (found == loaded.end()) {
      LoadedKernel kernel;
      if (is_source) {
        const CompiledKernel& c = compile(device_info(device).capability);
        kernel = load_kernel(c.image, c.entry, device);
      } else {
        kernel = load_kernel(code, name, device);
      }
      found = loaded.emplace(device.index, std::move(kernel)).first;
    }
    return found->second;
  }
};

Kernel Kernel::from_source(std::string source, std::string name, std::vector<std::string> options) {
  return Kernel(std::make_shared<State>(std::move(source), std::move(name), std::move(options), true));
}

Kernel Kernel::from_image(std::string image, std::string name) {
  return Kernel(
      std::make_shared<State>(std::move(image), std::move(name), std::vector<std::string>{}, false));
}

const std::string& Kernel::name() const { return state_->name; }

std::string Kernel::compiler_log(const std::string& capability) const {
  if (!state_->is_source) return {};
  const std::lock_guard lock(state_->mutex);
  std::string& log = state_->compile(capability).log;
  if (log.empty()) {  // the kernel came from the driver's cache
    std::vector<std::string> anew = state_->options;
    anew.push_back("--no-cache");
    log = compile_kernel(state_->code, state_->name, capability, anew).log;
  }
  return log;
}

void Kernel::queue(Extent grid, Extent block, std::size_t shared, Stream& stream,
                   std::span<const Argument> arguments) const {
  const std::array g{grid.x, grid.y, grid.z}, b{block.x, block.y, block.z};
  if (LaunchLog* const log = LaunchLog::current()) {
    log->launches.push_back({nullptr, g, b, shared, std::make_shared<Kernel>(*this)});
    return;
  }
  const Device device = stream.device();
  if (device.kind != DeviceKind::cuda)
    fail<Unsupported>("kernel '" + name() + "' runs on cuda only, the stream is on " + to_string(device));
  const LoadedKernel& kernel = state_->on(device);
  const auto text = [](std::size_t n, const char* what) { return std::to_string(n) + " " + what; };
  if (arguments.size() != kernel.parameters.size())
    fail<InvalidArgument>("kernel '" + name() + "' has " + text(kernel.parameters.size(), "parameters") +
                          ", not " + std::to_string(arguments.size()));
  std::vector<void*> pointers;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].bytes != kernel.parameters[i])
      fail<InvalidArgument>("kernel '" + name() + "': parameter " + std::to_string(i) + " has " +
                            text(kernel.parameters[i], "bytes") + ", the argument " +
                            std::to_string(arguments[i].bytes));
    pointers.push_back(const_cast<void*>(arguments[i].data));
  }
  launch_loaded(kernel, g, b, shared, device, stream.native(), pointers);
}

}  // namespace kolmo
