#!/usr/bin/env python3
"""An operator of a new group, by the book: options, a condition on them, an alias, a draw of a case's own, elementwise on
every device. Its files come from tools/new_op in a scratch copy of the tree, where nothing else is edited. It is validated
on every device here; with a wrong functor, kernel, oracle or tolerance, or too few cases, it is not, on those devices that this concerns.

fifth_family_test.py SOURCE SCRATCH [CMAKE OPTION...]: builds the copy of SOURCE in SCRATCH with these options."""
import sys
from pathlib import Path

from author import Tree, expect, run

FOLDER, OP = "signal/clamp_between", "clamp_between"
FILES = {
    f"{OP}.hpp": '''\
#pragma once
#include "kolmo/op/op.hpp"
#include "kolmo/skeleton/elementwise.hpp"

namespace kolmo {

struct ClampBetweenArgs {
  In x;
  Out y;
  double low = -1, high = 1;

  static constexpr auto fields() {
    using A = ClampBetweenArgs;
    return std::array{
        field<&A::x>("x", "...", floats, "values"),
        field<&A::y>("y", "...", floats, "values within the bounds"),
        option<&A::low>("low", -1e4, 1e4, "lower bound"),
        option<&A::high>("high", -1e4, 1e4, "upper bound"),
    };
  }
};

/// y = min(max(x, low), high), element by element, with low <= high; NaN stays NaN. x, y: any shape, one dtype of f64,
/// f32, f16, bf16. Same bits on every device.
extern const Op<ClampBetweenArgs> clamp_between;
/// With the bounds 0 and 6.
extern const Alias<ClampBetweenArgs> clamp_six;

template <class C>
struct ClampBetweenFunction {
  C low, high;
  explicit ClampBetweenFunction(const ClampBetweenArgs& a) : low(C(a.low)), high(C(a.high)) {}
  KOLMO_HD C operator()(C x) const { return x < low ? low : x > high ? high : x; }
};
using ClampBetweenElements =
    Elements<ClampBetweenArgs, ClampBetweenFunction, FloatTypes, &ClampBetweenArgs::y, &ClampBetweenArgs::x>;

}  // namespace kolmo
''',
    f"{OP}.cpp": '''\
#include "kolmo/ops/signal/clamp_between/clamp_between.hpp"

#include "kolmo/op/define.hpp"
#include "kolmo/skeleton/elementwise_cpu.hpp"

namespace kolmo {
namespace {
using A = ClampBetweenArgs;

void narrow(A& a) { a.low = -0.25, a.high = 0.5; }
void wide(A& a, CaseRandom& random) {  // over both bounds of the alias
  for (std::int64_t i = 0; i < a.x.size(); ++i) a.x.as<double>()[i] = 20 * random.uniform() - 10;
}

// Nothing is rounded: the bounds are exact in every dtype.
constexpr Case<A> cases[] = {
    {.name = "one", .sizes = {{"...", 1}}},
    {.name = "n=1000 narrow", .sizes = {{"...", 1000}}, .setup = narrow},
    {.name = "n=1025 f32", .sizes = {{"...", 1025}}, .dtype = DType::f32, .setup = narrow},
    {.name = "n=33 f16", .sizes = {{"...", 33}}, .dtype = DType::f16, .setup = narrow},
    {.name = "n=33 bf16", .sizes = {{"...", 33}}, .dtype = DType::bf16, .setup = narrow},
    {.name = "n=100 six", .sizes = {{"...", 100}}, .draw = wide, .alias = "clamp_six"},
};
constexpr AliasInfo aliases[] = {
    {.name = "clamp_six", .summary = "y = min(max(x, 0), 6)", .binds = {bind<&A::low, 0.0>, bind<&A::high, 6.0>}}};

constinit const Definition<A> definition{
    {.name = "clamp_between",
     .summary = "y = min(max(x, low), high), element by element",
     .source = "elementary",
     .determinism = Determinism::everywhere,
     .in_place = true},
    {.check = [](const A& a) { require(a.low <= a.high, "clamp_between: low is greater than high"); },
     .flops = [](const A& a) { return 2.0 * double(a.x.size()); },
     .cases = cases,
     .aliases = aliases}};

}  // namespace

constinit const Op<A> clamp_between{definition};
constinit const Alias<A> clamp_six{definition, aliases[0]};
extern constinit const Impl<A> clamp_between_cpu = cpu::elementwise<ClampBetweenElements>();

}  // namespace kolmo
''',
    f"{OP}.cu": '''\
#include "kolmo/ops/signal/clamp_between/clamp_between.hpp"
#include "kolmo/skeleton/elementwise.cuh"

namespace kolmo {

extern constinit const Impl<ClampBetweenArgs> clamp_between_cuda = cuda::elementwise<ClampBetweenElements>();

}  // namespace kolmo
''',
    f"{OP}_oracle.cpp": '''\
#include <algorithm>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/signal/clamp_between/clamp_between.hpp"

namespace kolmo::check {
namespace {

void expected(const ClampBetweenArgs& a) {
  const long double low = a.low, high = a.high;
  for (std::int64_t i = 0; i < a.y.size(); ++i) put(a.y, i, std::min(std::max(get(a.x, i), low), high));
}

constexpr Fact facts[] = {
    {"-7, 3, 8 within 0 and 6 are 0, 3, 6",
     [](Stream& s) {
       double x[] = {-7, 3, 8}, y[3] = {};
       call(clamp_between, {.x = tensor(x, {3}), .y = tensor(y, {3}), .low = 0, .high = 6}, s);
       expect(y[0] == 0 && y[1] == 3 && y[2] == 6, "wrong values");
     }},
    {"the bounds the wrong way round are refused",
     [](Stream& s) {
       double x = 0, y = 0;
       const ClampBetweenArgs args{.x = tensor(&x, {}), .y = tensor(&y, {}), .low = 1, .high = 0};
       expect_invalid([&] { call(clamp_between, args, s); }, "clamp_between: low is greater");
     }},
};

}  // namespace

extern constinit const Oracle<ClampBetweenArgs> clamp_between_oracle{clamp_between, expected, facts};

}  // namespace kolmo::check
''',
}
WRONG = {  # file, right, wrong, devices whose validation must fail
    "the functor": (f"{OP}.hpp", "x > high ? high : x", "x > high ? x : x", ("cpu", "simt", "cuda")),
    "the kernel alone": (f"{OP}.cu", "cuda::elementwise<ClampBetweenElements>()",
                         "cuda::elementwise<Elements<ClampBetweenArgs, Wrong, FloatTypes, &ClampBetweenArgs::y, "
                         "&ClampBetweenArgs::x>>()", ("simt", "cuda")),
    "a tolerance": (f"{OP}.cpp", '{.name = "one", .sizes = {{"...", 1}}}',
                    '{.name = "one", .sizes = {{"...", 1}}, .tolerance = absolute(-1)}', ("cpu", "simt", "cuda")),
    "the cases, of which one is missing": (f"{OP}.cpp", ".dtype = DType::bf16", ".dtype = DType::f16", ("cpu", "simt", "cuda")),
    "the oracle": (f"{OP}_oracle.cpp", "std::max(get(a.x, i), low)", "std::max(get(a.x, i), 2 * low)", ("cpu", "simt", "cuda")),
}
WRONG_FUNCTOR = '''
template <class C>
struct Wrong : ClampBetweenFunction<C> {
  using ClampBetweenFunction<C>::ClampBetweenFunction;
  KOLMO_HD C operator()(C x) const { return x < this->low ? this->low : x; }
};
'''


