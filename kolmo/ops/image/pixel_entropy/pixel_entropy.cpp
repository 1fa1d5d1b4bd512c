#include "kolmo/ops/image/pixel_entropy/pixel_entropy.hpp"

#include <cmath>

#include "kolmo/base/number_text.hpp"
#include "kolmo/op/define.hpp"
#include "kolmo/ops/image/pixel_entropy/windows.hpp"
#include "kolmo/skeleton/item_steps_cpu.hpp"

namespace kolmo {
namespace {
using A = PixelEntropyArgs;

void check(const A& a) {
  if (!(std::isfinite(a.low) && std::isfinite(a.high) && a.low < a.high &&
        std::isfinite(double(a.levels) / (a.high - a.low))))
    fail<InvalidArgument>("pixel_entropy: low = " + number_text(a.low) + " and high = " +
                          number_text(a.high) + " make no range for " + std::to_string(a.levels) +
                          " levels: both must be finite, low below high, and levels / (high - low) finite");
}

void launch(const A& a, Arena arena, Stream& s, int) {
  constexpr std::int64_t at_a_time = 16;
  const EntropySpace space(arena, a, s.threads());
  entropy_of_windows(a, space, s.status(), cpu::ItemSteps{s}, [&](const auto& windows) {
    const std::int64_t n = windows.items();
    parallel_for(s.threads(), (n + at_a_time - 1) / at_a_time, [&](std::int64_t part, int thread) {
      for (std::int64_t i = part * at_a_time, end = std::min(n, i + at_a_time); i < end; ++i)
        windows(i, space.count + thread * space.levels);
    });
  });
}

/// Draws an image in which every 8-bit level occurs, and a constant region.
void all_levels(A& a, CaseRandom& random) {
  for (std::int64_t i = 0; i < a.x.size(); ++i)
    a.x.as<std::uint8_t>()[i] = std::uint8_t(i % 3 ? 255 - i % 256 : random.below(256));
  for (std::int64_t i = 0; i < a.x.size() / 4; ++i) a.x.as<std::uint8_t>()[i] = 7;
}
/// Draws values at the ends of the range of 16 bits, and near each other.
void wide_levels(A& a, CaseRandom& random) {
  for (std::int64_t i = 0; i < a.x.size(); ++i)
    a.x.as<std::uint16_t>()[i] = std::uint16_t(i % 2 ? 65535 - random.below(3) : random.below(1 << 16));
}

// The contract's bound: each of at most c rounded terms of c pixels has an error of half a unit of 2^-40.
constexpr Tolerance bits = absolute(0x1p-40);
constexpr Case<A> cases[] = {
    {.name = "one pixel u8",
     .sizes = {{"...", 1}, {"h", 1}, {"w", 1}},
     .dtype = DType::u8,
     .tolerance = bits},
    {.name = "2 of 70 x 33 u8, disk 5",
     .sizes = {{"...", 2}, {"h", 70}, {"w", 33}},
     .dtype = DType::u8,
     .tolerance = bits,
     .draw = all_levels},
    {.name = "37 x 41 u16, square 3",
     .sizes = {{"...", 1}, {"h", 37}, {"w", 41}},
     .dtype = DType::u16,
     .tolerance = bits,
     .setup = [](A& a) { a.radius = 3, a.window = WindowShape::square; },
     .draw = wide_levels},
    {.name = "33 x 20 f64, square 1, 10 levels",
     .sizes = {{"...", 1}, {"h", 33}, {"w", 20}},
     .tolerance = bits,
     .setup = [](A& a) { a.radius = 1, a.window = WindowShape::square, a.levels = 10; }},
    {.name = "9 x 65 f32, disk 20, 65536 levels of -1 to 0.75",
     .sizes = {{"...", 1}, {"h", 9}, {"w", 65}},
     .dtype = DType::f32,
     .tolerance = bits,
     .setup = [](A& a) { a.radius = 20, a.levels = 1 << 16, a.low = -1, a.high = 0.75; }},
    {.name = "40 x 24 u8, radius 0",
     .sizes = {{"...", 1}, {"h", 40}, {"w", 24}},
     .dtype = DType::u8,
     .tolerance = bits,
     .setup = [](A& a) { a.radius = 0; }},
    {.name = "4096 x 4096 u8, disk 5",
     .sizes = {{"...", 1}, {"h", 4096}, {"w", 4096}},
     .dtype = DType::u8,
     .benchmark_only = true},
    {.name = "2048 x 2048 u16, disk 10",
     .sizes = {{"...", 1}, {"h", 2048}, {"w", 2048}},
     .dtype = DType::u16,
     .benchmark_only = true,
     .setup = [](A& a) { a.radius = 10; }},
    {.name = "16 of 1024 x 1024 f32, square 7",
     .sizes = {{"...", 16}, {"h", 1024}, {"w", 1024}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .setup = [](A& a) { a.radius = 7, a.window = WindowShape::square; }},
};
constexpr std::string_view faults[] = {"x is NaN"};

constinit const Definition<A> definition{
    {.name = "pixel_entropy",
     .summary = "entropy = -sum_g p_g log2 p_g over the grey levels g in a window around each pixel",
     .source = "Shannon 1948; skimage.filters.rank.entropy",
     .determinism = Determinism::everywhere,
     .faults = faults},
    // In each column of the window one pixel enters and one leaves, with two sums each; then follows the
    // quotient.
    {.check = check,
     .flops = [](const A& a) { return double(a.x.size()) * (4 * (2 * double(a.radius) + 1) + 3); },
     .cases = cases}};

}  // namespace

constinit const Op<A> pixel_entropy{definition};
extern constinit const Impl<A> pixel_entropy_cpu{
    {.launch = launch,
     .lay = [](Arena& arena, const A& a, const Site& site) { EntropySpace(arena, a, site.threads); }}};

}  // namespace kolmo
