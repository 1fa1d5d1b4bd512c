#include "kolmo/ops/nn/rope_encoding/rope_encoding.hpp"

#include "kolmo/op/define.hpp"
#include "kolmo/ops/nn/rope_encoding/rope_items.hpp"
#include "kolmo/skeleton/steps_cpu.hpp"

namespace kolmo {
namespace {
using A = RopeEncodingArgs;

void check(const A& a) {
  require(a.x.dim(-1) % 2 == 0, "rope_encoding: the last dimension of x must be even");
}

void launch(const A& a, Arena arena, Stream& s, int) {
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> {
    const RopeTables<Compute<T>> tables(arena, a);
    cpu::do_step(tables, s);
    with_rope_packs<T>(a, [&]<int W, bool Halves, bool Packed> {
      cpu::do_step(RotateItem<T, W, Halves, Packed>(a, tables), s);
    });
  });
}

void lay(Arena& arena, const A& a, const Site&) {
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> { RopeTables<Compute<T>>(arena, a); });
}

void halves(A& a) { a.pairs = RopePairs::halves; }
void far(A& a) { a.offset = 100000, a.theta = 500000; }

// An angle p theta^(-2 i / d) has the relative error of exp2, whose argument is below 19 in magnitude and
// rounded twice (27 roundings of the angle), that of exp2 itself and that of the product: 32 roundings of
// double of an angle up to p = 40, or 100040. Then four roundings of the dtype follow in the rotation of
// elements below 6.
constexpr double f64 = 6 * (32 * 64 + 4) * 0x1p-53, f32 = 6 * 4 * 0x1p-24;
constexpr Case<A> cases[] = {
    {.name = "s=1 d=2", .sizes = {{"...", 1}, {"s", 1}, {"d", 2}}, .tolerance = f64},
    {.name = "s=7 d=6 f64",
     .sizes = {{"...", 3}, {"s", 7}, {"d", 6}},
     .tolerance = f64,
     .optional = "position"},
    {.name = "s=33 d=64 f64 halves",
     .sizes = {{"...", 2}, {"s", 33}, {"d", 64}},
     .tolerance = f64,
     .setup = halves},
    {.name = "s=5 d=8 f64 from 100000",
     .sizes = {{"...", 2}, {"s", 5}, {"d", 8}},
     .tolerance = 6 * (32 * 100064.0 + 4) * 0x1p-53,
     .setup = far},
    {.name = "s=40 d=16 f32 from 100000",
     .sizes = {{"...", 5}, {"s", 40}, {"d", 16}},
     .dtype = DType::f32,
     .tolerance = f32,
     .setup = far},
    {.name = "s=9 d=24 f32 halves",
     .sizes = {{"...", 4}, {"s", 9}, {"d", 24}},
     .dtype = DType::f32,
     .tolerance = f32,
     .optional = "position",
     .setup = halves},
    {.name = "s=9 d=32 f16",
     .sizes = {{"...", 2}, {"s", 9}, {"d", 32}},
     .dtype = DType::f16,
     .tolerance = 0x1p-11 + f32},
    {.name = "s=3 d=10 bf16 halves",
     .sizes = {{"...", 2}, {"s", 3}, {"d", 10}},
     .dtype = DType::bf16,
     .tolerance = 0x1p-8 + f32,
     .setup = halves},
    {.name = "64 x 4096 x 128 f32",
     .sizes = {{"...", 64}, {"s", 4096}, {"d", 128}},
     .dtype = DType::f32,
     .benchmark_only = true},
    {.name = "64 x 4096 x 128 f16 halves",
     .sizes = {{"...", 64}, {"s", 4096}, {"d", 128}},
     .dtype = DType::f16,
     .benchmark_only = true,
     .setup = halves},
};

constinit const Definition<A> definition{
    {.name = "rope_encoding",
     .summary = "pairs of each row rotated by position theta^(-2i/d): rotary position embedding",
     .source = "Su et al., arXiv:2104.09864",
     .determinism = Determinism::run_to_run,
     .in_place = true},
    // Each element takes three operations; each angle a power, a sine and a cosine of 20 each.
    {.check = check,
     .flops =
         [](const A& a) {
           return 3.0 * double(a.x.size()) + 31.0 * double(a.x.dim(-2)) * double(a.x.dim(-1));
         },
     .cases = cases}};

}  // namespace

constinit const Op<A> rope_encoding{definition};
extern constinit const Impl<A> rope_encoding_cpu{{.launch = launch, .lay = lay}};

}  // namespace kolmo
