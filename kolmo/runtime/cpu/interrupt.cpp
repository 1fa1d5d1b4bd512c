#include "kolmo/runtime/cpu/interrupt.hpp"

namespace kolmo {
namespace {

thread_local const std::atomic<bool>* request = nullptr;

}  // namespace

Interruptible::Interruptible(const std::atomic<bool>* requested) : before_(request) { request = requested; }
Interruptible::~Interruptible() { request = before_; }

const std::atomic<bool>* Interruptible::current() noexcept { return request; }

}  // namespace kolmo
