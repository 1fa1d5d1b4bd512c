#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "kolmo/check/oracle.hpp"

namespace kolmo::check {

/// A tensor with its own host memory; by default none.
struct HostTensor {
  std::vector<std::byte> memory;
  Tensor tensor;

  HostTensor() = default;
  HostTensor(HostTensor&&) = default;
  HostTensor& operator=(HostTensor&&) = default;
  /// Contiguous, zeroed, with the extents of `like`.
  HostTensor(DType dtype, const Tensor& like);
};
/// One entry per field of an operator; not given where the field is no tensor of the kind in question.
using HostTensors = std::vector<HostTensor>;

/// A case of an operator, its inputs in host memory. Inputs are drawn from their domain by Philox, so equal
/// seeds give equal problems everywhere, or are zero for seed 0; then the case's own setup runs. Given
/// outputs have a shape and no memory.
class Problem {
 public:
  Problem(const OpBase& op, const CaseInfo& info, std::size_t index, std::uint64_t seed = 1);
  Problem(Problem&&) = default;

  const OpBase& op() const { return *op_; }
  const CaseInfo& info() const { return info_; }
  void* args() { return args_.data(); }
  const void* args() const { return args_.data(); }
  const Tensor& field(std::size_t i) const { return op_->fields()[i].tensor(args()); }

  /// Changes options, and gives the outputs the shapes that follow from them.
  void set_options(const std::function<void(void* args)>& set);
  /// Names of the sizes the given inputs have, "..." included.
  std::vector<std::string_view> sizes() const;
  /// Makes every input that has this size empty; throws InvalidArgument if the operator refuses that.
  void make_empty(std::string_view size);

 private:
  void shape_outputs();
  bool wants(const FieldInfo& f) const;
  std::vector<std::int64_t> shape_of(const FieldInfo& f) const;

  const OpBase* op_;
  CaseInfo info_;
  std::vector<std::byte> args_;
  HostTensors inputs_;
};

/// Fills a tensor with values of a domain; element i depends on seed, stream and i only.
void draw(const Tensor& t, Domain domain, std::uint64_t seed, std::uint64_t stream);

/// The oracle's outputs: floating ones in f64, whatever the operator's dtype.
HostTensors expected(const OracleBase& oracle, const Problem& problem);

}  // namespace kolmo::check
