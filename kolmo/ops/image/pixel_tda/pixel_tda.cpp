#include "kolmo/ops/image/pixel_tda/pixel_tda.hpp"

#include <cmath>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/image/pixel_tda/diagrams.hpp"
#include "kolmo/skeleton/item_steps_cpu.hpp"

namespace kolmo {
namespace {
using A = PixelTdaArgs;

void check(const A& a) {
  constexpr std::int64_t most = (std::int64_t(1) << 32) - 2;
  require(a.x.dim(-1) == 0 || a.x.dim(-2) <= most / a.x.dim(-1),
          "pixel_tda: an image has at most 2^32 - 2 pixels");
}

void sizes(const A& a, Dims& dims) { dims.set_dtype("Y", a.x.dtype == DType::f64 ? DType::f64 : DType::f32); }

/// Draws images with many equal pixels.
template <class T>
void draw_levels(A& a, CaseRandom& random) {
  for (std::int64_t i = 0; i < a.x.size(); ++i) a.x.as<T>()[i] = T(random.below(12));
}
/// Draws waves that grow along a slope, with noise. They have long descents, and components that merge into
/// others which merge again.
void draw_waves(A& a, CaseRandom& random) {
  const std::int64_t w = a.x.dim(-1);
  for (std::int64_t i = 0; i < a.x.size(); ++i) {
    const std::int64_t row = i / w;
    const double r = double(row), c = double(i - row * w);
    a.x.as<float>()[i] = float(r * c / 20 * std::sin(c) + r / 3 + 0.2 * random.normal());
  }
}

// Births and deaths are values of pixels. The difference of two f32 is rounded once.
constexpr Tolerance f32 = relative(0x1p-24);
constexpr Case<A> cases[] = {
    {.name = "one pixel", .sizes = {{"...", 1}, {"h", 1}, {"w", 1}}},
    {.name = "2 of 19 x 26 f64, squares",
     .sizes = {{"...", 2}, {"h", 19}, {"w", 26}},
     .optional = "place0 place1 lifetimes"},
    {.name = "24 x 31 u8, squares, persistence above 2",
     .sizes = {{"...", 1}, {"h", 24}, {"w", 31}},
     .dtype = DType::u8,
     .tolerance = f32,
     .optional = "place0 place1 lifetimes",
     .setup = [](A& a) { a.min_persistence = 2; },
     .draw = draw_levels<std::uint8_t>},
    {.name = "33 x 20 u16, vertices",
     .sizes = {{"...", 1}, {"h", 33}, {"w", 20}},
     .dtype = DType::u16,
     .tolerance = f32,
     .optional = "place0",
     .setup = [](A& a) { a.cells = CubicalCells::vertices; },
     .draw = draw_levels<std::uint16_t>},
    {.name = "30 x 27 f32, vertices, waves, 25 listed",
     .sizes = {{"...", 1}, {"h", 30}, {"w", 27}, {"capacity", 25}},
     .dtype = DType::f32,
     .tolerance = f32,
     .optional = "place1 lifetimes",
     .setup = [](A& a) { a.cells = CubicalCells::vertices; },
     .draw = draw_waves},
    {.name = "1 x 130 f64", .sizes = {{"...", 1}, {"h", 1}, {"w", 130}}, .optional = "place0"},
    {.name = "3 of 65 x 2 f32, squares",
     .sizes = {{"...", 3}, {"h", 65}, {"w", 2}},
     .dtype = DType::f32,
     .tolerance = f32,
     .optional = "place0 place1"},
    {.name = "4096 x 4096 f32, noise",
     .sizes = {{"...", 1}, {"h", 4096}, {"w", 4096}, {"capacity", 1 << 22}},
     .dtype = DType::f32,
     .benchmark_only = true},
    {.name = "4096 x 4096 f32, waves, persistence above 1",
     .sizes = {{"...", 1}, {"h", 4096}, {"w", 4096}, {"capacity", 1 << 20}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .setup = [](A& a) { a.min_persistence = 1; },
     .draw = draw_waves},
    {.name = "64 of 256 x 256 u8",
     .sizes = {{"...", 64}, {"h", 256}, {"w", 256}, {"capacity", 1 << 20}},
     .dtype = DType::u8,
     .benchmark_only = true,
     .draw = draw_levels<std::uint8_t>},
};
constexpr std::string_view faults[] = {"x is NaN"};

constinit const Definition<A> definition{
    {.name = "pixel_tda",
     .summary =
         "persistent homology of the sublevel sets of images: births and deaths of components and holes",
     .source = "Edelsbrunner & Harer 2010; Wagner, Chen & Vucini 2012; Smirnov & Morozov 2017",
     .determinism = Determinism::everywhere,
     .faults = faults},
    // A pixel is compared with 8 neighbours, to descend and to meet, for components and for holes.
    {.check = check,
     .sizes = sizes,
     .flops = [](const A& a) { return 32.0 * double(a.x.size()); },
     .cases = cases}};

}  // namespace

constinit const Op<A> pixel_tda{definition};
extern constinit const Impl<A> pixel_tda_cpu{
    {.launch = [](const A& a, Arena arena, Stream& s,
                  int) { find_diagrams(a, TdaSpace(arena, a), s.status(), cpu::ItemSteps{s}); },
     .lay = [](Arena& arena, const A& a, const Site&) { TdaSpace(arena, a); }}};

}  // namespace kolmo
