#pragma once
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "kolmo/op/cuda_impl.hpp"
#include "kolmo/op/field.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {

/// Floating-point operations, and compulsory traffic: each input read once, each output written once.
struct Cost {
  double flops = 0, bytes_read = 0, bytes_written = 0;
  bool matrix_products = false;  ///< what the operations are
};

/// Sizes bound to the names in shape strings; `batch` is what "..." stands for.
class Dims {
 public:
  std::int64_t operator[](std::string_view name) const;  ///< throws InvalidArgument when unknown
  bool has(std::string_view name) const { return find(name) != nullptr; }
  void set(std::string_view name, std::int64_t size);
  std::vector<std::int64_t> batch;
  bool batch_known = false;

 private:
  const std::int64_t* find(std::string_view name) const;
  std::vector<std::pair<std::string_view, std::int64_t>> sizes_;
};

/// How far an operator's results repeat.
enum class Determinism : std::uint8_t {
  none,
  run_to_run,  ///< same bits on the same device and variant
  everywhere,  ///< same bits on every device, variant and number of threads
};

struct CaseSize {
  std::string_view name;
  std::int64_t size;
};
/// Extents for the names in shape strings, integer options among them; "..." stands for one leading
/// dimension.
struct CaseSizes {
  CaseSize items[8] = {};
  std::size_t count = 0;
  constexpr CaseSizes(std::initializer_list<CaseSize> list) {
    for (const CaseSize& s : list) items[count++] = s;
  }
};

/// A named problem: shapes, dtype, options. Validation, benchmark and tuning share them.
struct CaseInfo {
  std::string_view name;
  std::span<const CaseSize> sizes;
  DType dtype = DType::f64;        ///< of the fields that accept several
  double tolerance = 0;            ///< |got - want| <= tolerance * max(1, |want|); 0: equal
  std::string_view optional = {};  ///< space-separated names of the optional tensors to give
  bool benchmark_only = false;     ///< too large for the oracle and the emulated GPU
  std::string_view alias = {};     ///< the alias whose case it is; empty: the operator's own
};

/// A further name of an operator: the operator with some of its options set.
struct AliasInfo {
  std::string_view name;
  std::string_view summary;
  std::string_view cuda_variants = {};  ///< what its CUDA variants' names start with; empty: all
};

struct OpInfo {
  std::string_view name;
  std::string_view summary;  ///< one sentence with the formula
  std::string_view source;   ///< paper or textbook
  Determinism determinism = Determinism::run_to_run;
  bool matrix_products = false;  ///< its operations, so that tensor cores count for the roofline
  bool in_place = false;         ///< an output may be exactly an input declared with the same shape
};

/// An operator without the type of its arguments, open to inspection. `args` points to the operator's own
/// argument struct.
class OpBase : public OpInfo {
 public:
  constexpr explicit OpBase(const OpInfo& info) : OpInfo(info) {}
  virtual std::span<const FieldInfo> fields() const = 0;
  virtual std::vector<CaseInfo> cases() const = 0;
  virtual std::vector<AliasInfo> aliases() const = 0;
  /// Sets a case's options and adjusts its inputs, which are in host memory.
  virtual void setup_case(std::size_t index, void* args) const = 0;
  /// No tensors, and every option as the operator or one of its aliases has it.
  virtual std::vector<std::byte> default_args(std::string_view alias = {}) const = 0;
  virtual std::size_t args_size() const = 0;
  /// Conditions beyond shapes, dtypes and option ranges; throws InvalidArgument.
  virtual void check(const void* args) const = 0;
  /// Sizes of outputs that no input or option fixes.
  virtual void sizes(const void* args, Dims& dims) const = 0;
  /// Of the outputs that accept several dtypes; `inputs` is that of the inputs.
  virtual DType output_dtype(const void* args, DType inputs) const = 0;
  virtual double flops(const void* args) const = 0;
  virtual int cpu_variant_count() const = 0;
  virtual std::vector<Variant> cpu_variants() const = 0;
  virtual bool cpu_fits(const void* args, int variant) const = 0;
  virtual std::size_t cpu_workspace(const void* args, int threads, int variant) const = 0;
  virtual void run_cpu(const void* args, void* workspace, Stream& stream, int variant) const = 0;

 protected:
  ~OpBase() = default;
};

struct RunOptions {
  int variant = -1;  ///< row of the device's table of variants; -1: the default for the arguments
  int threads = 0;   ///< CPU threads, 0: the stream's; must be 0 on other devices
};

/// Checks everything, then queues the operator on the stream. Throws before anything is queued.
void run(const OpBase& op, const void* args, Stream& stream, RunOptions options = {});
/// Gives every output its shape and dtype (data untouched) from inputs and options.
void infer_outputs(const OpBase& op, void* args);
Cost cost(const OpBase& op, const void* args);

template <class Args>
struct Case {
  std::string_view name;
  CaseSizes sizes;
  DType dtype = DType::f64;
  double tolerance = 0;
  std::string_view optional = {};
  bool benchmark_only = false;
  void (*setup)(Args&) = nullptr;  ///< sets options, may rewrite the (host) inputs
  std::string_view alias = {};     ///< begins with this alias's options
};

