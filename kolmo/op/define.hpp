#pragma once
#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

#include "kolmo/op/case.hpp"
#include "kolmo/op/dims.hpp"
#include "kolmo/op/impl.hpp"
#include "kolmo/op/op.hpp"

namespace kolmo {

/// Floating-point operations, and compulsory traffic: each input read once, or again where no device holds it until it is
/// needed, and each output written once.
struct Cost {
  double flops = 0, bytes_read = 0, bytes_written = 0;
  bool matrix_products = false;  ///< whether the operations are matrix products
};

/// How reproducible an operator's results are.
enum class Determinism : std::uint8_t {
  none,
  run_to_run,  ///< same bits on the same device and variant
  everywhere,  ///< same bits on every device, variant and number of threads
};

struct OpInfo {
  std::string_view name;
  std::string_view summary;  ///< one sentence with the formula
  std::string_view source;   ///< paper or textbook
  Determinism determinism = Determinism::run_to_run;
  bool matrix_products = false;  ///< whether its operations are; the roofline then uses tensor cores
  bool in_place = false;         ///< an output may be exactly an input declared with the same shape
  /// Faults that kernels may find in the data, such as "x is not finite"; see base/status.hpp.
  std::span<const std::string_view> faults = {};
};

/// An option that an alias binds: bind<&A::activation, Activation::gelu>.
struct Binding {
  void* (*at)(void* args) = nullptr;
  void (*apply)(void* args) = nullptr;
};
template <auto M, auto V>
inline constexpr Binding bind{
    [](void* a) -> void* { return &(static_cast<typename detail::Member<decltype(M)>::Class*>(a)->*M); },
    [](void* a) { static_cast<typename detail::Member<decltype(M)>::Class*>(a)->*M = V; }};

/// A further name of an operator: the operator with some of its options bound.
struct AliasInfo {
  std::string_view name;
  std::string_view summary;  ///< one sentence with the formula
  ShortList<Binding> binds = {};
  std::string_view cuda_variants = {};          ///< prefix of its CUDA variants' names; empty: all
  std::optional<Determinism> determinism = {};  ///< if it differs from the operator's
  std::optional<Domain> domain = {};            ///< domain of the inputs, if it differs from the operator's

  /// Whether the alias binds this option.
  bool sets(const FieldInfo& option, void* args) const {
    for (const Binding& b : binds)
      if (b.at(args) == option.at(args)) return true;
    return false;
  }
};

/// An operator without the type of its arguments, for inspection. `args` points to the operator's argument
/// struct.
class OpBase : public OpInfo {
 public:
  constexpr explicit OpBase(const OpInfo& info) : OpInfo(info) {}
  virtual std::span<const FieldInfo> fields() const = 0;
  virtual std::vector<CaseInfo> cases() const = 0;
  virtual std::span<const AliasInfo> aliases() const = 0;
  /// Sets a case's options and adjusts its inputs, which are in host memory.
  virtual void setup_case(std::size_t index, void* args, std::uint64_t seed = 1) const = 0;
  /// Returns arguments without tensors, and with the default options of the operator or of one of its
  /// aliases.
  virtual std::vector<std::byte> default_args(std::string_view alias = {}) const = 0;
  virtual std::size_t args_size() const = 0;
  /// Checks conditions beyond shapes, dtypes and option ranges; throws InvalidArgument.
  virtual void check(const void* args) const = 0;
  /// Binds sizes and dtypes of outputs that no input or option determines.
  virtual void sizes(const void* args, Dims& dims) const = 0;
  virtual bool has_flops() const = 0;
  virtual double flops(const void* args) const = 0;

 protected:
  ~OpBase() = default;
};

/// Sets the shape and dtype of every output from inputs and options; data pointers stay. Outputs get the
/// device of the inputs, or `device` if there are none.
void infer_outputs(const OpBase& op, void* args, Device device = {});
Cost cost(const OpBase& op, const void* args);

/// The functions and data that an operator's .cpp provides; `flops` and `cases` are required.
template <class Args>
struct OpCode {
  void (*check)(const Args&) = nullptr;
  void (*sizes)(const Args&, Dims&) = nullptr;
  double (*flops)(const Args&) = nullptr;
  std::span<const Case<Args>> cases;
  std::span<const AliasInfo> aliases = {};
};

/// The definition behind an Op.
template <class Args>
class Definition final : public OpBase {
 public:
  constexpr Definition(const OpInfo& info, const OpCode<Args>& code) : OpBase(info), code_(code) {}

  std::span<const FieldInfo> fields() const override {
    static constexpr auto infos = Args::fields();
    return infos;
  }
  std::vector<CaseInfo> cases() const override {
    std::vector<CaseInfo> all;
    for (const Case<Args>& c : code_.cases)
      all.push_back({c.name, c.sizes, c.dtype, c.tolerance, c.optional, c.benchmark_only, c.heavy, c.alias,
                     c.dtypes, c.tolerances});
    return all;
  }
  std::span<const AliasInfo> aliases() const override { return code_.aliases; }
  void setup_case(std::size_t i, void* a, std::uint64_t seed) const override {
    const Case<Args>& c = code_.cases[i];
    bind_options(c.alias, a);
    if (c.setup) c.setup(*static_cast<Args*>(a));
    if (CaseRandom random(seed); c.draw) c.draw(*static_cast<Args*>(a), random);
  }
  std::vector<std::byte> default_args(std::string_view alias) const override {
    Args args{};
    bind_options(alias, &args);
    std::vector<std::byte> bytes(sizeof(Args));
    std::memcpy(bytes.data(), &args, sizeof(Args));
    return bytes;
  }
  std::size_t args_size() const override { return sizeof(Args); }
  void check(const void* a) const override {
    if (code_.check) code_.check(cast(a));
  }
  void sizes(const void* a, Dims& dims) const override {
    if (code_.sizes) code_.sizes(cast(a), dims);
  }
  bool has_flops() const override { return code_.flops != nullptr; }
  double flops(const void* a) const override { return code_.flops ? code_.flops(cast(a)) : 0; }

 private:
  static const Args& cast(const void* a) { return *static_cast<const Args*>(a); }
  void bind_options(std::string_view alias, void* args) const {
    for (const AliasInfo& a : code_.aliases)
      if (a.name == alias)
        for (const Binding& b : a.binds) b.apply(args);
  }
  OpCode<Args> code_;
};

}  // namespace kolmo
