#pragma once
#include "kolmo/op/field.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {

class OpBase;
struct AliasInfo;

struct RunOptions {
  int variant = -1;  ///< row of the device's table of variants; -1: the default for the arguments
  int threads = 0;   ///< CPU threads, 0: the stream's; must be 0 on other devices
};

/// Checks all arguments, then queues the operator on the stream. Errors in arguments are thrown before
/// anything is queued.
void run(const OpBase& op, const void* args, Stream& stream, RunOptions options = {});

void run_alias(const OpBase& op, const AliasInfo& alias, void* args, Stream& stream, RunOptions options);

/// Refers to an operator without the type of its arguments.
class OpRef {
 public:
  constexpr explicit OpRef(const OpBase& definition) : definition_(&definition) {}
  constexpr operator const OpBase&() const { return *definition_; }  // NOLINT(google-explicit-constructor)
  constexpr const OpBase* operator->() const { return definition_; }

 private:
  const OpBase* definition_;
};

/// An operator as a callable: softmax({.x = x, .y = y}, stream). It converts to OpBase (op/define.hpp), which
/// describes it.
template <class Args>
class Op : public OpRef {
 public:
  static_assert(std::is_trivially_copyable_v<Args>, "arguments are plain values");
  using OpRef::OpRef;

  void operator()(const Args& args, Stream& stream, RunOptions options = {}) const {
    run(*this, &args, stream, options);
  }
};

/// A further name of an operator, with some of its options bound: fused_layernorm_gelu({...}, stream). Values
/// given for these options are overwritten.
template <class Args>
class Alias {
 public:
  constexpr Alias(const OpBase& definition, const AliasInfo& info) : definition_(&definition), info_(&info) {}

  void operator()(Args args, Stream& stream, RunOptions options = {}) const {
    run_alias(*definition_, *info_, &args, stream, options);
  }
  constexpr const AliasInfo& info() const { return *info_; }
  constexpr const OpBase& op() const { return *definition_; }

 private:
  const OpBase* definition_;
  const AliasInfo* info_;
};

}  // namespace kolmo
