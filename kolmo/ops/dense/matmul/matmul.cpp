#include "kolmo/ops/dense/matmul/matmul.hpp"

#include <string>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/dense/matmul/matmul_cpu.hpp"
#include "kolmo/ops/dense/matmul/matmul_sizes.hpp"

namespace kolmo {
namespace {
using A = MatmulArgs;

void check(const A& x) {
  const auto refuse = [](const std::string& why) { fail<InvalidArgument>("matmul: " + why); };
  const MatmulSizes s(x);
  if (s.k != s.k_of_b)
    refuse("a is " + shape_string(x.a) + (x.transpose_a ? " transposed" : "") + ", b is " +
           shape_string(x.b) + (x.transpose_b ? " transposed" : "") + ": the inner sizes " +
           std::to_string(s.k) + " and " + std::to_string(s.k_of_b) + " differ");
  const auto last = [](const Tensor& t, int back) { return t.extent[std::size_t(t.rank - back)]; };
  if (x.c.given() && (last(x.c, 2) != s.m || last(x.c, 1) != s.n))
    refuse("c is " + shape_string(x.c) + ", the product has " + std::to_string(s.m) + " rows and " +
           std::to_string(s.n) + " columns");
  if (x.bias.given() && x.bias.extent[0] != s.n)
    refuse("bias is " + shape_string(x.bias) + ", the product has " + std::to_string(s.n) + " columns");
  if (x.output == MatmulOutput::f32 && x.a.dtype == DType::f64)
    refuse("output is f32 and the inputs are f64");
}

void sizes(const A& x, Dims& dims) {
  const MatmulSizes s(x);
  if (!dims.has("m")) dims.set("m", s.m);
  if (!dims.has("n")) dims.set("n", s.n);
  dims.set_dtype("Y", x.output == MatmulOutput::f32 ? DType::f32 : x.a.dtype);
}

double flops(const A& x) {
  const MatmulSizes s(x);
  return 2.0 * double(s.batch) * double(s.m) * double(s.n) * double(s.k);
}

/// Bound of |got - want| / max(1, |want|) for k products of normal numbers. Each of the k + 3 additions and
/// multiplications errs by at most `unit` times the sum of the magnitudes. That sum is 0.64 k on average and,
/// over all elements of a case, below 0.64 k + 6 sqrt(k); beta c and the bias add 8 to it. y is rounded by
/// `half_ulp`.
constexpr double bound(double k, double unit, double half_ulp = 0) {
  double root = 1 + k / 2;
  for (int i = 0; i < 60; ++i) root = (root + k / root) / 2;
  return (k + 3) * unit * (0.64 * k + 6 * root + 8) + half_ulp;
}
constexpr double f64 = 0x1p-53, f32 = 0x1p-24;
// Tensor cores truncate: they err by up to 2^-22, but only once for at least eight products, so the error is
// smaller than that of f32.
constexpr double f16 = 0x1p-11, bf16 = 0x1p-8;

void turn_a(A& x) { x.transpose_a = true; }
void turn_b(A& x) { x.transpose_b = true; }
void turn_both(A& x) { x.transpose_a = x.transpose_b = true; }
void scaled(A& x) { x.alpha = -0.5, x.beta = 2; }
void less_accurate(A& x) { x.accuracy = 4; }
void wide(A& x) { x.output = MatmulOutput::f32; }

constexpr Case<A> benchmark(std::string_view name, std::int64_t batch, std::int64_t m, std::int64_t n,
                            std::int64_t k, DType dtype, std::string_view alias = {}) {
  return {.name = name,
          .sizes = {{"...", batch}, {"a0", m}, {"a1", k}, {"b0", k}, {"b1", n}},
          .dtype = dtype,
          .benchmark_only = true,
          .alias = alias};
}
constexpr Case<A> cube(std::string_view name, std::int64_t n, DType dtype, std::string_view alias = {}) {
  return benchmark(name, 1, n, n, n, dtype, alias);
}
constexpr Case<A> with_less(std::string_view name, std::int64_t n) {
  Case<A> all = cube(name, n, DType::f32);
  all.setup = less_accurate;
  return all;
}

// The sizes are near those of the tiles (one less, one more) or much smaller.
constexpr Case<A> cases[] = {
    {.name = "1 1 1 f64",
     .sizes = {{"...", 1}, {"a0", 1}, {"a1", 1}, {"b0", 1}, {"b1", 1}},
     .tolerance = bound(1, f64)},
    {.name = "63 65 33 f64",
     .sizes = {{"...", 1}, {"a0", 63}, {"a1", 33}, {"b0", 33}, {"b1", 65}},
     .tolerance = bound(33, f64)},
    {.name = "2 of 34 38 20 f64, both transposed, -a b / 2 + 2 c + bias",
     .sizes = {{"...", 2}, {"a0", 20}, {"a1", 34}, {"b0", 38}, {"b1", 20}, {"m", 34}, {"n", 38}},
     .tolerance = bound(20, f64),
     .optional = "c bias",
     .setup = [](A& x) { scaled(x), turn_both(x); }},
    {.name = "21 18 1100 f64, a transposed",
     .sizes = {{"...", 1}, {"a0", 1100}, {"a1", 21}, {"b0", 1100}, {"b1", 18}},
     .tolerance = bound(1100, f64),
     .setup = turn_a},
    {.name = "129 66 47 f32",
     .sizes = {{"...", 1}, {"a0", 129}, {"a1", 47}, {"b0", 47}, {"b1", 66}},
     .dtype = DType::f32,
     .tolerance = bound(47, f32)},
    {.name = "64 132 32 f32, a transposed",
     .sizes = {{"...", 1}, {"a0", 32}, {"a1", 64}, {"b0", 32}, {"b1", 132}},
     .dtype = DType::f32,
     .tolerance = bound(32, f32),
     .setup = turn_a},
    {.name = "3 of 33 20 17 f32, b transposed, gelu(-a b / 2 + 2 c + bias)",
     .sizes = {{"...", 3}, {"a0", 33}, {"a1", 17}, {"b0", 20}, {"b1", 17}, {"m", 33}, {"n", 20}},
     .dtype = DType::f32,
     .tolerance = bound(17, f32),
     .optional = "c bias",
     .setup = [](A& x) { scaled(x), turn_b(x), x.activation = Activation::gelu; }},
    {.name = "130 66 36 f64, relu(a b + bias)",
     .sizes = {{"...", 1}, {"a0", 130}, {"a1", 36}, {"b0", 36}, {"b1", 66}, {"n", 66}},
     .tolerance = bound(36, f64),
     .optional = "bias",
     .setup = [](A& x) { x.activation = Activation::relu; }},
    {.name = "70 68 52 f32, b transposed, relu(-a b / 2 + bias)",
     .sizes = {{"...", 1}, {"a0", 70}, {"a1", 52}, {"b0", 68}, {"b1", 52}, {"n", 68}},
     .dtype = DType::f32,
     .tolerance = bound(52, f32),
     .optional = "bias",
     .setup = [](A& x) { x.alpha = -0.5, turn_b(x), x.activation = Activation::relu; }},
    {.name = "2 300 5 f64",
     .sizes = {{"...", 1}, {"a0", 2}, {"a1", 5}, {"b0", 5}, {"b1", 300}},
     .tolerance = bound(5, f64)},
    {.name = "1 70 300 f32, relu(a b + bias)",
     .sizes = {{"...", 1}, {"a0", 1}, {"a1", 300}, {"b0", 300}, {"b1", 70}, {"n", 70}},
     .dtype = DType::f32,
     .tolerance = bound(300, f32),
     .optional = "bias",
     .setup = [](A& x) { x.activation = Activation::relu; }},
    {.name = "2 of 3 33 137 f32, b transposed, -a b / 2 + 2 c",
     .sizes = {{"...", 2}, {"a0", 3}, {"a1", 137}, {"b0", 33}, {"b1", 137}, {"m", 3}, {"n", 33}},
     .dtype = DType::f32,
     .tolerance = bound(137, f32),
     .optional = "c",
     .setup = [](A& x) { scaled(x), turn_b(x); }},
    {.name = "1 40 1032 bf16, b transposed, gelu(a b + bias)",
     .sizes = {{"...", 1}, {"a0", 1}, {"a1", 1032}, {"b0", 40}, {"b1", 1032}, {"n", 40}},
     .dtype = DType::bf16,
     .tolerance = bound(1032, f32, bf16),
     .optional = "bias",
     .setup = [](A& x) { turn_b(x), x.activation = Activation::gelu; }},
    {.name = "12 20 4100 f32",
     .sizes = {{"...", 1}, {"a0", 12}, {"a1", 4100}, {"b0", 4100}, {"b1", 20}},
     .dtype = DType::f32,
     .tolerance = bound(4100, f32)},
    {.name = "2 of 13 36 1100 f32, b transposed, relu(a b + bias)",
     .sizes = {{"...", 2}, {"a0", 13}, {"a1", 1100}, {"b0", 36}, {"b1", 1100}, {"n", 36}},
     .dtype = DType::f32,
     .tolerance = bound(1100, f32),
     .optional = "bias",
     .setup = [](A& x) { turn_b(x), x.activation = Activation::relu; }},
    {.name = "5 68 403 f32, a transposed",
     .sizes = {{"...", 1}, {"a0", 403}, {"a1", 5}, {"b0", 403}, {"b1", 68}},
     .dtype = DType::f32,
     .tolerance = bound(403, f32),
     .setup = turn_a},
    {.name = "2 of 7 132 1037 f32, gelu(-a b / 2 + 2 c + bias)",
     .sizes = {{"...", 2}, {"a0", 7}, {"a1", 1037}, {"b0", 1037}, {"b1", 132}, {"m", 7}, {"n", 132}},
     .dtype = DType::f32,
     .tolerance = bound(1037, f32),
     .optional = "c bias",
     .setup = [](A& x) { scaled(x), x.activation = Activation::gelu; }},
    {.name = "9 12 72 f32, both transposed",
     .sizes = {{"...", 1}, {"a0", 72}, {"a1", 9}, {"b0", 12}, {"b1", 72}},
     .dtype = DType::f32,
     .tolerance = bound(72, f32),
     .setup = turn_both},
    {.name = "65 40 72 f16",
     .sizes = {{"...", 1}, {"a0", 65}, {"a1", 72}, {"b0", 72}, {"b1", 40}},
     .dtype = DType::f16,
     .tolerance = bound(72, f32, f16),
     .alias = "tensor_core_matmul"},
    {.name = "17 33 19 bf16, both transposed, to f32",
     .sizes = {{"...", 1}, {"a0", 19}, {"a1", 17}, {"b0", 33}, {"b1", 19}},
     .dtype = DType::bf16,
     .tolerance = bound(19, f32),
     .setup = [](A& x) { turn_both(x), wide(x); },
     .alias = "tensor_core_matmul"},
    {.name = "34 20 64 bf16, b transposed, to f32",  // rows of y end with half a pack of sums
     .sizes = {{"...", 1}, {"a0", 34}, {"a1", 64}, {"b0", 20}, {"b1", 64}},
     .dtype = DType::bf16,
     .tolerance = bound(64, f32),
     .setup = [](A& x) { turn_b(x), wide(x); },
     .alias = "tensor_core_matmul"},
    {.name = "2 of 32 136 64 bf16, b transposed, -a b / 2 + 2 c",
     .sizes = {{"...", 2}, {"a0", 32}, {"a1", 64}, {"b0", 136}, {"b1", 64}, {"m", 32}, {"n", 136}},
     .dtype = DType::bf16,
     .tolerance = bound(64, f32, bf16),
     .optional = "c",
     .setup = [](A& x) { scaled(x), turn_b(x); },
     .alias = "tensor_core_matmul_wmma"},
    {.name = "18 21 4100 bf16, relu(a b + bias) to f32",
     .sizes = {{"...", 1}, {"a0", 18}, {"a1", 4100}, {"b0", 4100}, {"b1", 21}, {"n", 21}},
     .dtype = DType::bf16,
     .tolerance = bound(4100, f32),
     .optional = "bias",
     .setup = [](A& x) { wide(x), x.activation = Activation::relu; },
     .alias = "tensor_core_matmul"},
    {.name = "48 24 40 f16, a transposed, gelu_tanh(a b + bias) to f32",
     .sizes = {{"...", 1}, {"a0", 40}, {"a1", 48}, {"b0", 40}, {"b1", 24}, {"n", 24}},
     .dtype = DType::f16,
     .tolerance = bound(40, f32),
     .optional = "bias",
     .setup = [](A& x) { turn_a(x), wide(x), x.activation = Activation::gelu_tanh; },
     .alias = "tensor_core_matmul_wmma"},
    {.name = "2 of 13 40 1096 f16, relu(a b + bias)",
     .sizes = {{"...", 2}, {"a0", 13}, {"a1", 1096}, {"b0", 1096}, {"b1", 40}, {"n", 40}},
     .dtype = DType::f16,
     .tolerance = bound(1096, f32, f16),
     .optional = "bias",
     .setup = [](A& x) { x.activation = Activation::relu; },
     .alias = "tensor_core_matmul"},
    {.name = "129 66 47 f32, accuracy 4",
     .sizes = {{"...", 1}, {"a0", 129}, {"a1", 47}, {"b0", 47}, {"b1", 66}},
     .dtype = DType::f32,
     .tolerance = 4 * bound(47, f32),
     .setup = less_accurate},
    {.name = "2 of 37 20 1100 f32, both transposed, gelu(-a b / 2 + 2 c + bias), accuracy 4",
     .sizes = {{"...", 2}, {"a0", 1100}, {"a1", 37}, {"b0", 20}, {"b1", 1100}, {"m", 37}, {"n", 20}},
     .dtype = DType::f32,
     .tolerance = 4 * bound(1100, f32),
     .optional = "c bias",
     .setup = [](A& x) { scaled(x), turn_both(x), less_accurate(x), x.activation = Activation::gelu; }},
    cube("256 cube f32", 256, DType::f32),
    cube("1024 cube f32", 1024, DType::f32),
    cube("4096 cube f32", 4096, DType::f32),
    cube("8192 cube f32", 8192, DType::f32),
    cube("1024 cube f64", 1024, DType::f64),
    cube("4096 cube f64", 4096, DType::f64),
    with_less("4096 cube f32, accuracy 4", 4096),
    with_less("8192 cube f32, accuracy 4", 8192),
    benchmark("65536 64 64 f32", 1, 65536, 64, 64, DType::f32),
    benchmark("16 4096 4096 f32", 1, 16, 4096, 4096, DType::f32),
    benchmark("64 64 65536 f32", 1, 64, 64, 65536, DType::f32),
    benchmark("4096 of 32 32 32 f32", 4096, 32, 32, 32, DType::f32),
    cube("256 cube f16", 256, DType::f16, "tensor_core_matmul"),
    cube("1024 cube f16", 1024, DType::f16, "tensor_core_matmul"),
    cube("2048 cube f16", 2048, DType::f16, "tensor_core_matmul"),
    cube("4096 cube f16", 4096, DType::f16, "tensor_core_matmul"),
    cube("8192 cube f16", 8192, DType::f16, "tensor_core_matmul"),
    cube("4096 cube bf16", 4096, DType::bf16, "tensor_core_matmul_wmma"),
    benchmark("16 4096 4096 bf16", 1, 16, 4096, 4096, DType::bf16, "tensor_core_matmul"),
    {.name = "1 4096 4096 bf16, b transposed",
     .sizes = {{"...", 1}, {"a0", 1}, {"a1", 4096}, {"b0", 4096}, {"b1", 4096}, {"n", 4096}},
     .dtype = DType::bf16,
     .benchmark_only = true,
     .setup = turn_b},
    benchmark("4096 of 64 64 64 f16", 4096, 64, 64, 64, DType::f16, "tensor_core_matmul_wmma"),
};

using Engine = void (*)(const A&, Arena, Stream&);
constexpr Row<Engine> engines[] = {{.name = "openblas", .config = matmul_openblas, .vendor = true},
                                   {.name = "naive", .config = matmul_naive, .naive = true}};
constexpr int openblas = 0;

// 16-bit factors have only variants on tensor cores, so these names cover all of them; with f32 or f64 no
// variant fits.
constexpr AliasInfo aliases[] = {
    {.name = "tensor_core_matmul",
     .summary = "matmul on tensor cores: f16 or bf16 factors, sums in f32",
     .cuda_variants = "tensor"},
    {.name = "tensor_core_matmul_wmma",
     .summary = "matmul on tensor cores by WMMA in fragments of 16x16x16: f16 or bf16 factors, sums in f32",
     .cuda_variants = "tensor wmma"},
};

constinit const Definition<MatmulArgs> definition{
    {.name = "matmul",
     .summary = "y = activation(alpha op(a) op(b) + beta c + bias)",
     .source = "Dongarra et al. 1990 (BLAS 3)",
     .determinism = Determinism::run_to_run,
     .matrix_products = true,
     .in_place = true},
    {.check = check, .sizes = sizes, .flops = flops, .cases = cases, .aliases = aliases}};

}  // namespace

constinit const Op<MatmulArgs> matmul{definition};
constinit const Alias<MatmulArgs> tensor_core_matmul{definition, aliases[0]};
constinit const Alias<MatmulArgs> tensor_core_matmul_wmma{definition, aliases[1]};
extern constinit const Impl<MatmulArgs> matmul_cpu{
    {.rows = engines,
     .launch = [](const A& x, Arena scratch, Stream& s, int row) { engines[row].config(x, scratch, s); },
     .lay =
         [](Arena& arena, const A& x, const Site& site) {
           if (site.row == openblas) MatmulFloats(arena, x);
         },
     .fits = [](const A& x, int row) { return row != openblas || matmul_openblas_fits(x); }}};

}  // namespace kolmo