def main() -> None:
    source, scratch = Path(sys.argv[1]), Path(sys.argv[2])
    project = Tree(scratch, source, sys.argv[3:])
    run(sys.executable, scratch / "tools/new_op", FOLDER, cwd=scratch)
    made = {path.name for path in (scratch / "kolmo/ops" / FOLDER).iterdir()}
    expect(made == set(FILES), f"tools/new_op made {sorted(made)}")
    project.build({FOLDER: FILES})
    run(sys.executable, scratch / "tools/check_layers.py", *[f"kolmo/ops/{FOLDER}/{name}" for name in FILES], cwd=scratch)
    listed = project.kolmo("list", "--group", "signal")
    expect(OP in listed and "clamp_six" in listed, f"the operator and its alias are not listed:\n{listed}")
    devices = project.devices()
    expect({"cpu", "simt"} <= set(devices), f"of the CPU and the emulated GPU there are only {devices}")
    project.validate(OP)
    project.validate("clamp_six")
    for what, (name, right, wrong, on) in WRONG.items():
        expect(FILES[name].count(right) == 1, f"{name} does not hold {right}")
        text = FILES[name].replace(right, wrong)
        if "Wrong" in wrong:
            text = text.replace("namespace kolmo {\n", "namespace kolmo {\n" + WRONG_FUNCTOR, 1)
        project.build({FOLDER: {**FILES, name: text}})
        for device in devices:
            project.kolmo("validate", OP, "--device", device, status=int(device in on))
    print(f"{OP}: validated on {', '.join(devices)}; {', '.join(WRONG)} made wrong is found")


if __name__ == "__main__":
    main()
