#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/runtime/array.hpp"

namespace kolmo::check {

/// One host array for each field of an operator. It is "not given" for fields that are not tensors of the
/// wanted kind.
using HostTensors = std::vector<Array>;

/// A case of an operator with its inputs in host memory. Inputs are drawn from their domain by Philox, so
/// equal seeds give equal problems everywhere. Seed 0 gives inputs of zeros, except for offsets and ascending
/// numbers, which are drawn. Then the case's own setup runs. Given outputs have a shape but no memory.
class Problem {
 public:
  Problem(const OpBase& op, const CaseInfo& info, std::size_t index, std::uint64_t seed = 1);
  /// Makes a problem without the case's setup: `set` sets options before inputs are drawn.
  Problem(const OpBase& op, const CaseInfo& info, const std::function<void(void* args)>& set,
          std::uint64_t seed = 1);
  Problem(Problem&&) = default;

  const OpBase& op() const { return *op_; }
  const CaseInfo& info() const { return info_; }
  void* args() { return args_.data(); }
  const void* args() const { return args_.data(); }
  const Tensor& field(std::size_t i) const { return op_->fields()[i].tensor(args()); }

  /// Changes options, and gives the outputs the shapes that result.
  void set_options(const std::function<void(void* args)>& set);
  /// Names of the sizes of the given inputs, including "...".
  std::vector<std::string_view> sizes() const;
  /// Makes every input that has this size empty; throws InvalidArgument if the operator refuses that.
  void make_empty(std::string_view size);

 private:
  void draw_inputs(std::uint64_t seed);
  void shape_outputs();
  std::int64_t bound_of_index(const FieldInfo& f) const;
  bool wants(const FieldInfo& f) const;
  std::vector<std::int64_t> shape_of(const FieldInfo& f) const;
  DType dtype_of(const FieldInfo& f) const;

  const OpBase* op_;
  CaseInfo info_;
  std::vector<std::byte> args_;
  HostTensors inputs_;
};

/// Whether a dtype is floating or complex.
constexpr bool inexact(DType t) { return floats.has(t) || complexes.has(t); }

/// Fills a tensor with values of a domain, which depend on seed and stream only. `below` is the bound of
/// Domain::index. Integers are small counts unless the domain says otherwise. Values repeat after draw_period
/// elements, which only benchmarks exceed. Throws InvalidArgument if the domain does not apply to the tensor.
inline constexpr std::int64_t draw_period = 1 << 22;
void draw(const Tensor& t, Domain domain, std::uint64_t seed, std::uint64_t stream, std::int64_t below = 8);

/// Whether this output may be the same tensor as this input, for an operator that works in place.
bool in_place_pair(const Problem& problem, std::size_t output, std::size_t input);

/// Copies a tensor, with floating elements as f64 and complex ones as c128.
Array widened(const Tensor& t);

/// Computes the oracle's outputs: floating ones in f64, complex ones in c128, whatever the operator's dtype.
/// Empty for an oracle that judges. Throws Error if the oracle leaves an element out.
HostTensors expected(const OracleBase& oracle, const Problem& problem);

}  // namespace kolmo::check
