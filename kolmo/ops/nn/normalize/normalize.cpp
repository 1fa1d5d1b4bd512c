#include "kolmo/ops/nn/normalize/normalize.hpp"

#include <cmath>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/nn/normalize/normalize_rows.hpp"
#include "kolmo/skeleton/row_op_cpu.hpp"

namespace kolmo {
namespace {
using A = NormalizeArgs;

template <class T>
struct NormalizeVectors {
  using C = Compute<T>;
  using Part = Magnitude<double>;
  static constexpr bool held = false;
  RowNorm norm;
  NormalizeFunctions<C> functions = normalize_functions<C>();

  explicit NormalizeVectors(const A& a) : norm(a.norm) {}
  Part part(const C* x, std::int64_t n, C*) const { return functions.measure(norm, x, n); }
  void write(const C* x, std::int64_t n, C* y, RowPlace, const Part&, const Part& whole) const {
    functions.divide(x, n, norm_of(norm, whole), y);
  }
};

template <RowNorm N>
void by(A& a) {
  a.norm = N;
}
/// Makes all elements non-negative, so that sums do not cancel.
void not_negative(A& a) {
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> {
    for (std::int64_t i = 0; i < a.x.size(); ++i) a.x.as<T>()[i] = T(std::abs(Compute<T>(a.x.as<T>()[i])));
  });
}

// A sum of n terms that do not cancel errs by less than 54 roundings (see layer_norm.cpp). Magnitudes or
// squares add two more, the root halves them, and the quotient rounds once. The largest magnitude is exact.
constexpr double f64 = 60 * 0x1p-53, f32 = 60 * 0x1p-24;
constexpr Case<A> cases[] = {
    {.name = "k=1", .sizes = {{"...", 3}, {"k", 1}}, .tolerance = relative(f64)},
    {.name = "sum k=7 f64",
     .sizes = {{"...", 20}, {"k", 7}},
     .tolerance = relative(f64),
     .setup = not_negative},
    {.name = "sum k=1000 f16",
     .sizes = {{"...", 3}, {"k", 1000}},
     .dtype = DType::f16,
     .tolerance = {0x1p-25, 0x1p-11 + f32},
     .setup = not_negative},
    {.name = "sum k=20000 f32",
     .sizes = {{"...", 2}, {"k", 20000}},
     .dtype = DType::f32,
     .tolerance = relative(f32),
     .setup = not_negative},
    {.name = "l1 k=33 bf16",
     .sizes = {{"...", 5}, {"k", 33}},
     .dtype = DType::bf16,
     .tolerance = relative(0x1p-8 + f32),
     .setup = by<RowNorm::l1>},
    {.name = "l1 k=9001 f64",
     .sizes = {{"...", 2}, {"k", 9001}},
     .tolerance = relative(f64),
     .setup = by<RowNorm::l1>},
    {.name = "l2 k=128 f32",
     .sizes = {{"...", 9}, {"k", 128}},
     .dtype = DType::f32,
     .tolerance = relative(f32),
     .setup = by<RowNorm::l2>},
    {.name = "l2 k=65 f64",
     .sizes = {{"...", 3}, {"k", 65}},
     .tolerance = relative(f64),
     .setup = by<RowNorm::l2>},
    {.name = "l2 k=6000 f32",
     .sizes = {{"...", 2}, {"k", 6000}},
     .dtype = DType::f32,
     .tolerance = relative(f32),
     .setup = by<RowNorm::l2>},
    {.name = "max k=96 bf16",
     .sizes = {{"...", 5}, {"k", 96}},
     .dtype = DType::bf16,
     .tolerance = relative(0x1p-8 + f32),
     .setup = by<RowNorm::max>},
    {.name = "max k=5000 f64",
     .sizes = {{"...", 2}, {"k", 5000}},
     .tolerance = relative(f64),
     .setup = by<RowNorm::max>},
    {.name = "sum 4096 rows of 4096 f32",
     .sizes = {{"...", 4096}, {"k", 4096}},
     .dtype = DType::f32,
     .benchmark_only = true},
    {.name = "l2 4096 rows of 4096 f32",
     .sizes = {{"...", 4096}, {"k", 4096}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .setup = by<RowNorm::l2>},
    {.name = "l2 2^17 rows of 128 f16",
     .sizes = {{"...", 1 << 17}, {"k", 128}},
     .dtype = DType::f16,
     .benchmark_only = true,
     .setup = by<RowNorm::l2>},
};

double flops(const A& a) {
  constexpr double of_norm[] = {1, 2, 4, 2};
  return double(a.x.size()) * (1 + of_norm[int(a.norm)]);
}

constinit const Definition<A> definition{
    {.name = "normalize",
     .summary = "y = x / norm along the last axis, by sum, L1, L2 or largest magnitude",
     .source = "elementary; Blue 1978 (scaled norm)",
     .determinism = Determinism::run_to_run,
     .in_place = true},
    {.flops = flops, .cases = cases}};

}  // namespace

constinit const Op<A> normalize{definition};
extern constinit const Impl<A> normalize_cpu = cpu::row_op<A, NormalizeVectors>();

}  // namespace kolmo
