// Checks that a checked call of any operator makes no heap allocations. It takes far less than a microsecond;
// the time is printed and not tested.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "kolmo/check/problem.hpp"
#include "kolmo/ops/dense/matmul/matmul.hpp"
#include "kolmo/ops/elementwise/binary/binary.hpp"
#include "kolmo/ops/nn/layer_norm/layer_norm.hpp"

namespace {
std::size_t allocations = 0;
}  // namespace

void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  ++allocations;
  const auto a = std::size_t(alignment);
  if (void* const p = std::aligned_alloc(a, (bytes + a - 1) / a * a)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace {

/// Returns the number of allocations in 1000 calls. What a thread needs once, such as its cell of a counter,
/// is created at the first call that is timed, which can be any call. So rounds are repeated until one makes
/// no allocations.
template <class Call>
std::size_t measure(const char* name, const Call& call) {
  constexpr int calls = 1000, rounds = 20;
  std::size_t made = 1;
  for (int round = 0; round < rounds && made; ++round) {
    const std::size_t before = allocations;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) call();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    made = allocations - before;
    std::printf("%s, round %d: %.0f ns and %zu allocations in %d calls\n", name, round,
                seconds.count() / calls * 1e9, made, calls);
  }
  return made;
}

/// Returns the allocations of a call of the operator's first case with one thread, once a thread has what it
/// needs.
std::size_t allocations_of(const kolmo::OpEntry& entry) {
  const kolmo::OpBase& op = *entry.op;
  kolmo::check::Problem problem(op, op.cases()[0], 0);
  kolmo::check::HostTensors written(op.fields().size()), kept(op.fields().size());
  for (std::size_t i = 0; i < written.size(); ++i) {
    const kolmo::FieldInfo& f = op.fields()[i];
    if (!f.is_tensor() || !f.is_output() || !problem.field(i).given()) continue;
    kolmo::Tensor& t = f.tensor(problem.args());
    written[i] = kolmo::Array(t.dtype, t.shape());
    if (f.is_input()) {
      kept[i] = kolmo::Array(t.dtype, t.shape());
      std::memcpy(kept[i].tensor.data, t.data, t.bytes());
    }
    t = written[i].tensor;
  }
  kolmo::Stream stream(kolmo::Device{}, 1);
  std::size_t made = 1;
  for (int round = 0; round < 5 && made; ++round) {
    for (std::size_t i = 0; i < kept.size(); ++i)
      if (kept[i].tensor.given())
        std::memcpy(written[i].tensor.data, kept[i].tensor.data, kept[i].tensor.bytes());
    const std::size_t before = allocations;
    run(entry, problem.args(), stream);
    made = allocations - before;
  }
  return made;
}

/// Returns the number of operators that allocate in a call.
int allocating_operators() {
  int wrong = 0;
  for (const kolmo::OpEntry& entry : kolmo::all_ops()) {
    const std::size_t made = allocations_of(entry);
    wrong += made != 0;
    if (made) std::printf("%s makes %zu allocations in a call\n", entry.op->name.data(), made);
  }
  return wrong;
}

}  // namespace

int main() {
  using kolmo::tensor;
  kolmo::Stream stream(kolmo::Device{}, 1);
  float x[4] = {1, 2, 3, 4}, y[4] = {}, z[4];
  std::size_t made = measure("vector_add", [&] {
    kolmo::vector_add({.x = tensor(x, {4}), .y = tensor(y, {4}), .z = tensor(z, {4})}, stream);
  });
  made += measure("layer_norm", [&] {
    kolmo::layer_norm({.x = tensor(x, {2, 2}), .y = tensor(z, {2, 2})}, stream);
  });
  made += measure("matmul", [&] {
    kolmo::matmul({.a = tensor(x, {2, 2}), .b = tensor(x, {2, 2}), .y = tensor(z, {2, 2})}, stream);
  });
  return made == 0 && allocating_operators() == 0 ? 0 : 1;
}
