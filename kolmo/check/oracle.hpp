#pragma once
#include <functional>
#include <span>
#include <string_view>

#include "kolmo/op/registry.hpp"

namespace kolmo::check {

/// A tiny example whose answer can be checked by hand, run on whatever device is being validated.
/// It calls the operator through `call` and `expect`s; a false expectation throws.
struct Fact {
  std::string_view name;
  void (*run)(Stream& stream);
};

/// An independent, naive, high-precision computation of an operator's result; lives in <op>_test.cpp as
/// `<op>_oracle` and shares no code with the operator.
struct OracleBase {
  const OpBase* op;
  std::span<const Fact> facts;
  /// Inputs and options as given to the operator, in host memory; floating outputs are f64 whatever the
  /// operator's dtype, which is `dtype` for those that accept several. Fills every given output.
  virtual void expected(const void* args, DType dtype) const = 0;

 protected:
  constexpr OracleBase(const OpBase* o, std::span<const Fact> f) : op(o), facts(f) {}
  ~OracleBase() = default;
};

template <class Args>
struct Oracle final : OracleBase {
  void (*compute)(const Args&) = nullptr;
  void (*compute_in)(const Args&, DType) = nullptr;
  constexpr Oracle(const Op<Args>& o, void (*c)(const Args&), std::span<const Fact> f = {})
      : OracleBase(&o, f), compute(c) {}
  /// For results that depend on the dtype by more than rounding.
  constexpr Oracle(const Op<Args>& o, void (*c)(const Args&, DType), std::span<const Fact> f = {})
      : OracleBase(&o, f), compute_in(c) {}
  void expected(const void* args, DType dtype) const override {
    const Args& a = *static_cast<const Args*>(args);
    compute ? compute(a) : compute_in(a, dtype);
  }
};

/// Element i (row-major) of a contiguous host tensor of any dtype.
long double get(const Tensor& t, std::int64_t i);
void put(const Tensor& t, std::int64_t i, long double value);

/// Runs an operator whose tensors are in host memory on any device: copies in, runs, copies out, waits.
/// Outputs must be given.
void call(const OpBase& op, void* args, Stream& stream, RunOptions options = {});
template <class Args>
void call(const Op<Args>& op, Args args, Stream& stream, RunOptions options = {}) {
  call(static_cast<const OpBase&>(op), static_cast<void*>(&args), stream, options);
}

/// Throws Error with the text when `ok` is false.
void expect(bool ok, const std::string& what);
/// |got - want| <= tolerance * max(1, |want|), NaN equal to NaN only.
void expect_near(double got, double want, double tolerance, const std::string& what);
/// Expects an InvalidArgument whose message contains `part`.
void expect_invalid(const std::function<void()>& f, std::string_view part);

/// The oracle of an operator of the catalogue. Throws Unsupported when it has none.
const OracleBase& oracle_of(const OpBase& op);

/// Adds an operator and its oracle to the catalogue of this process: from then on it is listed, validated,
/// timed, tuned and watched like those of Kolmo. Both must live until the process ends. Throws
/// InvalidArgument when the name is taken or the oracle is another operator's.
void register_op(const OpEntry& entry, const OracleBase& oracle);

namespace detail {
std::span<const OracleBase* const> built_in_oracles();  ///< generated from the folders under kolmo/ops
}

}  // namespace kolmo::check