template <class Args>
struct Alias {
  std::string_view name;
  std::string_view summary;
  void (*preset)(Args&) = nullptr;  ///< sets the options
  std::string_view cuda_variants = {};
};

/// One way to compute an operator on the CPU.
template <class Args>
struct CpuVariant {
  Variant row;
  void (*run)(const Args&, void* workspace, Stream&);
  std::size_t (*workspace)(const Args&, int threads) = nullptr;  ///< bytes
  bool (*fits)(const Args&) = nullptr;
};

/// What an operator's .cpp gives. Only `flops` and either `cpu` or `cpu_variants` are compulsory.
template <class Args>
struct OpCode {
  void (*check)(const Args&) = nullptr;
  void (*sizes)(const Args&, Dims&) = nullptr;
  DType (*output_dtype)(const Args&, DType inputs) = nullptr;  ///< else that of the inputs
  double (*flops)(const Args&);
  std::size_t (*cpu_workspace)(const Args&, int threads) = nullptr;  ///< bytes
  void (*cpu)(const Args&, void* workspace, Stream&) = nullptr;
  std::span<const CpuVariant<Args>> cpu_variants = {};  ///< instead of the two above; row 0 is the default
  std::span<const Case<Args>> cases;
  std::span<const Alias<Args>> aliases = {};
};

/// An operator: a constant object, callable and open to inspection.
///   softmax({.x = x, .y = y}, stream);
template <class Args>
class Op final : public OpBase {
  static_assert(std::is_trivially_copyable_v<Args>, "arguments are plain values");

 public:
  constexpr Op(const OpInfo& info, const OpCode<Args>& code) : OpBase(info), code_(code) {}

  void operator()(const Args& args, Stream& stream, RunOptions options = {}) const {
    run(*this, &args, stream, options);
  }

  std::span<const FieldInfo> fields() const override {
    static constexpr auto infos = detail::field_infos<Args>();
    return infos;
  }
  std::vector<CaseInfo> cases() const override;
  std::vector<AliasInfo> aliases() const override;
  void setup_case(std::size_t i, void* a) const override {
    preset(code_.cases[i].alias, *static_cast<Args*>(a));
    if (code_.cases[i].setup) code_.cases[i].setup(*static_cast<Args*>(a));
  }
  std::vector<std::byte> default_args(std::string_view alias = {}) const override {
    Args args{};
    preset(alias, args);
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
  DType output_dtype(const void* a, DType inputs) const override {
    return code_.output_dtype ? code_.output_dtype(cast(a), inputs) : inputs;
  }
  double flops(const void* a) const override { return code_.flops(cast(a)); }
  int cpu_variant_count() const override {
    return code_.cpu_variants.empty() ? 1 : int(code_.cpu_variants.size());
  }
  std::vector<Variant> cpu_variants() const override;
  bool cpu_fits(const void* a, int v) const override {
    const CpuVariant<Args> row = cpu_row(v);
    return row.run && (!row.fits || row.fits(cast(a)));
  }
  std::size_t cpu_workspace(const void* a, int threads, int v) const override {
    const CpuVariant<Args> row = cpu_row(v);
    return row.workspace ? row.workspace(cast(a), threads) : 0;
  }
  void run_cpu(const void* a, void* workspace, Stream& s, int v) const override {
    cpu_row(v).run(cast(a), workspace, s);
  }

 private:
  static const Args& cast(const void* a) { return *static_cast<const Args*>(a); }
  /// Without a function when there is no such row.
  CpuVariant<Args> cpu_row(int v) const {
    const auto rows = code_.cpu_variants;
    if (rows.empty() && v == 0) return {{}, code_.cpu, code_.cpu_workspace};
    return v >= 0 && std::size_t(v) < rows.size() ? rows[std::size_t(v)] : CpuVariant<Args>{};
  }
  void preset(std::string_view alias, Args& args) const {
    for (const Alias<Args>& a : code_.aliases)
      if (a.name == alias && a.preset) a.preset(args);
  }
  OpCode<Args> code_;
};

template <class Args>
std::vector<CaseInfo> Op<Args>::cases() const {
  std::vector<CaseInfo> all;
  for (const Case<Args>& c : code_.cases)
    all.push_back({c.name,
                   {c.sizes.items, c.sizes.count},
                   c.dtype,
                   c.tolerance,
                   c.optional,
                   c.benchmark_only,
                   c.alias});
  return all;
}

template <class Args>
std::vector<AliasInfo> Op<Args>::aliases() const {
  std::vector<AliasInfo> all;
  for (const Alias<Args>& a : code_.aliases) all.push_back({a.name, a.summary, a.cuda_variants});
  return all;
}

template <class Args>
std::vector<Variant> Op<Args>::cpu_variants() const {
  if (code_.cpu_variants.empty()) return {Variant{}};
  std::vector<Variant> all;
  for (const CpuVariant<Args>& v : code_.cpu_variants) all.push_back(v.row);
  return all;
}

}  // namespace kolmo
