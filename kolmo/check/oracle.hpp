#pragma once
#include <complex>
#include <functional>
#include <span>
#include <string_view>

#include "kolmo/op/host_call.hpp"
#include "kolmo/op/registry.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo::check {

/// A tiny example whose result can be checked by hand, run on the device being validated. It calls the
/// operator through `call` and checks by `expect`; an expectation that fails throws.
struct Fact {
  std::string_view name;
  void (*run)(Stream& stream);
};

/// An independent, naive, high-precision computation of an operator's results. It is defined in
/// <folder>_oracle.cpp as `<op>_oracle` and shares no code with the operator. It predicts the outputs, or, if
/// several results are correct (signs of singular vectors, ties of the largest), it judges them.
struct OracleBase {
  const OpBase& op() const { return *ref_; }
  std::span<const Fact> facts;
  /// Computes every element of every given output; what the outputs hold before is no result. Inputs and
  /// options are those of the operator, in host memory. Floating outputs are f64 and complex ones c128,
  /// whatever the operator's dtype. `dtype` is the operator's dtype, for oracles that depend on it. Not
  /// called for an oracle that judges.
  virtual void expected(const void* args, DType dtype) const = 0;
  virtual bool judges() const = 0;
  /// Says why these outputs are wrong; empty if they are right. `in` holds the arguments given to the
  /// operator, `got` the same with the outputs that it computed, all in host memory and in the operator's
  /// dtypes. `info` has the tolerances.
  virtual std::string judgement(const void* in, const void* got, const CaseInfo& info) const = 0;

 protected:
  constexpr OracleBase(const OpRef& o, std::span<const Fact> f) : facts(f), ref_(&o) {}
  ~OracleBase() = default;

 private:
  const OpRef* ref_;
};

template <class Args>
struct Oracle final : OracleBase {
  using Accept = std::string (*)(const Args& in, const Args& got, const CaseInfo& info);
  void (*compute)(const Args&) = nullptr;
  void (*compute_in)(const Args&, DType) = nullptr;
  Accept accept = nullptr;
  constexpr Oracle(const Op<Args>& o, void (*c)(const Args&), std::span<const Fact> f = {})
      : OracleBase(o, f), compute(c) {}
  /// Makes an oracle for results that depend on the dtype beyond rounding.
  constexpr Oracle(const Op<Args>& o, void (*c)(const Args&, DType), std::span<const Fact> f = {})
      : OracleBase(o, f), compute_in(c) {}
  /// Makes an oracle for an operator with several correct results.
  constexpr Oracle(const Op<Args>& o, Accept a, std::span<const Fact> f = {}) : OracleBase(o, f), accept(a) {}
  void expected(const void* args, DType dtype) const override {
    const Args& a = *static_cast<const Args*>(args);
    if (compute) compute(a);
    if (compute_in) compute_in(a, dtype);
  }
  bool judges() const override { return accept != nullptr; }
  std::string judgement(const void* in, const void* got, const CaseInfo& info) const override {
    return accept ? accept(*static_cast<const Args*>(in), *static_cast<const Args*>(got), info) : "";
  }
};

/// Reads element i (row-major) of a contiguous host tensor of any real dtype, or of a complex one. A bool is
/// returned as the number in its byte: 0 or 1, unless the operator wrote something else.
long double get(const Tensor& t, std::int64_t i);
void put(const Tensor& t, std::int64_t i, long double value);
std::complex<long double> get_complex(const Tensor& t, std::int64_t i);
void put_complex(const Tensor& t, std::int64_t i, std::complex<long double> value);

/// Does what call_on_host does, under a short name for facts.
template <class Args>
void call(const Op<Args>& op, const std::type_identity_t<Args>& args, Stream& stream,
          RunOptions options = {}) {
  call_on_host(op, args, stream, options);
}
template <class Args>
void call(const Alias<Args>& alias, const std::type_identity_t<Args>& args, Stream& stream,
          RunOptions options = {}) {
  call_on_host(alias, args, stream, options);
}

/// Throws Error with the text if `ok` is false.
void expect(bool ok, const std::string& what);
/// Throws Error unless |got - want| <= tolerance * max(1, |want|). NaN equals NaN only.
void expect_near(double got, double want, double tolerance, const std::string& what);
/// Expects an InvalidArgument whose message contains `part`.
void expect_invalid(const std::function<void()>& f, std::string_view part);

/// The oracle of an operator of the catalogue. Throws Unsupported when it has none.
const OracleBase& oracle_of(const OpBase& op);

/// Adds an operator and its oracle to the catalogue of this process: from then on it is listed, validated,
/// timed, tuned and monitored like Kolmo's own. Both must live until the process ends. Throws InvalidArgument
/// if the name is taken or the oracle belongs to another operator.
void register_op(const OpEntry& entry, const OracleBase& oracle);

namespace detail {
std::span<const OracleBase* const> built_in_oracles();  ///< generated from the folders under kolmo/ops
}

}  // namespace kolmo::check
