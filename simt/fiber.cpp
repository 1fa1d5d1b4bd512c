#include "simt/fiber.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <new>

#include "simt/sanitizer.hpp"

namespace simt {
namespace {
constexpr std::size_t page = 4096, stagger = 192;
}

namespace bc = boost::context::detail;

Fiber::Fiber() : thread_(current_thread()) {
  pthread_attr_t attributes;
  pthread_getattr_np(pthread_self(), &attributes);
  void* bottom;
  pthread_attr_getstack(&attributes, &bottom, &size_);
  pthread_attr_destroy(&attributes);
  bottom_ = bottom;
}

Fiber::Fiber(std::size_t stack, unsigned number, void (*life)(void*), void* argument)
    : life_(life), argument_(argument), mapped_size_((stack + 2 * page - 1) / page * page) {
  void* mapped =
      mmap(nullptr, mapped_size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  mapped_ = static_cast<char*>(mapped);
  mprotect(mapped_, page, PROT_NONE);  // makes a stack overflow fault
  bottom_ = mapped_ + page;
  size_ = mapped_size_ - page - number * stagger % (2 * page);
  context_ = bc::make_fcontext(mapped_ + page + size_, size_, start);
  thread_ = new_thread();
}

Fiber::~Fiber() {
  if (mapped_) munmap(mapped_, mapped_size_);
}

void Fiber::switch_to(Fiber& to) {
  next_ = &to;
  start_switch(&fake_stack_, to.bottom_, to.size_);
  become_thread(to.thread_);
  arrive(bc::jump_fcontext(to.context_, this));
}

void Fiber::arrive(Transfer from) {
  finish_switch(fake_stack_);
  static_cast<Fiber*>(from.data)->context_ = from.fctx;
}

void Fiber::start(Transfer from) {
  Fiber* self = static_cast<Fiber*>(from.data)->next_;
  self->arrive(from);
  self->life_(self->argument_);
}

}  // namespace simt
