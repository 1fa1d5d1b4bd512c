#pragma once
#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace kolmo {

template <class Signature>
class FunctionRef;

/// A non-owning reference to a callable: a parameter type for callbacks that are called before the function
/// returns. Never allocates. The callable must outlive it.
template <class Result, class... Args>
class FunctionRef<Result(Args...)> {
 public:
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, FunctionRef> && std::is_invocable_r_v<Result, F&, Args...>)
      FunctionRef(F&& f)  // NOLINT(bugprone-forwarding-reference-overload): constrained above
  noexcept
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, Args... args) -> Result {
          return (*static_cast<std::add_pointer_t<std::remove_reference_t<F>>>(object))(
              std::forward<Args>(args)...);
        }) {}

  Result operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  Result (*call_)(void*, Args...);
};

}  // namespace kolmo
