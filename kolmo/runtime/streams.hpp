#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "kolmo/runtime/stream.hpp"

namespace kolmo {

/// Streams of different devices that share the work of a call, or one stream. Copies are the same streams and know the same
/// losses. Each stream is used by one thread at a time; lose(), usable() and losses() may be called by any.
class Streams {
 public:
  Streams(Stream only);  // NOLINT(google-explicit-constructor): most callers have one
  explicit Streams(std::vector<Stream> all);
  /// Opens a stream of each device that parse_devices() names. Throws Unsupported for a device that cannot be used.
  static Streams open(const std::string& devices, int threads);

  std::size_t size() const { return state_->all.size(); }
  Stream& operator[](std::size_t i) const { return state_->all[i]; }
  int threads() const { return state_->all[0].threads(); }
  /// The kind of the devices that need the most work at once: cuda, if one is.
  DeviceKind widest() const;
  /// Names all devices: "cuda:0, cuda:1".
  std::string text() const;

  struct Loss {
    Device device;
    std::string why;
  };
  /// Notes that a stream's device was lost, so that others take over its work.
  void lose(std::size_t i, std::string why) const;
  bool usable(std::size_t i) const;
  std::vector<Loss> losses() const;

  /// Does work that needs one stream on the first whose device is not lost. If that is lost meanwhile, the work begins again on
  /// the next one. Throws DeviceError if no device is left.
  template <class F>
  auto on_one(F work) const {
    for (std::size_t i = 0;; ++i) {
      if (!usable(i) && i + 1 < size()) continue;
      try {
        return work((*this)[i]);
      } catch (const DeviceError& e) {
        if (i + 1 == size()) throw;
        lose(i, e.what());
      }
    }
  }

 private:
  struct State {
    std::vector<Stream> all;
    std::mutex mutex{};
    std::vector<std::pair<std::size_t, std::string>> lost{};
  };
  std::shared_ptr<State> state_;
};

}  // namespace kolmo
