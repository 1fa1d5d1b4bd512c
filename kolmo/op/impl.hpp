#pragma once
#include <cstddef>
#include <string_view>

#include "kolmo/base/arena.hpp"
#include "kolmo/base/tensor.hpp"

namespace kolmo {

class Stream;

/// Properties of a compiled configuration of an operator on a kind of device.
struct Variant {
  std::string_view name;
  bool hardware_only = false;  ///< needs instructions that the emulated GPU does not have
  bool naive = false;          ///< baseline for speed-ups; never row 0
  bool vendor = false;         ///< calls a library that comes with the device, or a similarly established one
};

/// A variant together with its configuration: {"128x64", {128, 64}}.
template <class Config>
struct Row {
  std::string_view name;
  Config config{};
  bool hardware_only = false, naive = false, vendor = false;
};
struct NoConfig {};

/// A table of variants without the type of their configuration. By default it has one row without a name.
class Rows {
 public:
  constexpr Rows() = default;
  template <class Config, std::size_t N>
  constexpr Rows(const Row<Config> (&rows)[N])  // NOLINT(google-explicit-constructor)
      : rows_(rows), count_(int(N)), at_([](const void* first, int i) {
          const Row<Config>& r = static_cast<const Row<Config>*>(first)[i];
          return Variant{r.name, r.hardware_only, r.naive, r.vendor};
        }) {}
  constexpr int size() const { return count_; }
  Variant operator[](int i) const { return at_(rows_, i); }

 private:
  const void* rows_ = nullptr;
  int count_ = 1;
  Variant (*at_)(const void* first, int i) = [](const void*, int) { return Variant{}; };
};

/// Where a call would run; determines the layout of its workspace.
struct Site {
  Device device;
  int row = 0;
  int threads = 1;  ///< CPU threads
};

/// The implementation of an operator on a kind of device: `<op>_cpu` in <op>.cpp, and `<op>_cuda` in <op>.cu,
/// which compiled for the emulated GPU defines `<op>_simt`.
class ImplBase {
 public:
  virtual Rows rows() const = 0;
  virtual void launch(const void* args, Arena scratch, Stream& stream, int row) const = 0;
  /// Takes the workspace from the arena, in the same order as launch() does.
  virtual void lay(Arena& arena, const void* args, const Site& site) const = 0;
  virtual bool fits(const void* args, int row) const = 0;
  /// The row that is the default for these arguments, provided that it fits them; -1: no preference.
  virtual int preferred(const void* args) const = 0;

  std::size_t workspace(const void* args, const Site& site) const {
    Arena counting;
    lay(counting, args, site);
    return counting.used();
  }

 protected:
  ~ImplBase() = default;
};

/// The functions of an implementation; only `launch` is required. `lay` and `launch` must take the same
/// pieces from their arena, so it is best to share one function that places everything.
template <class Args>
struct ImplCode {
  Rows rows = {};
  void (*launch)(const Args&, Arena scratch, Stream&, int row);
  void (*lay)(Arena&, const Args&, const Site&) = nullptr;
  bool (*fits)(const Args&, int row) = nullptr;
  int (*preferred)(const Args&) = nullptr;
};

template <class Args>
class Impl final : public ImplBase {
 public:
  constexpr Impl(const ImplCode<Args>& code) : code_(code) {}  // NOLINT(google-explicit-constructor)

  Rows rows() const override { return code_.rows; }
  void launch(const void* a, Arena scratch, Stream& s, int row) const override {
    code_.launch(cast(a), scratch, s, row);
  }
  void lay(Arena& arena, const void* a, const Site& site) const override {
    if (code_.lay) code_.lay(arena, cast(a), site);
  }
  bool fits(const void* a, int row) const override { return !code_.fits || code_.fits(cast(a), row); }
  int preferred(const void* a) const override { return code_.preferred ? code_.preferred(cast(a)) : -1; }

 private:
  static const Args& cast(const void* a) { return *static_cast<const Args*>(a); }
  ImplCode<Args> code_;
};

}  // namespace kolmo
